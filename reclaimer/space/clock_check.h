/*
 * clock_check.h - may Redis' clock be believed?  By it alone links end and
 * quarantines are over; this host's own decides nothing.
 *
 * It is not believed where this host's clock and ClickHouse's both say that it
 * is ahead, or both that it is behind: ahead, it ends what lives, and behind,
 * it writes down quarantines that are over too early once it is right.  Nor
 * where it jumps while it is watched, by a clock that only goes on.
 */
#ifndef RECLAIMER_SPACE_CLOCK_CHECK_H
#define RECLAIMER_SPACE_CLOCK_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "common/log.h"

struct clock_check {
	/* Where another clock is asked for; NULL: nowhere. */
	const struct clickhouse_config *clickhouse;
	struct log *log; /* of what is wrong and changes nothing */
	/* Of the first look. */
	bool begun;
	int64_t beyond; /* Redis' clock beyond boottime, ms */
};

/*
 * `redis_ms` is Redis' clock now; 0: unknown, which is passed over.
 * ERROR_UNSAFE: it is not to be believed, and the text says by how much.
 * ClickHouse is asked at the first look alone, and only where this host's clock
 * differs by minutes; one that cannot be asked denies nothing.
 */
int clock_check_look(struct clock_check *c, int64_t redis_ms,
		     struct error *err);

#endif
