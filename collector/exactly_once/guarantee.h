/*
 * guarantee.h - what the server that is there can promise.
 *
 * A block sent again is recognised by its token as long as the table keeps the
 * token: the last N entries of non_replicated_deduplication_window, or of
 * replicated_deduplication_window those of the last
 * replicated_deduplication_window_seconds.  How many blocks these entries are
 * for, and whether a token is of any use at all, is measured: what was not is
 * not called exactly once.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_GUARANTEE_H
#define COLLECTOR_EXACTLY_ONCE_GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/sink.h"
#include "common/error.h"

/*
 * What the server at hand does with tokens, tried on a table like ours that
 * keeps few: is a block that is sent again known, in whole and by the days of
 * its rows, and how many others have to come until it is forgotten?  What a
 * version is said to do, or a setting, is not asked.
 */

/* Tokens that the scratch table keeps, by its settings. */
#define MEASURE_WINDOW 8

struct measured {
	bool done;
	char why[160]; /* not done: why not */
	char flaw[80]; /* "": what was sent again was known again */
	/* How many inserts of others it took until a token was forgotten. */
	unsigned outlived;
};

/* Makes tables called shortloop_guarantee_... and drops them.  A user who may
 * not make them is no error: it is not done then. */
int measure_tokens(struct sink *sink, struct measured *ret, struct error *err);

struct guarantee {
	bool known;
	bool exactly_once;
	bool replicated;  /* some table is: its tokens are in Keeper */
	uint64_t window;  /* blocks, of the table that keeps the fewest */
	uint64_t seconds; /* likewise; GUARANTEE_FOREVER: by number alone */
	/* "exactly once (measured: window 10000 blocks)", "at least once: why"
	 * or "not measured: why (window 10000 blocks by the settings)" */
	char text[240];
};

#define GUARANTEE_FOREVER UINT64_MAX

/* A table as the server tells of it; settings as text. */
struct guarantee_table {
	const char *name;
	const char *engine;
	const char *window;
	const char *seconds; /* of a replicated one */
};

/* To be begun with what promises everything. */
#define GUARANTEE_MOST                                                         \
	((struct guarantee){.known = true,                                     \
			    .exactly_once = true,                              \
			    .window = UINT64_MAX,                              \
			    .seconds = GUARANTEE_FOREVER})
/* Lowers *g to what the table can promise. */
void guarantee_judge_table(const struct guarantee_table *table,
			   struct guarantee *g);
/* Lowers it to what was measured, and writes g->text. */
void guarantee_conclude(const struct measured *measured, struct guarantee *g);

int guarantee_probe(struct sink *sink, const struct measured *measured,
		    struct guarantee *ret, struct error *err);

/* How long (ms) a block may just be sent again: half of the time for which its
 * token is kept while `parts_per_second` inserts fill the window.  Later, what
 * is stored is asked first. */
int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second);

#endif
