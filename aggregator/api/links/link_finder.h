/*
 * link_finder.h - finds the link that a question is about: in the archive, or
 * in Redis while the archive does not have it yet.
 *
 * A link that the caller may not see is not found.  The answer does not
 * distinguish it from a link that does not exist, even while a store is
 * unavailable.
 */
#ifndef AGGREGATOR_API_LINKS_LINK_FINDER_H
#define AGGREGATOR_API_LINKS_LINK_FINDER_H

#include "aggregator/api/access.h"
#include "aggregator/api/links/archive.h"
#include "aggregator/api/links/redis_links.h"

struct link_finder {
	struct clickhouse *ch;
	struct redis_links *redis; /* NULL: the archive alone */
	const struct access *access;
};

/*
 * Finds the present link of a code: the newest in either store.
 * ERROR_NOTFOUND: there is none that the caller may see.  ERROR_REMOTE,
 * retriable: unknown while Redis does not answer; a link in the archive is
 * found without it.  Release with archived_link_release, also after a failure.
 */
int link_find_code(const struct link_finder *f, const char *code,
		   struct archived_link *ret, struct error *err);

/* Finds the link itself, also when its code belongs to another link by now.
 * Links without a block are found in the archive alone. */
int link_find_id(const struct link_finder *f, uint64_t link_id,
		 struct archived_link *ret, struct error *err);

/* Finds a link by `code`, or by `link_id` if `code` is empty. */
int link_find(const struct link_finder *f, const char *code, uint64_t link_id,
	      struct archived_link *ret, struct error *err);

#endif
