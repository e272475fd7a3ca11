/*
 * guarantee.h - what the present server guarantees.
 *
 * The server recognises a repeated block by its token as long as the table
 * keeps the token: the last N entries of non_replicated_deduplication_window,
 * or of replicated_deduplication_window those of the last
 * replicated_deduplication_window_seconds.  The number of blocks that these
 * entries cover, and whether tokens work at all, are measured; a server that
 * was not measured is not called exactly once.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_GUARANTEE_H
#define COLLECTOR_EXACTLY_ONCE_GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/sink.h"
#include "common/error.h"

/*
 * The server's handling of tokens, measured with a table like ours that keeps
 * few of them: whether it recognises a repeated block, in whole and by the days
 * of its rows, and after how many other blocks it forgets the token.  Neither
 * the version nor a setting is relied on.
 */

/* Number of tokens that the scratch table keeps, by its settings. */
#define MEASURE_WINDOW 8

struct measured {
	bool done;
	char why[160]; /* the reason, unless `done` */
	char flaw[80]; /* "": repeated blocks were recognised */
	/* The number of other inserts until a token was forgotten. */
	unsigned outlived;
};

/* Makes tables called shortloop_guarantee_... and drops them.  A missing
 * privilege to make them is no error: `done` is false then. */
int measure_tokens(struct sink *sink, struct measured *ret, struct error *err);

struct guarantee {
	bool known;
	bool exactly_once;
	bool replicated;  /* a table is: its tokens are in Keeper */
	uint64_t window;  /* blocks, for the table that keeps the fewest */
	uint64_t seconds; /* for the table that keeps the fewest;
			     GUARANTEE_FOREVER: no time limit */
	/* "exactly once (measured: window 10000 blocks)", "at least once: why"
	 * or "not measured: why (window 10000 blocks by the settings)" */
	char text[240];
};

#define GUARANTEE_FOREVER UINT64_MAX

/* A table as the server describes it; settings as text. */
struct guarantee_table {
	const char *name;
	const char *engine;
	const char *window;
	const char *seconds; /* for a replicated table */
};

/* The highest guarantee, from which the evaluation starts. */
#define GUARANTEE_MOST                                                         \
	((struct guarantee){.known = true,                                     \
			    .exactly_once = true,                              \
			    .window = UINT64_MAX,                              \
			    .seconds = GUARANTEE_FOREVER})
/* Lowers *g to what the table guarantees. */
void guarantee_judge_table(const struct guarantee_table *table,
			   struct guarantee *g);
/* Lowers *g to what was measured, and writes g->text. */
void guarantee_conclude(const struct measured *measured, struct guarantee *g);

int guarantee_probe(struct sink *sink, const struct measured *measured,
		    struct guarantee *ret, struct error *err);

/* Returns for how long (ms) a block may be sent again without a check: half of
 * the time for which its token is kept while `parts_per_second` inserts fill
 * the window.  Later, what is stored is checked first. */
int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second);

#endif
