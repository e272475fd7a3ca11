/* export_links.h - the links that an export is about. */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_LINKS_H
#define AGGREGATOR_API_EXPORT_EXPORT_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "aggregator/api/access.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* Links by link_id, ascending. */
struct export_links {
	uint64_t *ids; /* owned */
	size_t count;
};

/*
 * Reads the links that the caller sees: those of that account and owner, of
 * which each may be NULL: any.  The archive decides by their present ones.
 * ERROR_INPUT: more than `max`.  Release also after a failure.
 */
int export_links_read(struct export_links *ret, struct clickhouse *ch,
		      const struct access *access, const char *account,
		      const char *owner, size_t max, struct error *err);
void export_links_release(struct export_links *links);

#endif
