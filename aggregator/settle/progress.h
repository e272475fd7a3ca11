/*
 * progress.h - what the collectors have inserted, against what is settled.
 *
 * Everything is learnt from `ingest_progress` and `settled`.  An hour is stale
 * when the blocks that touched it, or their clicks, are not those it was
 * settled from: comparing sums needs no order among collectors and no exact
 * position, so that a restart, a block reported twice or a clock that is behind
 * loses nothing.  Rows of a block reported twice are counted once.
 *
 * Others than collectors write there too: an import (topic `import:<file>`) and
 * `collector rescore` (topic `rescore`, with hours that it added no rows to).
 * They make hours stale as any block does; the watermark does not wait for
 * them.  Nor does it for a topic that is reported to have no partitions
 * (`links`).
 *
 * Of a day that was dropped only blocks count that reach beyond what its base
 * has, and only what was settled since; of months that were dropped none.
 */
#ifndef AGGREGATOR_SETTLE_PROGRESS_H
#define AGGREGATOR_SETTLE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Seconds after its end at which an hour that is provisional is stale. */
#define PROGRESS_CLOSES 60

/* An hour or day that has to be settled, and what it is settled from. */
struct stale {
	int64_t start;	   /* seconds since 1970, UTC */
	uint64_t blocks;   /* of ingest_progress that touched it */
	uint64_t rows;	   /* that these reported */
	uint64_t was_rows; /* the same when it was last published */
	bool was;	   /* published */
	bool provisional;  /* the hour was, and is settled as a whole once over
			    */
	uint64_t was_attempt; /* 0: not published */
	uint64_t dropped;     /* number of the last drop of its day; 0: none */
};

struct stale_list {
	struct stale *items; /* ascending */
	size_t count;
};
void stale_list_release(struct stale_list *list);

/* How far the last complete pass had come.  Zeros before the first. */
struct progress {
	int64_t read_until;	/* ms: greatest inserted_at seen */
	int64_t complete_until; /* ms; 0: not known */
	uint64_t attempt;	/* greatest number used */
	uint64_t mended;	/* number of the last mend; 0: none */
	int64_t asked_at;	/* our monotonic ms, before it was read */
};
int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err);

/* The same, and a number that is another one when anything was published, or
 * given up, since. */
int progress_read_marks(struct clickhouse *ch, struct progress *ret,
			uint64_t *ret_marks, struct error *err);

/* SQL: the columns of one row over `settled`, whole, and what is in them.
 * read_until is the one of the newest attempt, since ClickHouse's clock may
 * have gone back; complete_until is the greatest since the last mend. */
#define PROGRESS_SQL_COLUMNS                                                   \
	"toUnixTimestamp64Milli(argMax(read_until, attempt)), "                \
	"toUnixTimestamp64Milli(tupleElement("                                 \
	"max((mended, complete_until)), 2)), max(attempt), max(mended)"
struct progress progress_of_fields(char *const fields[4]);

/* The greatest inserted_at there is that is not beyond ClickHouse's clock, or
 * 0. */
int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err);

/*
 * Hours touched by blocks inserted at `since_ms` or later that are stale; not
 * those that were held back and have not changed since, unless `held`.  Of such
 * an hour all blocks are compared that were inserted at `low_ms` or later, or
 * after the hour had begun.
 */
int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 int64_t low_ms, bool held, struct stale_list *ret,
			 struct error *err);

/*
 * Days that ended before `closed_before_ms`, whose hours have been settled from
 * other blocks than the day was, or after it, and that were not settled after
 * `not_since_ms`.  `held`: as above.
 */
int progress_stale_days(struct clickhouse *ch, int64_t closed_before_ms,
			int64_t not_since_ms, bool held, struct stale_list *ret,
			struct error *err);

/* How many hours in [from, to), seconds, are not settled from what was reported
 * of them. */
int progress_count_stale(struct clickhouse *ch, int64_t from, int64_t to,
			 uint64_t *ret, struct error *err);

/* All hours in [from, to), seconds, that were reported, are published or have
 * rows; and the days with published hours. */
int progress_hours_of(struct clickhouse *ch, int64_t from, int64_t to,
		      struct stale_list *ret, struct error *err);
int progress_days_of(struct clickhouse *ch, int64_t from, int64_t to,
		     struct stale_list *ret, struct error *err);

/* How many hours and days are held back now. */
struct held_back {
	uint64_t hours, days;
	int64_t first; /* start of the oldest, seconds; 0: none */
};
int progress_held_back(struct clickhouse *ch, struct held_back *ret,
		       struct error *err);

#endif
