/*
 * link_finder.h - the link that a question is about: of the archive, or, where
 * that does not know it yet, of Redis.
 *
 * A link that the caller may not see is not found, and what is answered then
 * does not tell it from one that is not there, whatever is away.
 */
#ifndef AGGREGATOR_API_LINK_FINDER_H
#define AGGREGATOR_API_LINK_FINDER_H

#include "aggregator/api/access.h"
#include "aggregator/api/archive.h"
#include "aggregator/api/redis_links.h"

struct link_finder {
	struct clickhouse *ch;
	struct redis_links *redis; /* NULL: the archive alone */
	const struct access *access;
};

/*
 * The present link of a code: the newest that either knows.  ERROR_NOTFOUND:
 * there is none that the caller may see.  ERROR_REMOTE, retriable: that cannot
 * be told while Redis does not answer; what the archive has is found without
 * it.  Release with archived_link_release, also after a failure.
 */
int link_find_code(const struct link_finder *f, const char *code,
		   struct archived_link *ret, struct error *err);

/* The link itself, also when its code has another owner by now.  Links without
 * a block are found in the archive alone. */
int link_find_id(const struct link_finder *f, uint64_t link_id,
		 struct archived_link *ret, struct error *err);

/* The one or the other: `link_id` counts where `code` is empty. */
int link_find(const struct link_finder *f, const char *code, uint64_t link_id,
	      struct archived_link *ret, struct error *err);

#endif
