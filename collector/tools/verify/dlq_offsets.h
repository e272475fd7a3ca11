/*
 * dlq_offsets.h - the offsets of a topic that have a dead letter.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_DLQ_OFFSETS_H
#define COLLECTOR_TOOLS_VERIFY_DLQ_OFFSETS_H

#include "collector/tools/offset_set.h"
#include "common/kafka/reader.h"

/* Initialise it with zeros. */
struct dlq_offsets {
	struct offset_set *sets; /* one per partition */
	uint32_t partitions;
	uint64_t read; /* number of records read */
};

/* Called every few thousand records; returns true to stop. */
typedef bool dlq_offsets_pause_fn(void *arg);

/*
 * Reads the letters that `dlq` received at `since_ms` or later from the first
 * `partitions` partitions of `topic`.  A dlq that does not exist has no
 * letters.
 */
int dlq_offsets_read(struct dlq_offsets *d, struct kafka_reader *reader,
		     const char *dlq, const char *topic, uint32_t partitions,
		     int64_t since_ms, dlq_offsets_pause_fn *pause, void *arg,
		     struct error *err);

/* Returns the offsets of a partition; never NULL. */
const struct offset_set *dlq_offsets_of(const struct dlq_offsets *d,
					uint32_t partition);
void dlq_offsets_free(struct dlq_offsets *d);

#endif
