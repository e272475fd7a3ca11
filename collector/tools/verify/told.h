/*
 * told.h - what the collectors have reported of a topic: ingest_progress.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_TOLD_H
#define COLLECTOR_TOOLS_VERIFY_TOLD_H

#include "collector/tools/verify/ask.h"
#include "collector/tools/verify/stored.h"

/* All blocks with an append time from `from` up to `to`. */
int told_survey(struct ask *a, int64_t from, int64_t to, struct known_list *ret,
		struct error *err);

/* Of each partition and life: `last` is the greatest offset told of, whenever
 * that was. */
int told_reach(struct ask *a, struct known_list *ret, struct error *err);

/* Lives that do not begin at their log's start but at `first`.  What lies
 * before that is of the life before. */
int told_lives(struct ask *a, struct known_list *ret, struct error *err);

struct told_block {
	uint64_t first, last;
	uint64_t rows, dead;
	uint64_t lost; /* not 0: no block, but what Kafka had dropped unread */
};
#define TOLD_PAGE 50000

enum told_which {
	TOLD_ALL,
	TOLD_DEAD, /* that have dead letters */
	TOLD_LOST, /* that are none, but what was not read */
};

/*
 * The blocks that reach into [first, end), by their first offset, some
 * TOLD_PAGE of them whose first is `after` or more: *ret_blocks lives until the
 * next question.
 */
int told_blocks(struct ask *a, const struct stretch *s, uint64_t after,
		enum told_which which, const struct told_block **ret_blocks,
		size_t *ret_count, struct error *err);

/*
 * The part of a stretch that is looked at together: as much of what begins at
 * s->first as a window takes, ended between two blocks.  Sets s->end, and
 * since_ms and until_ms to when its events came to Kafka, with a margin; they
 * stay as they are where nothing was told.
 */
int told_part(struct ask *a, struct stretch *s, struct error *err);

#endif
