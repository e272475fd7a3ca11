/*
 * day_copy.h - a settled UTC day, copied from `clicks`, or from settled hours,
 * into tables of its own.
 *
 * A day is copied once its link_day was settled from all its hours, and once
 * more whenever something of it was published later.  It is copied only while
 * `clicks` has as many rows of links as its link_day counts: not while clicks
 * come in, nor after rows have gone.  Days that were dropped are copied from
 * their base and what came after it.
 *
 * A copy is staged under a new attempt, of which a row of another kind tells
 * first, for what a killed settler left behind, and published by a row of its
 * kind in `settled`, which the server inserts only while it finds as many
 * events staged as were counted, as many rows as then, and nothing of the day
 * published meanwhile.
 */
#ifndef AGGREGATOR_SETTLE_DAY_COPY_H
#define AGGREGATOR_SETTLE_DAY_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/settle/settle_sql.h"
#include "aggregator/settle/settling.h"
#include "common/buf.h"
#include "common/error.h"

/* A day under way.  Parameters of its statements: start, end, attempt,
 * dropped, and what every insert is sent with. */
struct day_copy {
	const struct settling *s;
	const struct day_copy_kind *kind;
	int64_t start;	      /* seconds since 1970 */
	struct picked picked; /* its attempt */
	uint64_t dropped;     /* number of the day's drop; 0: none */
	uint64_t rows;	      /* about so many are copied */
	struct settling_params params;
};

/* What is copied. */
struct day_copy_kind {
	const char *verb;   /* for messages: "seal" */
	const char *kind;   /* of rows in `settled`: published */
	const char *marker; /* the same: rows may be there */
	enum settled_kind marker_kind;
	const char *base; /* the same: the attempt in the base of a dropped day
			   */
	const char *const *tables; /* NULL at the end; partitions are months */
	const char *newest;	   /* its column of SQL_DAY_ATTEMPTS */
	const char *which;    /* a condition on these: the days that can be */
	const char *are_read; /* another: those that are read */
	bool when_late;	      /* `late_window` after its end, not at once */
	/* Write expressions: the events that are settled of the day, and those
	 * that the source has; NULL: of links, in link_slots and in `clicks`.
	 */
	void (*put_settled)(struct buf *sql, const struct day_copy *c);
	void (*put_source)(struct buf *sql, const struct day_copy *c);
	/* The source is rows of `clicks`, of which a drop takes away some. */
	bool of_rows;
	/* Another: the events that are staged under the attempt,
	 * or SETTLE_SQL_UNEVEN where the tables do not agree. */
	void (*put_staged)(struct buf *sql, const struct day_copy *c);
	/* Runs the statements that stage them. */
	int (*stage)(struct day_copy *c, struct error *err);
};

/* SQL: the events of links that are settled of the day. */
#define DAY_COPY_LINK_EVENTS                                                   \
	"(SELECT sum(effective + ineffective) FROM link_slots "                \
	"WHERE " SQL_IN_SLOTS "AND attempt = (SELECT max(attempt) FROM "       \
	"settled WHERE kind = 'link_day' AND unit = "                          \
	"toDateTime({start:UInt32}, 'UTC')))"

/* SQL: n, c, b and p of rows of `clicks`: events, clicks, bots, prefetches. */
#define DAY_COPY_COUNTS                                                        \
	"count() AS n, countIf(" SQL_CLICK ") AS c, "                          \
	"countIf(" SQL_BOT ") AS b, countIf(" SQL_PREFETCH ") AS p"

/* The days that are to be copied, and the first of them (seconds since 1970),
 * or -1. */
int day_copy_pending(const struct settling *s, const struct day_copy_kind *kind,
		     uint64_t *ret_days, int64_t *ret_first, struct error *err);

/*
 * Copies the first such day after `after` (seconds since 1970, its start).
 * *ret_start is that day, -1 when there is none, and left as it was when that
 * cannot be told; *ret_done is false when its rows are not those that were
 * settled.
 */
int day_copy_next(const struct settling *s, const struct day_copy_kind *kind,
		  int64_t after, const struct progress *last,
		  int64_t *ret_start, bool *ret_done, struct error *err);

/* Runs a statement that stages rows, as few large parts; clears the buffer.
 * ERROR_STOPPED, retriable, when it is to end. */
int day_copy_run(const struct day_copy *c, struct buf *sql, struct error *err);

/* Deletes rows whose attempt is less than `before` and neither read nor in a
 * base. */
int day_copy_clean(struct clickhouse *ch, const struct day_copy_kind *kind,
		   uint64_t before, struct error *err);

#endif
