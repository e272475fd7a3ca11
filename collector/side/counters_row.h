/*
 * counters_row.h - turns a redirector's counters (schemas/counters.proto) into
 * a row of redirector_counters.  A record is a running total, and its row
 * replaces the one before.
 */
#ifndef COLLECTOR_SIDE_COUNTERS_ROW_H
#define COLLECTOR_SIDE_COUNTERS_ROW_H

#include "collector/side/side_kind.h"

/* A record is invalid if it is no counters, or none that a redirector sends
 * (without a start, with half an hour, with an endless text). */
extern const struct side_kind counters_kind;

#endif
