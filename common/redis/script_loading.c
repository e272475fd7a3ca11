#include "common/redis/script_loading.h"

#include <string.h>

#include "common/redis/wire.h"

void script_loading_ask(struct buf *out, const struct redis_scripts *scripts)
{
	redis_wire_begin(out, 2 + scripts->count);
	redis_wire_argument(out, "SCRIPT", 6);
	redis_wire_argument(out, "EXISTS", 6);
	for (size_t i = 0; i < scripts->count; i++)
		redis_wire_argument(out, scripts->items[i].sha, 40);
}

int script_loading_check(const redisReply *answer,
			 const struct redis_scripts *scripts, struct error *err)
{
	if (answer->type == REDIS_REPLY_ERROR)
		return redis_error_reply(answer, err);
	if (answer->type == REDIS_REPLY_ARRAY &&
	    answer->elements == scripts->count)
		return 0;
	return error_set(err, ERROR_PROTOCOL,
			 "redis: SCRIPT EXISTS got an answer of another shape");
}

bool script_loading_lacks(const redisReply *answer, size_t i)
{
	return answer->element[i]->integer != 1;
}

void script_loading_load(struct buf *out, const struct redis_script *script)
{
	redis_wire_begin(out, 3);
	redis_wire_argument(out, "SCRIPT", 6);
	redis_wire_argument(out, "LOAD", 4);
	redis_wire_argument(out, script->text, strlen(script->text));
}

int script_loading_check_load(const redisReply *answer,
			      const struct redis_script *script,
			      struct error *err)
{
	if (answer->type == REDIS_REPLY_ERROR)
		return redis_error_reply(answer, err);
	if (answer->type == REDIS_REPLY_STRING &&
	    !strcmp(answer->str, script->sha))
		return 0;
	return error_set(err, ERROR_PROTOCOL,
			 "redis: a script has another SHA-1 there than here");
}
