/*
 * reported.h - the collectors' reports on a topic: ingest_progress.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_REPORTED_H
#define COLLECTOR_TOOLS_VERIFY_REPORTED_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/offset_survey.h"
#include "collector/tools/verify/stored_rows.h"

/* Queries all batches with an append time in [from, to). */
int reported_survey(struct ask *a, int64_t from, int64_t to,
		    struct offset_survey *ret, struct error *err);

/* Queries the reports of each partition and epoch: `last` is the greatest
 * offset reported at any time. */
int reported_reach(struct ask *a, struct offset_survey *ret, struct error *err);

/* Queries the epochs that begin not at their log's start but at `first`.
 * Offsets before that belong to the epoch before. */
int reported_lives(struct ask *a, struct offset_survey *ret, struct error *err);

struct reported_batch {
	uint64_t first, last;
	uint64_t rows, dead;
	uint64_t lost; /* offsets of a gap that Kafka had dropped unread */
};
#define REPORTED_PAGE 50000

enum reported_which {
	REPORTED_ALL,
	REPORTED_DEAD, /* batches with dead letters */
	REPORTED_LOST, /* gaps: offsets that were not read */
};

/*
 * Queries the batches that overlap [first, end), sorted by their first offset,
 * up to REPORTED_PAGE of them with `first` at `after` or later: *ret_batches
 * lives until the next query.
 */
int reported_batches(struct ask *a, const struct stretch *s, uint64_t after,
		     enum reported_which which,
		     const struct reported_batch **ret_batches,
		     size_t *ret_count, struct error *err);

/*
 * Finds the part of a stretch that is checked together: it begins at s->first,
 * fits into a window, and ends between two batches.  Sets s->end, and since_ms
 * and until_ms to the time range of its events in Kafka, with a margin; they
 * stay unchanged if nothing was reported.
 */
int reported_part(struct ask *a, struct stretch *s, struct error *err);

#endif
