/*
 * intent.h - the text that a collector writes beside a committed offset: the
 * epoch in which it works, and the one insert that it is about to make.
 *
 *	shortloop 1 <epoch> [<first>-<last>]
 *
 * Pure: no I/O.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_INTENT_H
#define COLLECTOR_EXACTLY_ONCE_INTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct intent {
	uint32_t epoch;
	bool has_batch; /* a batch is about to be inserted */
	uint64_t first; /* the batch's offsets */
	uint64_t last;
};

#define INTENT_TEXT_MAX 80
/* Returns `text`. */
const char *intent_format(const struct intent *intent,
			  char text[INTENT_TEXT_MAX]);

enum intent_kind {
	INTENT_OURS,
	INTENT_FOREIGN, /* empty or of another program: no information */
	INTENT_LATER,	/* a later version's: unreadable */
};

/* Accepts any bytes.  *ret is set for INTENT_OURS only. */
enum intent_kind intent_parse(const char *text, size_t len, struct intent *ret);

#endif
