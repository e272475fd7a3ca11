/*
 * counters_row.h - what a redirector counted (schemas/counters.proto), as a row
 * of redirector_counters.
 */
#ifndef COLLECTOR_COUNTERS_COUNTERS_ROW_H
#define COLLECTOR_COUNTERS_COUNTERS_ROW_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

/* The statement that inserts rows. */
extern const char counters_insert[];

/*
 * Appends the record's row.  ERROR_INPUT: these are no counters, or none that a
 * redirector sends (of no start, of half an hour, of a text without end); then
 * nothing is appended.
 */
int counters_row_append(struct buf *rows, const void *record, size_t len,
			struct error *err);

#endif
