/*
 * passes.h - offsets that must be passed over unread by an operator's decision
 * (`collector pass`).
 */
#ifndef COLLECTOR_EXACTLY_ONCE_PASSES_H
#define COLLECTOR_EXACTLY_ONCE_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct pass {
	const char *topic;
	int32_t partition;
	uint32_t epoch;
	uint64_t first, last; /* both included */
};

#define PASS_NONE UINT64_MAX /* used as an offset: no offset is named */

struct passes {
	struct pass *items;
	size_t count;
	bool are_known; /* they are loaded */
};

/* Loads the passes of all topics.  Release *ret also after a failure. */
int passes_load(struct clickhouse *ch, struct passes *ret, struct error *err);
void passes_release(struct passes *p);

/* Returns the first pass, by offsets, that ends at `from` or later; or NULL. */
const struct pass *passes_next(const struct passes *p, const char *topic,
			       int32_t partition, uint32_t epoch,
			       uint64_t from);

/* Stores `count` passes of one topic, with a reason as text.  A single
 * statement does this, so that no collector sees only some of them and reads
 * the offsets of the others. */
int passes_note(struct clickhouse *ch, const struct pass *passes, size_t count,
		const char *reason, struct error *err);

#endif
