/*
 * not_counted.h - events that no count has: rows that collectors reported and
 * that were not there when their hours were settled; dead letters; offsets that
 * Kafka no longer held when they were to be read.
 */
#ifndef AGGREGATOR_DOCTOR_NOT_COUNTED_H
#define AGGREGATOR_DOCTOR_NOT_COUNTED_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct short_day {
	int64_t start;		    /* seconds since 1970, UTC */
	uint64_t reported, missing; /* rows of the hours that are short */
};

/*
 * Calls `fn` for each day, in their order, of which published hours have fewer
 * events than rows were reported; not for those of dropped days, of which
 * nobody can bring rows back, nor for hours that `aggregator settle` published
 * last, whose rows somebody has looked at.
 */
int not_counted_short_days(struct clickhouse *ch,
			   int (*fn)(void *arg, const struct short_day *day,
				     struct error *err),
			   void *arg, struct error *err);

/* Of the reports of the last 24 hours. */
struct not_counted {
	uint64_t dead_lettered, lost;
};
int not_counted_read(struct clickhouse *ch, struct not_counted *ret,
		     struct error *err);

#endif
