/*
 * owner_sql.h - the queries about clicks of some owners.  They read the owners'
 * tables, owner_slots and owner_values, for the days that are copied, and
 * `clicks` for the rest of the range.
 *
 * All have the parameters from, to, days, attempts, value_attempts (arrays, of
 * the copied days), those of question_params_owners, and limit.  Account and
 * owner are those of the click; clicks of no link have none.
 */
#ifndef AGGREGATOR_API_STATISTICS_OWNER_SQL_H
#define AGGREGATOR_API_STATISTICS_OWNER_SQL_H

#include "aggregator/api/statistics/question.h"
#include "aggregator/settle/copied_days.h"
#include "aggregator/zone/buckets.h"
#include "common/buf.h"

/* Selects rows as in clicks_sql.h, without filters and by settled dimensions,
 * each by itself, whose groups have no visitors.  With a dimension, `days` lie
 * entirely in the range. */
void owner_sql_clicks(struct buf *sql, const struct question *q,
		      const struct buckets *buckets,
		      const struct copied_days *days);

/* Selects link, is_now (from the parameter `start` on), n_events, n_clicks,
 * n_bots and n_prefetches.  `days` lie entirely in the range, and on one side
 * of `start`. */
void owner_sql_links(struct buf *sql, const struct question *q,
		     const struct copied_days *days);

/* Counts the events of links that the copied days left out because other links
 * of the owner were busier. */
void owner_sql_links_left_out(struct buf *sql);

#endif
