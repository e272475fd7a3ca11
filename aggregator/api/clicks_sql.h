/*
 * clicks_sql.h - the queries behind GET /v1/clicks.
 *
 * Each answers with the rows of one UNION: kind ('total', 'bucket', 'group'),
 * bucket (seconds since 1970), the values of one or two dimensions, and the
 * columns of counts.h.  One query for all three, so that they are counted from
 * the same rows.
 *
 * What a client wrote goes in as a parameter; the text holds names of closed
 * tables and numbers of the program's own.
 */
#ifndef AGGREGATOR_API_CLICKS_SQL_H
#define AGGREGATOR_API_CLICKS_SQL_H

#include "aggregator/api/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/settle/settle_sql.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"

#define CLICKS_SQL_COLUMNS "snss" COUNTS_COLUMNS

/* Whose rows of `clicks` are counted, besides what the question says. */
struct clicks_scope {
	bool link;   /* the link's: parameter link_id */
	bool owners; /* these owners', as of the click: bound_owners, a line
			each */
};

/* " FROM clicks WHERE ...": the rows of the scope that the question's filters
 * take, from the parameter `from` to `to`. */
void clicks_sql_from_rows(struct buf *sql, const struct question *q,
			  const struct clicks_scope *scope);

/*
 * " AND ...": an event that was sent twice is counted once, also before its
 * rows are marked (aggregator/settle/repeats.h).  Whoever reads rows of
 * `clicks` to count them needs it.  `of_link`: the statement is about the link
 * that is the parameter link_id; parameters: from, to.
 *
 * Hardly any row says that it may have been sent before, so the first try fails
 * where it meets one (clicks_sql_met_marked): then all is asked once more with
 * q->marked, which looks for the others of its event.
 */
void clicks_sql_put_once(struct buf *sql, const struct question *q,
			 bool of_link);

/* Whether the last statement failed for that reason. */
bool clicks_sql_met_marked(const struct clickhouse *ch);

/* n_events, n_clicks, n_bots and n_prefetches of rows of `clicks`. */
#define SQL_COUNTS_OF_ROWS                                                     \
	"count() AS n_events, countIf(" SQL_CLICK ") AS n_clicks, "            \
	"countIf(" SQL_BOT ") AS n_bots, "                                     \
	"countIf(" SQL_PREFETCH ") AS n_prefetches"

/* From `clicks`, which is read once; twice by a dimension of which a click has
 * several values.  Parameters: from, to, limit, those of the scope and of the
 * question's filters.  `exact`: visitors are counted one by one rather than
 * estimated. */
void clicks_sql_rows(struct buf *sql, const struct question *q,
		     const struct buckets *buckets,
		     const struct clicks_scope *scope, bool exact);

/* Of one link, without groups and filters, where days of the range are sealed:
 * these from sealed_slots, the others from `clicks`.  Parameters: link_id,
 * from, to, days, attempts (arrays of the sealed days' starts and attempts). */
void clicks_sql_sealed(struct buf *sql, const struct question *q,
		       const struct buckets *buckets,
		       const struct copied_days *sealed, bool exact);

/* Of one link, all that there ever was: the columns of counts.h, visitors being
 * estimated, the first and the last slot, then the first and the last row in
 * `clicks` (ms since 1970; 0: none).  Parameters as of clicks_sql_sealed; `q`
 * ends where UInt32 seconds do. */
void clicks_sql_life(struct buf *sql, const struct question *q,
		     const struct copied_days *sealed);

/* How many visitors and addresses that has to unite at most. */
void clicks_sql_sealed_size(struct buf *sql, const struct question *q,
			    const struct copied_days *sealed);

#define CLICKS_SQL_HOUR INT64_C(3600) /* seconds */

/* What a bucket or a total has in place of groups' values. */
#define CLICKS_SQL_NO_VALUES "'' AS group_value, '' AS second_value, "

/* The counts of an answer from rows with e, c, b and p. */
#define CLICKS_SQL_SUMS                                                        \
	"sum(e) AS n_events, sum(c) AS n_clicks, sum(b) AS n_bots, "           \
	"sum(p) AS n_prefetches"

/* e, c, b and p of rows of settled tables, and of groups of rows of `clicks`.
 */
#define CLICKS_SQL_SETTLED                                                     \
	"events AS e, clicks AS c, bots AS b, prefetches AS p"
#define CLICKS_SQL_COUNTED                                                     \
	"count() AS e, countIf(" SQL_CLICK ") AS c, countIf(" SQL_BOT          \
	") AS b, countIf(" SQL_PREFETCH ") AS p"

/* An expression for the clicks that `mode` counts, over the aliases n_clicks,
 * n_bots and n_prefetches. */
const char *clicks_sql_left(enum bots_mode mode);

/* Which rows of `clicks` count for visitors. */
const char *clicks_sql_condition(enum bots_mode mode);

/* The sets of sealed_slots and owner_slots of clicks that count for visitors,
 * by enum bots_mode. */
struct clicks_sql_sets {
	const char *visitors, *addresses;
};
extern const struct clicks_sql_sets clicks_sql_sets[];

/* Rounds an instant down to the start of its bucket.  The bounds are constants
 * of the query, which the engine searches by bisection. */
void clicks_sql_put_bucket(struct buf *sql, const char *seconds,
			   const struct buckets *buckets);

/* Begins a SELECT that counts by bucket, and in all: "SELECT ..., " up to the
 * values of groups, and what it ends in.  Of one bucket, which the total is,
 * there is the total alone. */
void clicks_sql_put_intervals(struct buf *sql, const char *seconds,
			      const struct buckets *buckets);
void clicks_sql_put_sets(struct buf *sql, const struct buckets *buckets);

/* The stretches of the range that no copied day has, as " AND ..." on rows of
 * `clicks`.  False: there are none. */
bool clicks_sql_put_open(struct buf *sql, const struct question *q,
			 const struct copied_days *days);
/* The same on rows of `stats_hourly`, of which the hour that the range begins
 * in is whole. */
bool clicks_sql_put_open_hours(struct buf *sql, const struct question *q,
			       const struct copied_days *days);

#endif
