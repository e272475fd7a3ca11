/*
 * reported.h - what the collectors have reported of a topic: ingest_progress.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_REPORTED_H
#define COLLECTOR_TOOLS_VERIFY_REPORTED_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/stored_rows.h"
#include "collector/tools/verify/survey.h"

/* All batches with an append time from `from` up to `to`. */
int reported_survey(struct ask *a, int64_t from, int64_t to, struct survey *ret,
		    struct error *err);

/* Of each partition and life: `last` is the greatest offset reported,
 * whenever that was. */
int reported_reach(struct ask *a, struct survey *ret, struct error *err);

/* Lives that do not begin at their log's start but at `first`.  What lies
 * before that is of the life before. */
int reported_lives(struct ask *a, struct survey *ret, struct error *err);

struct reported_batch {
	uint64_t first, last;
	uint64_t rows, dead;
	uint64_t lost; /* not 0: no batch, but what Kafka had dropped unread */
};
#define REPORTED_PAGE 50000

enum reported_which {
	REPORTED_ALL,
	REPORTED_DEAD, /* that have dead letters */
	REPORTED_LOST, /* that are no batches, but what was not read */
};

/*
 * The batches that reach into [first, end), by their first offset, some
 * REPORTED_PAGE of them whose first is `after` or more: *ret_batches lives
 * until the next question.
 */
int reported_batches(struct ask *a, const struct stretch *s, uint64_t after,
		     enum reported_which which,
		     const struct reported_batch **ret_batches,
		     size_t *ret_count, struct error *err);

/*
 * The part of a stretch that is looked at together: as much of what begins at
 * s->first as a window takes, ended between two batches.  Sets s->end, and
 * since_ms and until_ms to when its events came to Kafka, with a margin; they
 * stay as they are where nothing was reported.
 */
int reported_part(struct ask *a, struct stretch *s, struct error *err);

#endif
