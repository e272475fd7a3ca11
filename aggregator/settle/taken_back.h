/*
 * taken_back.h - rows that an operator took back: `collector import --undo`
 * deletes the rows of an import, and records how many it takes from which hour.
 *
 * If an hour or day lacks no more rows than were taken since it was published,
 * that is the only reason why it has fewer.
 */
#ifndef AGGREGATOR_SETTLE_TAKEN_BACK_H
#define AGGREGATOR_SETTLE_TAKEN_BACK_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct taken_back {
	uint64_t rows; /* taken since then, and being deleted now */
	/* Being deleted now: some of them may still exist, and reports of
	 * others. */
	uint64_t going;
};

/* Counts the rows of the hours in [from, to), seconds, that were taken after
 * `attempt` was picked (settling_attempt_at). */
int taken_back_count(struct clickhouse *ch, int64_t from, int64_t to,
		     uint64_t attempt, struct taken_back *ret,
		     struct error *err);

#endif
