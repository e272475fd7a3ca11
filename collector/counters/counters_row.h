/*
 * counters_row.h - turns a redirector's counters (schemas/counters.proto) into
 * a row of redirector_counters.
 */
#ifndef COLLECTOR_COUNTERS_COUNTERS_ROW_H
#define COLLECTOR_COUNTERS_COUNTERS_ROW_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

/* The statement that inserts rows. */
extern const char counters_insert[];

/*
 * Appends the record's row.  ERROR_INPUT: the record is no counters, or none
 * that a redirector sends (without a start, with half an hour, with an endless
 * text); then nothing is appended.
 */
int counters_row_append(struct buf *rows, const void *record, size_t len,
			struct error *err);

#endif
