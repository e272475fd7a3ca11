/*
 * links_counted.h - the range whose clicks a list of links has: whole days of
 * UTC from link_days, and what is before and after them from settled hours, or
 * from single clicks for a caller that does not see all accounts.
 */
#ifndef AGGREGATOR_API_LINKS_LINKS_COUNTED_H
#define AGGREGATOR_API_LINKS_LINKS_COUNTED_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/call.h"
#include "aggregator/api/links/links_query.h"
#include "common/error.h"

struct links_counted {
	int64_t from, to;    /* seconds since 1970 */
	int64_t provisional; /* the end of the whole days */
	json_t *waiting;     /* the days of which clicks wait */
	bool complete;	     /* only late clicks change it */
	bool lower_bound;    /* hours have their busiest links only */
};

/*
 * Sets the range of a list with clicks: q->range, and the ends of q->at.  All
 * later pages count what the first one does.  ERROR_INPUT: the range needs
 * single clicks that were dropped, or more than raw_rows_max.  Release also
 * after a failure.
 */
int links_counted_read(struct call *call, struct links_query *q,
		       struct links_counted *ret, struct error *err);
void links_counted_release(struct links_counted *counted);

/* NULL: out of memory. */
json_t *links_counted_to_json(const struct links_counted *counted);

#endif
