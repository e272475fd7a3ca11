#include "codespace/code_run.h"

void code_run_init(struct code_run *run, const struct codespace *codes,
		   uint64_t first, uint64_t end)
{
	run->codes = codes;
	run->next = first;
	run->end = end;
	run->at = run->count = 0;
}

unsigned code_run_refill(struct code_run *run)
{
	uint64_t left = run->end - run->next;

	run->at = 0;
	run->count = left < CODE_RUN_AHEAD ? (unsigned)left : CODE_RUN_AHEAD;
	codespace_encode_many(run->codes, run->next, run->count, run->ahead);
	run->next += run->count;
	return run->count;
}
