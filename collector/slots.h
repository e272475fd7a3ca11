/*
 * slots.h - the partitions a collector holds, each with the block it is
 * filling.  A partition given back keeps its slot, and with it its metric.
 */
#ifndef COLLECTOR_SLOTS_H
#define COLLECTOR_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/batch.h"
#include "collector/sink.h"
#include "common/error.h"
#include "common/metrics/metrics.h"

struct slot {
	char *topic;
	int32_t partition;
	bool held;
	bool shut;	       /* paused: brings no more for now (gates.h) */
	enum sink_table table; /* SINK_CLICKS or SINK_LINKS */
	struct batch batch;
	int64_t next_offset; /* after the last event taken; -1: none yet */
	/* Events from here on were not taken and are to be read again; -1:
	 * none. */
	int64_t reread_from;
	/* Kafka gave up one of the block's dead letters.  Set on the
	 * producer's thread. */
	atomic_bool dead_letter_failed;
	struct metric *lag;
};

struct slots {
	struct slot **items;
	size_t count;
	size_t cap;
};

/* Start from `struct slots s = {0};`. */
void slots_release(struct slots *s);

/* The slot of a partition, or NULL. */
struct slot *slots_find(const struct slots *s, const char *topic,
			int32_t partition);
/* The same, made when it is not there. */
struct slot *slots_add(struct slots *s, const char *topic, int32_t partition,
		       struct metrics *metrics, struct error *err);

/* Bytes held in all blocks. */
size_t slots_bytes(const struct slots *s);

#endif
