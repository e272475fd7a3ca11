/*
 * clicks_sql.h - the queries behind GET /v1/clicks.
 *
 * Each query returns the rows of one UNION: kind ('total', 'bucket', 'group',
 * 'left_out'), bucket (seconds since 1970; for a group, and for what was left
 * out of groups: the index in question_singles), the values of one or two
 * dimensions, and the columns of counts.h.  One query returns all kinds, so
 * that they are counted from the same rows.
 *
 * Text from a client goes in as a parameter; the SQL holds only names from
 * closed tables and the program's own numbers.
 */
#ifndef AGGREGATOR_API_STATISTICS_CLICKS_SQL_H
#define AGGREGATOR_API_STATISTICS_CLICKS_SQL_H

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"

#define CLICKS_SQL_COLUMNS "snss" COUNTS_COLUMNS

/* The rows of `clicks` that are counted; the question limits them further. */
struct clicks_scope {
	/* One link, as far as the caller sees it: parameters link_id, and those
	 * of question_params_caller. */
	bool link;
	/* The rows of the caller's account and owners, at the click: see
	 * question_params_bound. */
	bool bounded;
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

/* Counts rows of `clicks`, which is read once, or twice for a dimension of
 * which a click has several values.  Parameters: from, to, limit, those of the
 * scope and of the question's filters.  `exact`: visitors are counted one by
 * one rather than estimated. */
void clicks_sql_rows(struct buf *sql, const struct question *q,
		     const struct buckets *buckets,
		     const struct clicks_scope *scope, bool exact);

/*
 * Counts one link without filters, if days of the range are sealed: these come
 * from sealed_slots, the others from `clicks`.  `valued`: groups by single
 * dimensions are those of these copied days of link_values, and of rows of the
 * others; NULL: there are none.  Parameters: link_id, from, to, days, attempts
 * (arrays of the sealed days' starts and attempts), and value_days,
 * value_attempts of `valued`.
 */
void clicks_sql_sealed(struct buf *sql, const struct question *q,
		       const struct buckets *buckets,
		       const struct copied_days *sealed,
		       const struct copied_days *valued, bool exact);

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

/* Selects the number of the link's rows that no copied day covers. */
void clicks_sql_open_size(struct buf *sql, const struct question *q,
			  const struct copied_days *days);

#define CLICKS_SQL_HOUR INT64_C(3600) /* seconds */

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

/*
 * How a SELECT counts by bucket and in total: these fill its blanks
 * @answer_part@, @bucket@ and @sets@.  One bucket equals the total, so only the
 * total is selected then.  Release it.
 */
struct clicks_sql_interval {
	const char *answer_part, *sets;
	struct buf bucket;
};
void clicks_sql_interval_fill(struct clicks_sql_interval *ret,
			      const char *seconds,
			      const struct buckets *buckets);
void clicks_sql_interval_release(struct clicks_sql_interval *interval);

/* n_visitors and n_ips that are not known. */
extern const char clicks_sql_no_visitors[];

#define CLICKS_SQL_ALL_KINDS (~0U)

/*
 * The single dimensions of some kinds (1U << enum dimension_kind): their names
 * as a list of texts, and an expression for the index in question_singles of a
 * row's `dimension`.  Release it.
 */
struct clicks_sql_singles {
	size_t count;
	struct buf names, index;
};
void clicks_sql_singles_fill(struct clicks_sql_singles *ret,
			     const struct question *q, unsigned kinds);
void clicks_sql_singles_release(struct clicks_sql_singles *singles);

/*
 * Appends " UNION ALL" and a SELECT of the groups by single dimensions, and of
 * what was left out of each.  `values` selects d (the dimension's index), v, r
 * (whether it was left out), e, c, b and p, and what `visitors` merges.
 */
void clicks_sql_put_values(struct buf *sql, const struct question *q,
			   struct buf *values, const char *visitors);

/*
 * The same for all single dimensions from copied days, and from rows for the
 * rest of the range; visitors are not known.  `of_link`: see
 * clicks_sql_put_once.  The blanks of `text` are @dimensions@ and @index@
 * (struct clicks_sql_singles) and @open_values@: `open_values`, a text for
 * clicks_sql_put_open_part.
 */
void clicks_sql_put_copied_values(struct buf *sql, const struct question *q,
				  const char *text, const char *open_values,
				  const struct copied_days *days, bool of_link);

/* Appends the parts of the range that no copied day covers, as " AND ..." on
 * rows of `clicks`.  Returns false if there are none. */
bool clicks_sql_put_open(struct buf *sql, const struct question *q,
			 const struct copied_days *days);
/* The same for rows of `stats_hourly`: the hour in which the range begins is
 * taken as a whole. */
bool clicks_sql_put_open_hours(struct buf *sql, const struct question *q,
			       const struct copied_days *days);

/* Appends an array of the index and the value of each single dimension of a
 * row; a dimension with several values has each. */
void clicks_sql_put_row_values(struct buf *sql, const struct question *q);

/*
 * Appends a part about the rows of `clicks` that no copied day covers, or
 * nothing if there are none.  Its blanks are @open@ and @once@ (these rows, and
 * each event once), @condition@ (rows that count for visitors) and @row_values@
 * (an array of the index and the value of each single dimension).  `of_link`:
 * see clicks_sql_put_once.
 */
void clicks_sql_put_open_part(struct buf *sql, const char *text,
			      const struct question *q,
			      const struct copied_days *days, bool of_link);

#endif
