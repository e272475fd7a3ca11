/*
 * dimension.h - what clicks can be broken down by: the closed table from which
 * settling and answers take their column names and expressions.  The API's
 * description, its page in docs/ and the dashboard name them on their own.
 */
#ifndef AGGREGATOR_DIMENSION_H
#define AGGREGATOR_DIMENSION_H

#include <stdbool.h>
#include <stddef.h>

struct dimension {
	const char *name; /* as in group_by= and stats_hourly.dimension */
	/* Over a row of `clicks`; a String. */
	const char *expression;
	/* Few values: unique visitors are kept for each of them. */
	bool visitors;
	/* Any number of values: only the busiest of an hour are kept. */
	bool capped;
	/* An event has any number of values (tags): sums exceed the total. */
	bool many;
	const char *array; /* of its values, for `many` only */
};

/* The first one is `total`, which is not for group_by. */
extern const struct dimension dimensions[];
extern const size_t dimension_count;

/* For group_by: `total` is not found. */
const struct dimension *dimension_find(const char *name);

#endif
