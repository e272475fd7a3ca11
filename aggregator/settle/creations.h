/*
 * creations.h - counts the links that were created in each hour of UTC
 * (schemas/clickhouse/creations.sql), from created_links.
 *
 * An hour is settled when it is over, and again whenever links of it are
 * reported: late ones, or those of a collector that was behind.  Answers read
 * the rows of created_links for hours that are not settled, or that were
 * reported too shortly before; so they are exact at any time, and settled hours
 * only make them fast.
 */
#ifndef AGGREGATOR_SETTLE_CREATIONS_H
#define AGGREGATOR_SETTLE_CREATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/settle/settling.h"
#include "common/error.h"

struct creations_result {
	size_t hours;	/* published */
	size_t changed; /* while they were counted: the next pass has them */
	/* Not published: their rows are fewer than those published before,
	 * which are read on. */
	size_t held;
	bool more; /* hours are left */
};

/* Settles the hours that are due. */
int creations_settle(const struct settling *s, struct creations_result *ret,
		     struct error *err);

/* Deletes rows of attempts that are not read any more. */
int creations_clean(const struct settling *s, struct error *err);

#endif
