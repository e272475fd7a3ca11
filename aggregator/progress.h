/*
 * progress.h - compares what the collectors have inserted with what is settled.
 *
 * All of it is read from `ingest_progress` and `settled`.  An hour is stale
 * when the blocks that touched it, or their clicks, are not those it was
 * settled from.  Sums are compared, which needs no order among collectors and
 * no exact position: a restart, a block reported twice or a clock that is
 * behind loses nothing.  Rows of a block reported twice are counted once.
 *
 * Others than collectors write there too: an import (topic `import:<file>`) and
 * `collector rescore` (topic `rescore`, with hours that it added no rows to).
 * They make hours stale as any block does; the watermark does not wait for
 * them, nor for a topic that is reported to have no partitions (`links`).
 *
 * For a dropped day, only blocks that reach beyond its base count, and only
 * what was settled since the drop; for dropped months, none.
 */
#ifndef AGGREGATOR_PROGRESS_H
#define AGGREGATOR_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* A provisional hour becomes stale this many seconds after its end. */
#define PROGRESS_CLOSES 60

/* An hour or day that has to be settled, and the reports it is settled from. */
struct stale {
	int64_t start;	   /* seconds since 1970, UTC */
	uint64_t blocks;   /* reports in ingest_progress that touched it */
	uint64_t rows;	   /* rows in these reports */
	uint64_t was_rows; /* `rows` when it was last published */
	bool was;	   /* it was published */
	/* The published hour is provisional: it is settled as a whole once it
	 * is over. */
	bool provisional;
	uint64_t was_attempt; /* 0: not published */
	uint64_t dropped;     /* the number of its day's last drop; 0: none */
	/* For hours: when a block of it was last reported (ms since 1970; 0:
	 * none was). */
	int64_t reported_at;
	/* For days: when one of its hours was last settled, and the day itself
	 * (ms since 1970; 0: never). */
	int64_t changed_at, settled_at;
};

struct stale_list {
	struct stale *items; /* ascending */
	size_t count;
};
void stale_list_release(struct stale_list *list);

/* State of the last complete pass.  Zeros before the first pass. */
struct progress {
	int64_t read_until;	/* ms: greatest inserted_at seen */
	int64_t complete_until; /* ms; 0: not known */
	uint64_t attempt;	/* the greatest attempt number used */
	uint64_t mended;	/* number of the last mend; 0: none */
	int64_t asked_at;	/* our monotonic ms, just before the query */
};
int progress_read_last(struct clickhouse *ch, struct progress *ret,
		       struct error *err);

/* The same, and a number that changes whenever anything is published or
 * abandoned. */
int progress_read_marks(struct clickhouse *ch, struct progress *ret,
			uint64_t *ret_marks, struct error *err);

/* The fields of aggregator/sql/parts/progress_columns.sql, one row over all of
 * `settled`.  read_until is that of the newest attempt, since ClickHouse's
 * clock may have gone back; complete_until is the greatest since the last mend.
 */
struct progress progress_of_fields(char *const fields[4]);

/* Returns the greatest inserted_at that is not beyond ClickHouse's clock,
 * or 0. */
int progress_read_until(struct clickhouse *ch, int64_t *ret_ms,
			struct error *err);

/*
 * Lists stale hours that were touched by blocks inserted at `since_ms` or
 * later.  Hours that are held back and have not changed since are included only
 * with `held`.  For each hour all blocks are compared that were inserted at
 * `low_ms` or later, or after the hour had begun.
 */
int progress_stale_hours(struct clickhouse *ch, int64_t since_ms,
			 int64_t low_ms, bool held, struct stale_list *ret,
			 struct error *err);

/* A time (ms since 1970) after all others that ClickHouse can compare. */
#define PROGRESS_LAST INT64_C(9999999999999)

/* Which days are due; ms since 1970 by ClickHouse's clock. */
struct days_due {
	int64_t closed_before; /* days that ended before it */
	int64_t not_since;     /* that were not settled after it, */
	/* or about which an import or a rescoring reported after it: such a
	 * correction does not wait for the schedule of late clicks. */
	int64_t corrected_since;
};

/* Lists days that are due and whose hours were settled from other blocks than
 * the day, or after it.  `held`: as above. */
int progress_stale_days(struct clickhouse *ch, const struct days_due *due,
			bool held, struct stale_list *ret, struct error *err);

/*
 * Lists the hours in [from, to), seconds, that wait: they are settled from
 * other reports than there are, and not held back.  Until they are settled, a
 * difference between their rows and their counts is no loss.  Hours that were
 * not reported at `since_ms` or later are left out.  For each hour all blocks
 * are compared that were inserted after it had begun; if `since_ms` is 0, all.
 */
int progress_waiting_hours(struct clickhouse *ch, int64_t since_ms,
			   int64_t from, int64_t to, struct stale_list *ret,
			   struct error *err);

/* Counts the hours in [from, to), seconds, that are not settled from what was
 * reported of them. */
int progress_count_stale(struct clickhouse *ch, int64_t from, int64_t to,
			 uint64_t *ret, struct error *err);

/* List all hours in [from, to), seconds, that were reported, are published or
 * have rows; and the days that have published hours. */
int progress_hours_of(struct clickhouse *ch, int64_t from, int64_t to,
		      struct stale_list *ret, struct error *err);
int progress_days_of(struct clickhouse *ch, int64_t from, int64_t to,
		     struct stale_list *ret, struct error *err);

/* Number of hours and days that are held back at present. */
struct held_back {
	uint64_t hours, days;
	int64_t first; /* start of the oldest, seconds; 0: none */
};
int progress_held_back(struct clickhouse *ch, struct held_back *ret,
		       struct error *err);

#endif
