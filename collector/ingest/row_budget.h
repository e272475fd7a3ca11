/*
 * valve.h - which partitions may bring more, by what is held of them.
 *
 * Up to half of the bound all of them may.  Beyond, those that hold more than
 * an equal share of it may not, so that one that cannot be inserted leaves room
 * for the others.  At the bound none may.  What was shut opens again only when
 * clearly less is held: each time costs the events fetched ahead, which
 * librdkafka throws away and fetches again.
 */
#ifndef COLLECTOR_INGEST_ROW_BUDGET_H
#define COLLECTOR_INGEST_ROW_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct valve {
	size_t bound_max;
	size_t bound; /* now: less after valve_press */
	size_t held;  /* of all partitions */
	size_t partitions;
	bool full; /* the bound was reached, and not yet left behind */
};

void valve_init(struct valve *v, size_t bound);

/* Tells what is held now, of how many partitions. */
void valve_look(struct valve *v, size_t held, size_t partitions);

/* More came in since. */
void valve_add(struct valve *v, size_t bytes);

/* Whether a partition that holds `own` bytes is to be shut; `is_shut`: it is
 * now. */
bool valve_shuts(const struct valve *v, size_t own, bool is_shut);

/* Whether `own` bytes are so much that they should go first, to make room: half
 * of an equal share or more.  Small blocks would take turns and free nothing.
 */
bool valve_hurries(const struct valve *v, size_t own);

/* More memory is used than what is held tells of: the bound is halved, down to
 * an eighth, and taken for reached. */
void valve_press(struct valve *v);
/* There is room again: the bound doubles, up to what it was. */
void valve_relax(struct valve *v);

#endif
