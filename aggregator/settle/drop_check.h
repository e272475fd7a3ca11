/*
 * drop_check.h - counts a day in every table that answers for it when its rows
 * of `clicks` are gone: before it is dropped, and once more before its rows are
 * deleted, since a server may have lost parts of tables meanwhile.
 *
 * The tables are stats_hourly, link_slots, link_days, sealed_slots,
 * owner_slots, owner_values and day_values, by dimension where they have some,
 * each in one pass over the partition of the day or month. stats_spans is left
 * out: it is written again from stats_hourly.
 */
#ifndef AGGREGATOR_SETTLE_DROP_CHECK_H
#define AGGREGATOR_SETTLE_DROP_CHECK_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

/* The attempts of a day's copies. */
struct drop_attempts {
	uint64_t sealed, owner, value;
};

/* A table that lacks events, or has too many. */
struct drop_lack {
	const char *table; /* NULL: all tables are complete */
	const char *dimension;
	uint64_t have, want; /* events */
};

/*
 * Checks a day (its start, seconds since 1970) that is to be dropped, against
 * its rows and the base of the previous drop, whose number is `dropped`; 0:
 * none.
 */
int drop_check_settled(const struct settling *s, int64_t start,
		       uint64_t dropped, const struct drop_attempts *attempts,
		       struct drop_lack *ret, struct error *err);

/*
 * Checks the base of a day that was dropped by `dropped` against those of its
 * rows that still exist.  *ret_rows is their number; if it is 0, nothing is
 * counted.
 */
int drop_check_base(const struct settling *s, int64_t start, uint64_t dropped,
		    struct drop_lack *ret, uint64_t *ret_rows,
		    struct error *err);

#endif
