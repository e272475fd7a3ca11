/*
 * owners.h - whose a code was when it was visited, by the archive of links.
 *
 * A code can have had several owners: the one counts whose link was made last
 * before the visit.  The archive is asked once a block.
 */
#ifndef COLLECTOR_TOOLS_IMPORT_OWNERS_H
#define COLLECTOR_TOOLS_IMPORT_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct owner {
	const char *code;
	uint64_t link_id;
	int64_t created_ms;
	const char *owner;
	const char *campaign;
	char **tags;
	size_t tag_count;
};

/* Start from zeros, end with owners_release. */
struct owners {
	struct owner *items; /* by code and time */
	size_t count, cap;
	struct buf *answers; /* what items point into */
	size_t answer_count;
	char **tags;
	size_t tag_count, tag_cap;
};

/* Asks for `codes`, which it sorts; repeated ones are asked for once. What can
 * be no code is not asked for. */
int owners_find(struct owners *o, struct clickhouse *ch, const char **codes,
		size_t count, struct error *err);
void owners_release(struct owners *o);

/* Whose `code` was then; NULL: nobody's. */
const struct owner *owners_at(const struct owners *o, const char *code,
			      int64_t time_ms);

#endif
