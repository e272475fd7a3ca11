/*
 * dlq_offsets.h - which offsets of a topic have a dead letter.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_DLQ_OFFSETS_H
#define COLLECTOR_TOOLS_VERIFY_DLQ_OFFSETS_H

#include "collector/tools/verify/offset_set.h"
#include "common/kafka/reader.h"

/* All zero to begin with. */
struct dlq_offsets {
	struct offset_set *sets; /* by partition */
	uint32_t partitions;
	uint64_t read; /* records looked at */
};

/* Called every few thousand records; true to stop. */
typedef bool dlq_offsets_pause_fn(void *arg);

/*
 * Reads the letters that `dlq` got at `since_ms` or later and that came from
 * the first `partitions` partitions of `topic`.  A dlq that does not exist has
 * no letters.
 */
int dlq_offsets_read(struct dlq_offsets *d, struct kafka_reader *reader,
		     const char *dlq, const char *topic, uint32_t partitions,
		     int64_t since_ms, dlq_offsets_pause_fn *pause, void *arg,
		     struct error *err);

/* Those of a partition; never NULL. */
const struct offset_set *dlq_offsets_of(const struct dlq_offsets *d,
					uint32_t partition);
void dlq_offsets_free(struct dlq_offsets *d);

#endif
