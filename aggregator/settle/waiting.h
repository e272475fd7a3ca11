/*
 * waiting.h - how much waits to be settled, and how fast it is settled lately.
 *
 * It follows from the tables alone, so every aggregator finds the same,
 * whichever of them settles.
 */
#ifndef AGGREGATOR_SETTLE_WAITING_H
#define AGGREGATOR_SETTLE_WAITING_H

#include <stdint.h>

#include "aggregator/aggregator_config.h"
#include "aggregator/progress.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum waiting_unit {
	WAITING_HOURS, /* that have other reports than they were settled from */
	WAITING_DAYS,  /* closed days whose hours were settled after them */
	WAITING_UNITS
};
extern const char *const waiting_names[WAITING_UNITS];

struct waiting {
	uint64_t count;
	int64_t oldest; /* start, seconds since 1970; 0: none waits */
	/* The number that were over for an hour and were settled in the last
	 * ten minutes, by the hour; 0: not known. */
	double per_hour;
	/* When none will wait, at that rate (ms since 1970); 0: none waits, or
	 * it is not known. */
	int64_t done_at;
};

/*
 * Lists all hours that wait (progress_waiting_hours).
 * `last` was read before, `now` is ClickHouse's clock (ms since 1970).  The
 * present hour is listed, too: it may be over when the list is used.
 */
int waiting_list_hours(struct clickhouse *ch,
		       const struct aggregator_settings *settings,
		       const struct progress *last, int64_t now,
		       struct stale_list *ret, struct error *err);

/*
 * Reads both; what is held back does not wait.  `last` and `now` are as above.
 */
int waiting_read(struct clickhouse *ch,
		 const struct aggregator_settings *settings,
		 const struct progress *last, int64_t now,
		 struct waiting ret[WAITING_UNITS], struct error *err);

#endif
