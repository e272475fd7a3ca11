/*
 * clock_check.h - checks whether Redis' clock can be trusted.  Only this clock
 * decides when links end and quarantines are over; this host's clock decides
 * nothing.
 *
 * Redis' clock is not trusted if this host's clock and ClickHouse's both show
 * that it is ahead, or both that it is behind: a clock that is ahead ends live
 * links; one that is behind records quarantines that are over too early once it
 * is right.  It is not trusted either if it jumps between two checks, compared
 * with a monotonic clock.
 */
#ifndef RECLAIMER_SPACE_CLOCK_CHECK_H
#define RECLAIMER_SPACE_CLOCK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/log.h"

struct clock_check {
	/* Server of a second clock; NULL: none. */
	const struct clickhouse_config *clickhouse;
	struct log *log; /* for problems that change nothing */
	/* Set by the first check. */
	bool begun;
	int64_t beyond; /* Redis' clock minus boottime, ms */
};

/*
 * `redis_ms` is Redis' clock now; 0: unknown, which is ignored.  ERROR_UNSAFE:
 * it cannot be trusted, and the text has the difference.  ClickHouse is queried
 * only at the first check, and only if this host's clock differs by minutes; a
 * ClickHouse that does not answer does not refute Redis' clock.
 */
int clock_check_look(struct clock_check *c, int64_t redis_ms,
		     struct error *err);

#endif
