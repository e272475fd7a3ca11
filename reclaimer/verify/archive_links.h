/*
 * archive_links.h - the blocks that have links in the archive (ClickHouse's
 * table links).
 */
#ifndef RECLAIMER_VERIFY_ARCHIVE_LINKS_H
#define RECLAIMER_VERIFY_ARCHIVE_LINKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"

#define ARCHIVE_BLOCKS_MAX 4096 /* per query */

/* Checks whether the archive can be queried.  ERROR_REMOTE: it does not answer,
 * or has no such table. */
int archive_links_probe(struct clickhouse *ch, struct error *err);

/*
 * Returns the blocks of a range (<= ARCHIVE_BLOCKS_MAX) that ever had a link of
 * this generation or a later one, in any state; ascending. ret_blocks has room
 * for all of them.
 */
int archive_links_blocks(struct clickhouse *ch, const struct link_space *space,
			 const struct block_range *range, uint64_t *ret_blocks,
			 size_t *ret_count, struct error *err);

#endif
