#include "allocator/create/store_step.h"

bool store_answer_is_lost(const struct error *err)
{
	return err && err->code == ERROR_REMOTE && err->retriable;
}

enum store_step store_next_step(const struct error *err, bool is_up,
				bool is_unsure, bool has_key)
{
	if (!err)
		return STORE_DONE;
	if (store_answer_is_lost(err))
		return is_up ? STORE_AGAIN : STORE_FAILED;
	return is_unsure && has_key ? STORE_FAILED : STORE_ELSEWHERE;
}
