/*
 * total_sql.h - the queries over all links, without filters and by at most one
 * dimension.  They read stats_spans, and stats_hourly for days that stats_spans
 * lacks.  Groups by a dimension that hours do not have come from day_values,
 * and from `clicks` for days that day_values lacks; the total of those days is
 * counted in the same rows.
 */
#ifndef AGGREGATOR_API_STATISTICS_TOTAL_SQL_H
#define AGGREGATOR_API_STATISTICS_TOTAL_SQL_H

#include <stdbool.h>

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/zone/buckets.h"
#include "common/buf.h"

/* The sources that a question is answered from. */
struct total_sources {
	/* The days that are read from stats_spans, entirely between from and
	 * to. */
	const struct copied_days *rolled;
	/* The days that have values of a dimension that hours do not have,
	 * including all of `rolled`.  They are read from day_values, all others
	 * from rows of `clicks`.  NULL: hours are read, for any dimension. */
	const struct copied_days *valued;
	/* True: the hours of all days outside `rolled` are parameters.  False:
	 * they are looked up. */
	bool listed;
};

/*
 * Selects the columns of CLICKS_SQL_COLUMNS.  Parameters: from, to, attempt (no
 * hour published later is read), limit; days and attempts if `rolled` has days;
 * value_days and value_attempts for `valued`; hours and hour_attempts if they
 * are listed.
 */
void total_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct total_sources *from);

/* Selects link, is_now, n_events, n_clicks, n_bots and n_prefetches of links,
 * some of these more than once.  The parameter `start` divides the range into
 * before and now; it lies inside no day of `rolled`. */
void total_sql_links(struct buf *sql, const struct question *q,
		     const struct total_sources *from);

/* Counts the events of links that the same hours and days left out because
 * others were busier. */
void total_sql_links_left_out(struct buf *sql, const struct question *q,
			      const struct total_sources *from);

#endif
