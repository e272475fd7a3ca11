/*
 * passes.h - offsets that an operator has said are to be passed over, unread
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

#define PASS_NONE UINT64_MAX /* as an offset: none is named */

struct passes {
	struct pass *items;
	size_t count;
	bool are_known; /* they were loaded */
};

/* All there are, of all topics.  *ret is to be released, also on failure. */
int passes_load(struct clickhouse *ch, struct passes *ret, struct error *err);
void passes_release(struct passes *p);

/* The first one, by its offsets, that reaches to `from` or beyond; or NULL. */
const struct pass *passes_next(const struct passes *p, const char *topic,
			       int32_t partition, uint32_t epoch,
			       uint64_t from);

/* Notes `count` of them, of one topic, with a reason in words: in one
 * statement, so that no collector sees some of them and reads what the others
 * name. */
int passes_note(struct clickhouse *ch, const struct pass *passes, size_t count,
		const char *reason, struct error *err);

#endif
