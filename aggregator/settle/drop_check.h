/*
 * drop_check.h - counts a day in every table that answers for it when its rows
 * of `clicks` are gone: before it is dropped, and once more before its rows are
 * deleted, since a server may have lost parts of tables meanwhile.
 *
 * The tables are those of derived_tables.h, by dimension where they have some,
 * each in one pass over the partition of the day or month.  Copies without
 * which a day is dropped are left out: stats_spans is written again from
 * stats_hourly.
 */
#ifndef AGGREGATOR_SETTLE_DROP_CHECK_H
#define AGGREGATOR_SETTLE_DROP_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/derived_tables.h"
#include "aggregator/settle/settling.h"
#include "common/error.h"

/* The attempts of a day's copies, those without which it is not dropped. */
struct drop_attempts {
	uint64_t of[COPIED_KINDS];
};

/* Returns the number of such copies. */
size_t drop_attempts_count(void);

/* Takes their attempts from numbers in the order of the copies. */
void drop_attempts_take(struct drop_attempts *a, const uint64_t *numbers);

/* Adds the attempts to parameters of a statement, of which there are `count`.
 * Returns how many there are then. */
size_t drop_attempts_params(const struct drop_attempts *a, const char **names,
			    uint64_t *numbers, size_t count);

/* Most parameters of a statement that has such attempts. */
#define DROP_PARAMS_MAX (9 + COPIED_KINDS)

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
