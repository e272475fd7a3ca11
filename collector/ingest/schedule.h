/*
 * schedule.h - decides which batch is inserted next, and when.
 *
 * A batch is due when it is full, when it must free memory
 * (ingest/backpressure.h), or at its partition's instant (insert_rate.h); it is
 * sent once the insert_rate of its table allows it.  Until then it takes more
 * events, up to twice what makes it full.  Belongs to one thread.
 */
#ifndef COLLECTOR_INGEST_SCHEDULE_H
#define COLLECTOR_INGEST_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/exactly_once/sink.h"
#include "collector/ingest/partition.h"
#include "collector/ingest/partitions.h"
#include "collector/insert_rate.h"

struct schedule {
	const struct collector_settings *settings;
	/* For clicks and for links. */
	struct insert_rate rates[SINK_TABLE_COUNT];
	/* Numbers of partitions of their topics; 0: not known yet. */
	uint32_t topic_size[SINK_TABLE_COUNT];
};

void schedule_init(struct schedule *s,
		   const struct collector_settings *settings);

/* Call it after partitions were assigned or revoked. */
void schedule_share(struct schedule *s, const struct partitions *all);

/* Sets the topics' numbers of partitions. */
void schedule_set_topics(struct schedule *s,
			 const uint32_t topic_size[SINK_TABLE_COUNT],
			 const struct partitions *all);

bool schedule_is_full(const struct schedule *s, const struct batch *batch);
/* The batch holds twice what makes it full, and takes no more. */
bool schedule_is_over_limit(const struct schedule *s,
			    const struct batch *batch);

/* Returns the batch to be inserted now, or NULL.  `now`: monotonic. */
struct partition *schedule_next(struct schedule *s,
				const struct partitions *all, int64_t now);

/* Returns the parts that a batch makes in its table: one per day of its
 * rows. */
uint32_t schedule_parts(const struct partition *p);
/* Call it when the first try to insert the partition's batch begins. */
void schedule_spend(struct schedule *s, const struct partition *p);

#endif
