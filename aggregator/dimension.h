/*
 * dimension.h - the dimensions of clicks: the closed table from which settling
 * and answers take their column names and expressions.  `make sample` lists
 * them in the API's description and on its page in docs/; the dashboard chooses
 * a few.
 */
#ifndef AGGREGATOR_DIMENSION_H
#define AGGREGATOR_DIMENSION_H

#include <stdbool.h>
#include <stddef.h>

enum dimension_kind {
	/*
	 * A click has exactly one of its few values; the unique visitors and
	 * addresses of each are kept.  Those of all clicks are the union, so
	 * hours do not have them a second time in the row of `total`.  One
	 * dimension.
	 */
	DIMENSION_WHOLE,
	/* Few values: unique visitors are kept for each of them. */
	DIMENSION_VISITORS,
	/* Few values: all are kept, without their visitors. */
	DIMENSION_FEW,
	/* Any number of values: only the busiest of an hour are kept. */
	DIMENSION_BUSIEST,
	/*
	 * The same, and an event can have any number of values (tags): sums
	 * exceed the total.  At most one dimension: two arrayJoin would pair
	 * values.
	 */
	DIMENSION_MANY,
	/* The busiest values of a UTC day are kept, and no values of its hours:
	 * a part of a day is counted from the rows of `clicks`. */
	DIMENSION_DAILY,
	/* The values belong to accounts, and are never counted over several:
	 * the tables of owners have them, hours and days do not. */
	DIMENSION_OF_ACCOUNT,
};

struct dimension {
	const char *name; /* as in group_by= and stats_hourly.dimension */
	/* SQL on a row of `clicks`; its type is String. */
	const char *expression;
	enum dimension_kind kind;
};

/* The array of a row that the expression of the DIMENSION_MANY expands. */
#define DIMENSION_MANY_VALUES "tags"

/* The first one is `total`, which is not for group_by. */
extern const struct dimension dimensions[];
extern const size_t dimension_count;

/* For group_by: does not find `total`. */
const struct dimension *dimension_find(const char *name);

/* Returns the DIMENSION_MANY. */
const struct dimension *dimension_of_many(void);

/* Returns the DIMENSION_WHOLE. */
const struct dimension *dimension_of_whole(void);

/* Whether hours and days have all values, and none is left out. */
bool dimension_keeps_all(const struct dimension *d);

/* Whether hours and days have each event once in it. */
bool dimension_is_of_hours(const struct dimension *d);

/* Whether a DIMENSION_VISITORS has hundreds of values, not only a dozen. */
bool dimension_has_hundreds(const struct dimension *d);

/* Whether its values are digests of URLs (common/url_digest.h). */
bool dimension_is_url(const struct dimension *d);

/* For filters: finds neither `total` nor `link`, which has its own
 * parameters. */
const struct dimension *dimension_find_filter(const char *name);

/* The dimensions of links created (GET /v1/creations); the expressions are on
 * rows of `creations` and `created_links` alike. */
extern const struct dimension creation_dimensions[];
extern const size_t creation_dimension_count;

/* For group_by and filters. */
const struct dimension *creation_dimension_find(const char *name);

#endif
