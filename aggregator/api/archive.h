/*
 * archive.h - links and whose they are: look-ups in the table `links`.
 *
 * It finds what nobody may see, too: answers about one link take link_finder.h.
 */
#ifndef AGGREGATOR_API_ARCHIVE_H
#define AGGREGATOR_API_ARCHIVE_H

#include <stdint.h>

#include "aggregator/api/access.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct archived_link {
	uint64_t link_id;
	char code[128];
	struct buf url;
	char state[16], owner[256], ttl_class[16];
	char account[256];
	char space[256];
	uint32_t generation;
	int64_t created_at; /* ms */
	int64_t expires_at; /* ms; 0: never */
};

/* It was taken out by `aggregator forget`: nobody is told of it. */
#define ARCHIVE_FORGOTTEN "forgotten" /* state */

/*
 * The rows of `links` that are about one of these link_ids, by their codes:
 * that is the table's order, and the projection by_link has the codes.  The
 * table's index of link_ids passes one of a hundred granules too many for each,
 * which for a hundred links is most; for one it is 2 ms less than this.  A
 * statement with it ends with the settings: each projection that could do is
 * weighed otherwise, at 5 ms.
 */
#define ARCHIVE_HAS_ID(ids)                                                    \
	"code IN (SELECT code FROM links WHERE link_id IN (" ids               \
	")) AND link_id IN (" ids ")"
#define ARCHIVE_BY_LINK                                                        \
	" SETTINGS preferred_optimize_projection_name = 'by_link'"

/* The newest link of a code.  ERROR_NOTFOUND when the archive has none.
 * Release with archived_link_release. */
int archive_find_code(struct clickhouse *ch, const char *code,
		      struct archived_link *ret, struct error *err);

/* The link itself, also when its code has another owner by now. */
int archive_find_link(struct clickhouse *ch, uint64_t link_id,
		      struct archived_link *ret, struct error *err);

/* Calls `fn` for each of these links that the archive has, with whose it is: by
 * this access_sees_link decides.  The texts are gone after the call. */
typedef void archive_owner_fn(void *arg, uint64_t link_id,
			      const struct key_link *whose);
int archive_find_owners(struct clickhouse *ch, const uint64_t *link_ids,
			size_t count, archive_owner_fn *fn, void *arg,
			struct error *err);

void archived_link_release(struct archived_link *link);

#endif
