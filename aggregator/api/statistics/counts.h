/*
 * counts.h - the numbers of a bucket, a group or a total, and the rows of
 * ClickHouse's answers that carry them.
 */
#ifndef AGGREGATOR_API_STATISTICS_COUNTS_H
#define AGGREGATOR_API_STATISTICS_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/statistics/question.h"
#include "common/buf.h"

struct counts {
	uint64_t events;     /* with any outcome */
	uint64_t redirected; /* clicks by people, bots and prefetches */
	uint64_t bots;	     /* part of `redirected` */
	uint64_t prefetches; /* part of `redirected` */
	uint64_t visitors;   /* distinct, among the clicks that `bots` counts */
	uint64_t ips;
	bool visitors_known, ips_known;
	/* Visitors are estimated from a sample, with this relative standard
	 * error (group_visitors.h). */
	bool sampled;
	double sample_error;
};

#define COUNTS_FIELDS  6
#define COUNTS_COLUMNS "nnnnnn"

/*
 * Reads the columns events, clicks, bots, prefetches, visitors and ips of a
 * row; the last two may be NULL.
 */
struct counts counts_read(char *const fields[COUNTS_FIELDS]);

/* Returns the clicks that `mode` counts. */
uint64_t counts_clicks(const struct counts *c, enum bots_mode mode);

/* The relative standard error of estimated visitors and ips: 1.04 / sqrt(2^p)
 * for uniqCombined64(p), as for HyperLogLog (Flajolet and others, 2007).
 * docs/aggregator.md lists what was measured. */
#define UNIQUE_ERROR_SETTLED 0.0081 /* p = 14: hours of stats_hourly */
#define UNIQUE_ERROR_LIVE    0.0029 /* p = 17: rows of clicks */

/* The error within the biased range.  ClickHouse corrects no bias at p = 14.
 * HyperLogLog's bias begins where it stops counting empty registers, at 2.5 *
 * 2^p, and ends at 3.5 * 2^p: estimates in between are up to 3 % too high. */
#define UNIQUE_ERROR_BIASED 0.03

/* Returns whether visitors or ips lie in the biased range. */
bool counts_are_biased(const struct counts *c);

/* Caps estimated visitors and ips at the clicks that `mode` counts: every
 * visitor has at least one click. */
void counts_cap(struct counts *c, enum bots_mode mode);

/* Returns a minus b; visitors and ips of the result are unknown. */
struct counts counts_less(const struct counts *a, const struct counts *b);
void counts_add(struct counts *sum, const struct counts *c);

/* Sets the members of an answer's object.  Returns -1 when out of memory. */
int counts_to_json(const struct counts *c, enum bots_mode mode, json_t *object);

extern const char counts_csv_header[]; /* "clicks,visitors,..." */
void counts_to_csv(const struct counts *c, enum bots_mode mode,
		   struct buf *out);

#endif
