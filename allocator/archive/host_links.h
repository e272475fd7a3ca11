/*
 * host_links.h - the links of the archive (ClickHouse's table links) that lead
 * to a host.
 */
#ifndef ALLOCATOR_ARCHIVE_HOST_LINKS_H
#define ALLOCATOR_ARCHIVE_HOST_LINKS_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/* A link in its newest version that the archive has. */
struct host_link {
	const char *code;
	uint64_t link_id;
	const char *account;
};

/* Returns -1, with err filled, to end the walk. */
typedef int host_link_fn(void *arg, const struct host_link *link,
			 struct error *err);

/*
 * Calls `fn` for each link that leads to `domain`, a listed domain in its one
 * form, by its URL or by a target, in the order of codes.  Links that are
 * deleted or blocked are left out; an expired one may be among them, since the
 * archive does not know of renewals.  Links are read page by page; `fn` may
 * change them, and use `ch`.
 */
int host_links_each(struct clickhouse *ch, const char *domain, host_link_fn *fn,
		    void *arg, struct error *err);

#endif
