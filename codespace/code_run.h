/*
 * code_run.h - the codes of a run of ids in order, made in batches: a caller
 * that takes them one by one pays a third of codespace_encode.
 *
 * Belongs to one thread.  Nothing to free; holds no keys.
 */
#ifndef CODESPACE_CODE_RUN_H
#define CODESPACE_CODE_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "codespace/codespace.h"

#define CODE_RUN_AHEAD 32 /* codes made at a time; 12 bytes each */

struct code_run {
	const struct codespace *codes;
	uint64_t next; /* the next id when `ahead` is used up */
	uint64_t end;
	unsigned at, count; /* in `ahead` */
	char ahead[CODE_RUN_AHEAD][CODE_TEXT_MAX];
};

/* Starts a run of the ids from `first` to before `end`, at most the space's
 * capacity. */
void code_run_init(struct code_run *run, const struct codespace *codes,
		   uint64_t first, uint64_t end);

/* Makes the next codes; returns their number, 0 at the end. */
unsigned code_run_refill(struct code_run *run);

/* Returns the next code, valid until the next call, or NULL at the end. */
static inline const char *code_run_next(struct code_run *run)
{
	if (run->at == run->count && code_run_refill(run) == 0)
		return NULL;
	return run->ahead[run->at++];
}

#endif
