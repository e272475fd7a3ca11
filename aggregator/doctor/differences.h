/*
 * differences.h - days of which two tables that should hold the same do not, in
 * each dimension that a table has.
 *
 * Clicks that come in make any two differ for a moment, so each day is given
 * with both numbers, for the caller to ask twice.  Copies are compared while
 * nothing of their day was published later, and months whose counts were
 * dropped not at all: what differs there is made anew, or deleted, by itself.
 *
 * Of tables that have a row for each value of each owner, hour or link, only so
 * many rows are read: those of the days or months that were written last, and
 * those that have none at all.  What is older lies in one part, of which a
 * piece alone cannot go.
 */
#ifndef AGGREGATOR_DOCTOR_DIFFERENCES_H
#define AGGREGATOR_DOCTOR_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum compared {
	COMPARED_ROWS,	       /* rows of clicks: events of published hours */
	COMPARED_HOUR_VALUES,  /* events of hours: of each settled dimension */
	COMPARED_LINK_SLOTS,   /* visits in link_days: in link_slots */
	COMPARED_SEALED,       /* visits in link_days: in sealed_slots */
	COMPARED_OWNERS,       /* the same: in owner_slots */
	COMPARED_OWNER_VALUES, /* the same: in owner_values, the settled */
	COMPARED_OWNER_DAILY,  /* dimensions, and those of days */
	COMPARED_VALUES,       /* events of hours: in day_values */
	COMPARED_ROLLUPS,      /* the same: in stats_spans */
	COMPARED_KINDS,
};

struct difference {
	int64_t day; /* its start, seconds since 1970, UTC */
	uint64_t one, other;
	uint64_t dimensions; /* that differ from `one` */
	char first[24];	     /* of these, with `other`; "": there are none */
	bool dropped;	     /* rows of the day are in clicks no more */
};

struct difference_list {
	struct difference *items; /* by day */
	size_t count;
	/* Days or months that the other table has, and those looked at. */
	uint64_t partitions, looked;
	bool are_months;
};
void difference_list_release(struct difference_list *list);

/* About `rows_max` rows of a large table are read.  Release the list also after
 * a failure. */
int differences_find(struct clickhouse *ch, enum compared what,
		     int64_t rows_max, struct difference_list *ret,
		     struct error *err);

/* Keeps those of `list` that `later` has with the same numbers. */
void difference_list_keep(struct difference_list *list,
			  const struct difference_list *later);

#endif
