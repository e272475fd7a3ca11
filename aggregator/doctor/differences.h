/*
 * differences.h - days of which two tables that should hold the same do not.
 *
 * Clicks that come in make any two differ for a moment, so each day is given
 * with both numbers, for the caller to ask twice.
 */
#ifndef AGGREGATOR_DOCTOR_DIFFERENCES_H
#define AGGREGATOR_DOCTOR_DIFFERENCES_H

#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct difference {
	int64_t day; /* its start, seconds since 1970, UTC */
	uint64_t one, other;
};

struct difference_list {
	struct difference *items; /* by day */
	size_t count;
};
void difference_list_release(struct difference_list *list);

/* Rows of `clicks`, and events of the published hours.  Release the list also
 * after a failure. */
int differences_of_hours(struct clickhouse *ch, struct difference_list *ret,
			 struct error *err);

/* Visits of links in the published days, and events of the same days in
 * sealed_slots, where these are sealed. */
int differences_of_sealed(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err);

/* The same of owner_slots, where these have the day. */
int differences_of_owners(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err);

/* Events of the published hours, and of their days in day_values. */
int differences_of_values(struct clickhouse *ch, struct difference_list *ret,
			  struct error *err);

/* The same in stats_spans. */
int differences_of_rollups(struct clickhouse *ch, struct difference_list *ret,
			   struct error *err);

/* Keeps those of `list` that `later` has with the same numbers. */
void difference_list_keep(struct difference_list *list,
			  const struct difference_list *later);

#endif
