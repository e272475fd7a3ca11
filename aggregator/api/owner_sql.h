/*
 * owner_sql.h - the queries about clicks of some owners that read their tables,
 * owner_slots and owner_values, for the days that are copied, and `clicks` for
 * the rest of the range.
 *
 * Parameters of all: from, to, days, attempts (arrays, of the copied days),
 * bound_owners (the owners, a line each) and limit.  Owners are those of the
 * click; clicks of no link are nobody's.
 */
#ifndef AGGREGATOR_API_OWNER_SQL_H
#define AGGREGATOR_API_OWNER_SQL_H

#include "aggregator/api/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/zone/buckets.h"
#include "common/buf.h"

/* Rows as clicks_sql.h says, without filters and by one settled dimension at
 * most, whose groups have no visitors.  With a dimension, `days` lie in the
 * range as a whole. */
void owner_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct copied_days *days);

/* link, is_now (from the parameter `start` on), n_events, n_clicks, n_bots and
 * n_prefetches.  `days` lie in the range as a whole, and on one side of
 * `start`. */
void owner_sql_links(struct buf *sql, const struct question *q,
		     const struct copied_days *days);

/* How many events the copied days have of links that they left out, as others
 * of the owner were busier. */
void owner_sql_links_left_out(struct buf *sql);

#endif
