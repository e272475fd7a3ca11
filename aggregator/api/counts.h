/*
 * counts.h - the numbers of a bucket, a group or a total, and the rows of
 * ClickHouse's answers that carry them.
 */
#ifndef AGGREGATOR_API_COUNTS_H
#define AGGREGATOR_API_COUNTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "aggregator/api/question.h"
#include "common/buf.h"

struct counts {
	uint64_t events;     /* whatever the outcome */
	uint64_t redirected; /* clicks, whoever asked */
	uint64_t bots;	     /* of `redirected` */
	uint64_t prefetches; /* of `redirected` */
	uint64_t visitors;   /* distinct, among the clicks that `bots` counts */
	uint64_t ips;
	bool unique_known; /* visitors and ips are */
};

#define COUNTS_FIELDS  6
#define COUNTS_COLUMNS "nnnnnn"

/*
 * Reads the columns events, clicks, bots, prefetches, visitors and ips of a
 * row; the last two may be NULL.
 */
struct counts counts_read(char *const fields[COUNTS_FIELDS]);

/* The clicks that `mode` counts. */
uint64_t counts_clicks(const struct counts *c, enum bots_mode mode);

/* The relative standard error of visitors and ips that are estimated:
 * 1.04 / sqrt(2^p) of uniqCombined64(p), which is HyperLogLog's (Flajolet and
 * others, 2007).  docs/aggregator.md says what was measured. */
#define UNIQUE_ERROR_SETTLED 0.0081 /* p = 14: hours of stats_hourly */
#define UNIQUE_ERROR_LIVE    0.0029 /* p = 17: rows of clicks */

/* Of p = 14 ClickHouse corrects no bias.  HyperLogLog's own begins where it
 * stops to count empty registers, at 2.5 * 2^p, and is gone at 3.5 * 2^p:
 * estimates in between are up to 3 % too high. */
#define UNIQUE_ERROR_BIASED 0.03

/* Visitors or ips lie there. */
bool counts_are_biased(const struct counts *c);

/* Visitors and ips that were estimated are no more than the clicks that `mode`
 * counts: nobody comes without one. */
void counts_cap(struct counts *c, enum bots_mode mode);

/* a minus b; what is distinct is then not known. */
struct counts counts_less(const struct counts *a, const struct counts *b);
void counts_add(struct counts *sum, const struct counts *c);

/* Sets the members of an answer's object.  Returns -1 when out of memory. */
int counts_to_json(const struct counts *c, enum bots_mode mode, json_t *object);

extern const char counts_csv_header[]; /* "clicks,visitors,..." */
void counts_to_csv(const struct counts *c, enum bots_mode mode,
		   struct buf *out);

#endif
