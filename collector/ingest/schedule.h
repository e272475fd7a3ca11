/*
 * ingest/schedule.h - which block is inserted next, and when.
 *
 * A block's time has come when it is full, when it is to make room in memory
 * (ingest/backpressure.h), or at its partition's instant (pace.h); it goes once the pace of
 * its table lets it.  Until then it takes more events, up to twice what makes
 * it full.  Belongs to one thread.
 */
#ifndef COLLECTOR_INGEST_SCHEDULE_H
#define COLLECTOR_INGEST_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/insert_rate.h"
#include "collector/exactly_once/sink.h"
#include "collector/ingest/partition.h"

struct schedule {
	const struct collector_settings *settings;
	struct pace paces[SINK_TABLE_COUNT]; /* of clicks and of links */
	/* Of their topics; 0: not known yet. */
	uint32_t partitions[SINK_TABLE_COUNT];
};

void schedule_init(struct schedule *s,
		   const struct collector_settings *settings);

/* To be told after partitions came or went, and after s->partitions changed. */
void schedule_share(struct schedule *s, const struct slots *slots);

bool schedule_is_full(const struct schedule *s, const struct batch *batch);
/* Full twice over: takes no more. */
bool schedule_is_crammed(const struct schedule *s, const struct batch *batch);

/* The block to be inserted now, or NULL.  `now`: monotonic. */
struct slot *schedule_next(struct schedule *s, const struct slots *slots,
			   int64_t now);

/* Parts that a block makes in its table: one a day of its rows. */
uint32_t schedule_parts(const struct slot *slot);
/* The first try to insert the slot's block begins. */
void schedule_spend(struct schedule *s, const struct slot *slot);

#endif
