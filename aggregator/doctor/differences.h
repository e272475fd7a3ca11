/*
 * differences.h - finds days for which two tables that should agree differ, in
 * each dimension that a table has.
 *
 * Clicks that come in make any two tables differ for a moment, so each day is
 * returned with both numbers, and the caller queries twice.  Copies are
 * compared only while nothing of their day was published later, and months
 * whose counts were dropped not at all: such differences are repaired, or
 * deleted, without intervention.
 *
 * In tables that have a row for each value of each owner, hour or link, only a
 * limited number of rows is read: those of the days or months that were written
 * last, and days that have no rows at all.  Older days or months are one part
 * each, which cannot be lost in part.
 */
#ifndef AGGREGATOR_DOCTOR_DIFFERENCES_H
#define AGGREGATOR_DOCTOR_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

enum compared {
	COMPARED_ROWS, /* rows of clicks; events of published hours */
	/* Events of hours; those of each settled dimension. */
	COMPARED_HOUR_VALUES,
	COMPARED_LINK_SLOTS, /* visits in link_days; in link_slots */
	COMPARED_SEALED,     /* visits in link_days; in sealed_slots */
	COMPARED_OWNERS,     /* visits in link_days; in owner_slots */
	/* The same; in owner_values: settled dimensions. */
	COMPARED_OWNER_VALUES,
	COMPARED_OWNER_DAILY, /* visits in link_days; daily in owner_values */
	COMPARED_VALUES,      /* events of hours; in day_values */
	COMPARED_ROLLUPS,     /* events of hours; in stats_spans */
	COMPARED_KINDS,
};

struct difference {
	int64_t day; /* its start, seconds since 1970, UTC */
	uint64_t one, other;
	uint64_t dimensions; /* number of dimensions that differ from `one` */
	char first[24]; /* the first that differs, with `other`; "": none */
	bool dropped;	/* rows of the day are no longer in clicks */
};

struct difference_list {
	struct difference *items; /* by day */
	size_t count;
	/* Days or months in the other table, and how many of them were read. */
	uint64_t partitions, looked;
	bool are_months;
};
void difference_list_release(struct difference_list *list);

/* Reads about `rows_max` rows of a large table.  The caller releases the list
 * also after a failure. */
int differences_find(struct clickhouse *ch, enum compared what,
		     int64_t rows_max, struct difference_list *ret,
		     struct error *err);

/* Keeps the items of `list` that `later` has with the same numbers. */
void difference_list_keep(struct difference_list *list,
			  const struct difference_list *later);

#endif
