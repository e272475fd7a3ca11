/*
 * published_hours.h - which attempts of hours are read: the newest published
 * ones, as `settled` lists them.
 *
 * A statement that names them takes ClickHouse a third less time than one that
 * looks them up in each of its parts, because every look-up is planned.
 */
#ifndef AGGREGATOR_API_PUBLISHED_HOURS_H
#define AGGREGATOR_API_PUBLISHED_HOURS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/progress.h"
#include "aggregator/settle/copied_days.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct published_hour {
	int64_t start; /* seconds since 1970, UTC */
	uint64_t attempt;
};

struct published_hours {
	struct published_hour *items; /* ascending */
	size_t count;
};

/* Reads the hours from that of `from` on that begin before `to` (seconds since
 * 1970), and the progress at the same moment.  Release after success. */
int published_hours_read(struct clickhouse *ch, int64_t from, int64_t to,
			 struct progress *ret_last, struct published_hours *ret,
			 struct error *err);
void published_hours_release(struct published_hours *hours);

/* Removes the hours of these days. */
void published_hours_leave_out(struct published_hours *hours,
			       const struct copied_days *days);

/* Writes their starts and their attempts as arrays, for parameters. */
int published_hours_put(const struct published_hours *hours, struct buf *starts,
			struct buf *attempts, struct error *err);

#endif
