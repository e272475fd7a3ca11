/*
 * guarantee.h - what the server that is there can promise.
 *
 * A block sent again is recognised by its token as long as the table keeps the
 * token: the last N blocks of non_replicated_deduplication_window, or of
 * replicated_deduplication_window those of the last
 * replicated_deduplication_window_seconds.  The server must be new enough and
 * must not have deduplication forbidden to this user.
 */
#ifndef COLLECTOR_ONCE_GUARANTEE_H
#define COLLECTOR_ONCE_GUARANTEE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct guarantee {
	bool known;
	bool exactly_once;
	uint64_t window;  /* blocks, of the table that keeps the fewest */
	uint64_t seconds; /* likewise; GUARANTEE_FOREVER: by number alone */
	/* "exactly once (window 10000 blocks)" or "at least once: why" */
	char text[200];
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
/* Writes g->text of one that promises exactly once. */
void guarantee_say(struct guarantee *g);

int guarantee_probe(struct clickhouse *ch, struct guarantee *ret,
		    struct error *err);

/* How long (ms) a block may just be sent again: half of the time for which its
 * token is kept while `parts_per_second` inserts fill the window.  Later, what
 * is stored is asked first. */
int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second);

#endif
