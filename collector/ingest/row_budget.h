/*
 * row_budget.h - decides which partitions may take more records, by the bytes
 * of rows that are held.  Pure: no I/O.
 *
 * Up to half of the bound, all partitions may.  Above that, those that hold
 * more than an equal share of the bound may not, so that a partition that
 * cannot be inserted leaves room for the others.  At the bound no partition
 * may.  A paused partition is resumed only when clearly less is held: each
 * pause costs the events fetched ahead, which librdkafka drops and fetches
 * again.
 */
#ifndef COLLECTOR_INGEST_ROW_BUDGET_H
#define COLLECTOR_INGEST_ROW_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

struct row_budget {
	size_t bound_max;
	size_t bound; /* at present: less after row_budget_tighten */
	size_t held;  /* bytes held by all partitions */
	size_t partitions;
	bool full; /* the bound was reached; ends at half of it */
};

void row_budget_init(struct row_budget *r, size_t bound);

/* `held` bytes are held now, by `partitions` partitions. */
void row_budget_set(struct row_budget *r, size_t held, size_t partitions);

/* `bytes` more are held since then. */
void row_budget_add(struct row_budget *r, size_t bytes);

/* Returns whether a partition that holds `own` bytes must be paused; `paused`:
 * it is paused now. */
bool row_budget_pauses(const struct row_budget *r, size_t own, bool paused);

/* Returns whether a partition that holds `own` bytes should be inserted first,
 * to free memory: half of an equal share or more.  Small batches would take
 * turns and free nothing. */
bool row_budget_is_urgent(const struct row_budget *r, size_t own);

/* The process uses more memory than the held rows account for: the bound is
 * halved, down to an eighth, and counts as reached. */
void row_budget_tighten(struct row_budget *r);
/* Memory is free again: the bound doubles, up to its first value. */
void row_budget_relax(struct row_budget *r);

#endif
