/*
 * insert_rate.h - how often a table is inserted into, so that all collectors
 * together make no more than parts_per_second.
 *
 * Nobody has to be asked: a collector that holds h of a topic's n partitions
 * has h/n of the parts.  Each partition may insert once a period of
 * n / parts_per_second; the instants at which they do are spread over it by the
 * partition's number, so that those of two collectors fall between each other.
 * A batch that is full before its instant takes a token from a bucket that
 * fills at the collector's rate and holds a second of it, or one.
 *
 * All times in ms of one clock, the caller's; real time keeps collectors on
 * different machines apart.
 */
#ifndef COLLECTOR_INSERT_RATE_H
#define COLLECTOR_INSERT_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct insert_rate {
	double per_second; /* of all collectors */
	uint32_t held;
	uint32_t partitions; /* of the topic; at least `held` */
	double tokens;	     /* below 0: parts made in advance */
	int64_t filled_at;
};

/* The bucket starts full. */
void insert_rate_init(struct insert_rate *p, double parts_per_second,
		      int64_t now);

/* `partitions` 0: not known yet, taken for those held. */
void insert_rate_share(struct insert_rate *p, uint32_t held,
		       uint32_t partitions, int64_t now);

/* Parts a second that are this collector's. */
double insert_rate_own(const struct insert_rate *p);

/* ms between two inserts of one partition; 0 while none is held. */
int64_t insert_rate_period(const struct insert_rate *p);

/* How old a batch becomes at most: batch_age, stretched to the period. */
int64_t insert_rate_age(const struct insert_rate *p, int64_t batch_age);

/*
 * When a batch that was started at `started` is to be inserted: not later than
 * insert_rate_age after it, and at one of the partition's instants.
 */
int64_t insert_rate_due(const struct insert_rate *p, int32_t partition,
			int64_t started, int64_t batch_age);

/* Whether an insert can go now, however many parts it makes. */
bool insert_rate_ready(struct insert_rate *p, int64_t now);

/* `parts` were made.  What the bucket did not hold is owed, and paid before the
 * next insert is ready. */
void insert_rate_spend(struct insert_rate *p, uint32_t parts, int64_t now);

#endif
