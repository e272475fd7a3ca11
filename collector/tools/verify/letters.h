/*
 * letters.h - which offsets of a topic were put away as dead letters.
 */
#ifndef COLLECTOR_TOOLS_VERIFY_LETTERS_H
#define COLLECTOR_TOOLS_VERIFY_LETTERS_H

#include "collector/tools/verify/offset_set.h"
#include "common/kafka/reader.h"

/* All zero to begin with. */
struct letters {
	struct offset_set *sets; /* by partition */
	uint32_t partitions;
	uint64_t read; /* records looked at */
};

/* Called now and then; true to stop. */
typedef bool letters_pause_fn(void *arg);

/*
 * Reads what was put into `dlq` at `since_ms` or later and came from `topic`.
 * A dlq that is not there has no letters.  Not more than so many partitions are
 * told apart: what came from others is left out.
 */
int letters_read(struct letters *l, struct kafka_reader *reader,
		 const char *dlq, const char *topic, uint32_t partitions,
		 int64_t since_ms, letters_pause_fn *pause, void *arg,
		 struct error *err);

/* Those of a partition; never NULL. */
const struct offset_set *letters_of(const struct letters *l,
				    uint32_t partition);
void letters_free(struct letters *l);

#endif
