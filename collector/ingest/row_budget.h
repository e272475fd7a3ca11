/*
 * row_budget.h - which partitions may bring more, by the bytes of rows that are
 * held.  Pure: no I/O.
 *
 * Up to half of the bound all of them may.  Beyond, those that hold more than
 * an equal share of it may not, so that one that cannot be inserted leaves room
 * for the others.  At the bound none may.  What was paused is resumed only when
 * clearly less is held: each pause costs the events fetched ahead, which
 * librdkafka throws away and fetches again.
 */
#ifndef COLLECTOR_INGEST_ROW_BUDGET_H
#define COLLECTOR_INGEST_ROW_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct row_budget {
	size_t bound_max;
	size_t bound; /* now: less after row_budget_tighten */
	size_t held;  /* by all partitions */
	size_t partitions;
	bool full; /* the bound was reached, and not yet left behind */
};

void row_budget_init(struct row_budget *r, size_t bound);

/* So much is held now, by so many partitions. */
void row_budget_set(struct row_budget *r, size_t held, size_t partitions);

/* More came in since. */
void row_budget_add(struct row_budget *r, size_t bytes);

/* Whether a partition that holds `own` bytes is to be paused; `paused`: it is
 * now. */
bool row_budget_pauses(const struct row_budget *r, size_t own, bool paused);

/* Whether `own` bytes are so much that they should go first, to make room: half
 * of an equal share or more.  Small batches would take turns and free nothing.
 */
bool row_budget_is_urgent(const struct row_budget *r, size_t own);

/* More memory is used than what is held accounts for: the bound is halved, down
 * to an eighth, and taken for reached. */
void row_budget_tighten(struct row_budget *r);
/* There is room again: the bound doubles, up to what it was. */
void row_budget_relax(struct row_budget *r);

#endif
