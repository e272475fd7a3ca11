/*
 * clicks_sql.h - the queries behind GET /v1/clicks.
 *
 * Each query returns the rows of one UNION: kind ('total', 'bucket', 'group'),
 * bucket (seconds since 1970), the values of one or two dimensions, and the
 * columns of counts.h.  One query returns all three kinds, so that they are
 * counted from the same rows.
 *
 * Text from a client goes in as a parameter; the SQL holds only names from
 * closed tables and the program's own numbers.
 */
#ifndef AGGREGATOR_API_STATISTICS_CLICKS_SQL_H
#define AGGREGATOR_API_STATISTICS_CLICKS_SQL_H

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/settle/settle_sql.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"

#define CLICKS_SQL_COLUMNS "snss" COUNTS_COLUMNS

/* The rows of `clicks` that are counted; the question limits them further. */
struct clicks_scope {
	bool link;   /* one link: parameter link_id */
	bool owners; /* by the owner at the click: bound_owners, one per line */
};

/* " FROM clicks WHERE ...": the rows of the scope that pass the question's
 * filters, from the parameter `from` to `to`. */
void clicks_sql_from_rows(struct buf *sql, const struct question *q,
			  const struct clicks_scope *scope);

/*
 * " AND ...": counts an event that was sent twice only once, also before its
 * rows are marked (aggregator/settle/repeats.h).  Every statement that counts
 * rows of `clicks` needs it.  `of_link`: the statement is about the link in the
 * parameter link_id; parameters: from, to.
 *
 * Hardly any row says that it may have been sent before.  So the first attempt
 * fails where it reads such a row (clicks_sql_met_marked); then all queries run
 * once more with q->marked, which looks up the other rows of its event.
 */
void clicks_sql_put_once(struct buf *sql, const struct question *q,
			 bool of_link);

/* Returns whether the last statement failed for that reason. */
bool clicks_sql_met_marked(const struct clickhouse *ch);

/* n_events, n_clicks, n_bots and n_prefetches of rows of `clicks`. */
#define SQL_COUNTS_OF_ROWS                                                     \
	"count() AS n_events, countIf(" SQL_CLICK ") AS n_clicks, "            \
	"countIf(" SQL_BOT ") AS n_bots, "                                     \
	"countIf(" SQL_PREFETCH ") AS n_prefetches"

/* Counts rows of `clicks`, which is read once, or twice for a dimension of
 * which a click has several values.  Parameters: from, to, limit, those of the
 * scope and of the question's filters.  `exact`: visitors are counted one by
 * one rather than estimated. */
void clicks_sql_rows(struct buf *sql, const struct question *q,
		     const struct buckets *buckets,
		     const struct clicks_scope *scope, bool exact);

/* Counts one link, without groups and filters, if days of the range are sealed:
 * these come from sealed_slots, the others from `clicks`.  Parameters: link_id,
 * from, to, days, attempts (arrays of the sealed days' starts and attempts). */
void clicks_sql_sealed(struct buf *sql, const struct question *q,
		       const struct buckets *buckets,
		       const struct copied_days *sealed, bool exact);

/* Counts everything that one link ever had: the columns of counts.h with
 * estimated visitors, the first and the last slot, then the first and the last
 * row in `clicks` (all in ms since 1970; 0: none).  Parameters as for
 * clicks_sql_sealed; `q` ends at the end of UInt32 seconds. */
void clicks_sql_life(struct buf *sql, const struct question *q,
		     const struct copied_days *sealed);

/* Selects an upper bound of the visitors and addresses that clicks_sql_sealed
 * has to unite. */
void clicks_sql_sealed_size(struct buf *sql, const struct question *q,
			    const struct copied_days *sealed);

#define CLICKS_SQL_HOUR INT64_C(3600) /* seconds */

/* The empty values that a bucket or a total has in the columns of groups. */
#define CLICKS_SQL_NO_VALUES "'' AS group_value, '' AS second_value, "

/* The counts of an answer from rows with e, c, b and p. */
#define CLICKS_SQL_SUMS                                                        \
	"sum(e) AS n_events, sum(c) AS n_clicks, sum(b) AS n_bots, "           \
	"sum(p) AS n_prefetches"

/* The columns e, c, b and p from rows of settled tables, and from groups of
 * rows of `clicks`. */
#define CLICKS_SQL_SETTLED                                                     \
	"events AS e, clicks AS c, bots AS b, prefetches AS p"
#define CLICKS_SQL_COUNTED                                                     \
	"count() AS e, countIf(" SQL_CLICK ") AS c, countIf(" SQL_BOT          \
	") AS b, countIf(" SQL_PREFETCH ") AS p"

/* An expression for the clicks that `mode` counts, over the aliases n_clicks,
 * n_bots and n_prefetches. */
const char *clicks_sql_left(enum bots_mode mode);

/* The condition on rows of `clicks` that count for visitors. */
const char *clicks_sql_condition(enum bots_mode mode);

/* The columns of sealed_slots and owner_slots that hold the sets of visitors
 * and addresses, by enum bots_mode. */
struct clicks_sql_sets {
	const char *visitors, *addresses;
};
extern const struct clicks_sql_sets clicks_sql_sets[];

/* Rounds an instant down to the start of its bucket.  The bounds are constants
 * of the query, which ClickHouse searches by bisection. */
void clicks_sql_put_bucket(struct buf *sql, const char *seconds,
			   const struct buckets *buckets);

/* Begin and end a SELECT that counts by bucket and in total: put_intervals
 * writes "SELECT ..., " with the empty values of groups, put_sets writes the
 * end.  One bucket equals the total, so only the total is selected then. */
void clicks_sql_put_intervals(struct buf *sql, const char *seconds,
			      const struct buckets *buckets);
void clicks_sql_put_sets(struct buf *sql, const struct buckets *buckets);

/* Appends the parts of the range that no copied day covers, as " AND ..." on
 * rows of `clicks`.  Returns false if there are none. */
bool clicks_sql_put_open(struct buf *sql, const struct question *q,
			 const struct copied_days *days);
/* The same for rows of `stats_hourly`: the hour in which the range begins is
 * taken as a whole. */
bool clicks_sql_put_open_hours(struct buf *sql, const struct question *q,
			       const struct copied_days *days);

#endif
