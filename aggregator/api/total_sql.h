/*
 * total_sql.h - questions over all links, without filters and by one dimension
 * at most: from stats_spans, and from stats_hourly for days that these do not
 * have.  Groups by a dimension that hours do not have are from day_values, and
 * from `clicks` for days that this does not have, of which the total is counted
 * in the same rows.
 */
#ifndef AGGREGATOR_API_TOTAL_SQL_H
#define AGGREGATOR_API_TOTAL_SQL_H

#include <stdbool.h>

#include "aggregator/api/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/zone/buckets.h"
#include "common/buf.h"

/* Where what a question asks is read. */
struct total_sources {
	/* The days that are read from stats_spans, whole ones between from and
	 * to. */
	const struct copied_days *rolled;
	/* Those of which there are values of a dimension that hours do not
	 * have, with all of `rolled`: they are read from day_values, rows of
	 * `clicks` of all others.  NULL: hours are, of any dimension. */
	const struct copied_days *valued;
	/* The hours of no day of `rolled` are parameters; else they are looked
	 * up. */
	bool listed;
};

/*
 * Answers with the columns of CLICKS_SQL_COLUMNS.  Parameters: from, to,
 * attempt (no hour published later is read), limit; days and attempts where
 * `rolled` has days; value_days and value_attempts of `valued`; hours and
 * hour_attempts where they are listed.
 */
void total_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct total_sources *from);

/* link, is_now, n_events, n_clicks, n_bots and n_prefetches of links, some of
 * these more than once.  The parameter `start` parts a range before from now;
 * it lies inside of no day of `days`. */
void total_sql_links(struct buf *sql, const struct question *q,
		     const struct total_sources *from);

/* How many events the same hours and days have of links that they left out, as
 * others were busier. */
void total_sql_links_left_out(struct buf *sql, const struct question *q,
			      const struct total_sources *from);

#endif
