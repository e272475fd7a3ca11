/*
 * dropped_rows.h - days that were dropped, and of which rows of their base are
 * in `clicks` long after they were to be deleted.  Rows that came since are
 * none of these: their day is dropped again.
 */
#ifndef AGGREGATOR_DOCTOR_DROPPED_ROWS_H
#define AGGREGATOR_DOCTOR_DROPPED_ROWS_H

#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

struct dropped_rows {
	uint64_t days;
	int64_t first; /* seconds since 1970 */
};

/* Of each such day one row is looked for. */
int dropped_rows_find(const struct settling *s, struct dropped_rows *ret,
		      struct error *err);

#endif
