/*
 * settle_sql.h - the statements that compute settled counts from `clicks`.
 *
 * Only names of the closed tables and the program's own numbers are written
 * into them; what varies goes in as parameters.
 */
#ifndef AGGREGATOR_SETTLE_SETTLE_SQL_H
#define AGGREGATOR_SETTLE_SETTLE_SQL_H

#include "common/buf.h"

/*
 * Conditions on a row of clicks.  A click is an event answered by a redirect;
 * robots are all verdicts but people and browsers that fetch ahead.
 */
#define SQL_CLICK    "outcome = 'redirected'"
#define SQL_HUMAN    "outcome = 'redirected' AND verdict = 'human'"
#define SQL_PREFETCH "outcome = 'redirected' AND verdict = 'prefetch'"
#define SQL_BOT                                                                \
	"outcome = 'redirected' AND verdict NOT IN ('human', 'prefetch')"

/* The UTC slot of 15 minutes that a row falls into. */
#define SQL_SLOT "toDateTime(intDiv(toUnixTimestamp(ts), 900) * 900, 'UTC')"

/*
 * Some hours of stats_hourly, all dimensions, under one attempt.  Parameters:
 * hours (their starts, seconds since 1970), start and end of the range they lie
 * in, attempt, values_max.  One statement, so that an attempt is one insert.
 */
void settle_sql_hours(struct buf *sql);

/* One day into a staging table of clicks_hourly or visit_statistics.
 * Parameters: start, end. */
void settle_sql_day_clicks(struct buf *sql, const char *staging);
void settle_sql_day_visits(struct buf *sql, const char *staging);

#endif
