/*
 * insert_rate.h - limits how often a table is inserted into, so that all
 * collectors together make at most parts_per_second.
 *
 * Collectors need no coordination: a collector that holds h of a topic's n
 * partitions has h/n of the parts.  Each partition may insert once a period of
 * n / parts_per_second; the partition's number spreads these instants over the
 * period, so that those of two collectors alternate.  A batch that is full
 * before its instant takes a token from a bucket that fills at the collector's
 * rate and holds the tokens of one second, or one token.
 *
 * All times are in ms of one clock, chosen by the caller; real time keeps
 * collectors on different machines apart.
 */
#ifndef COLLECTOR_INSERT_RATE_H
#define COLLECTOR_INSERT_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct insert_rate {
	double per_second; /* over all collectors */
	uint32_t held;
	uint32_t partitions; /* number of the topic's, at least `held` */
	double tokens;	     /* below 0: parts made in advance */
	int64_t filled_at;
};

/* The bucket starts full. */
void insert_rate_init(struct insert_rate *p, double parts_per_second,
		      int64_t now);

/* `partitions` 0: not known yet; the number of held ones is used. */
void insert_rate_share(struct insert_rate *p, uint32_t held,
		       uint32_t partitions, int64_t now);

/* Returns this collector's parts per second. */
double insert_rate_own(const struct insert_rate *p);

/* Returns the ms between two inserts of one partition; 0 while none is held. */
int64_t insert_rate_period(const struct insert_rate *p);

/* Returns the greatest age of a batch: batch_age, extended to the period. */
int64_t insert_rate_age(const struct insert_rate *p, int64_t batch_age);

/*
 * Returns when a batch that was started at `started` must be inserted: at one
 * of the partition's instants, and not later than insert_rate_age after the
 * start.
 */
int64_t insert_rate_due(const struct insert_rate *p, int32_t partition,
			int64_t started, int64_t batch_age);

/* Returns whether an insert may run now, regardless of its number of parts. */
bool insert_rate_ready(struct insert_rate *p, int64_t now);

/* Call it after `parts` were made.  Parts beyond the bucket's content are owed,
 * and must be paid before the next insert is ready. */
void insert_rate_spend(struct insert_rate *p, uint32_t parts, int64_t now);

#endif
