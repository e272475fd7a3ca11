/*
 * archive.h - was a code of a space ever issued?  What the archive of links
 * (ClickHouse, table `links`) says before a space is created.
 *
 * A Redis that has lost a space looks like one that never had it.  The archive
 * remembers every link, but for what was not yet on its way there.
 */
#ifndef ALLOCATOR_ARCHIVE_H
#define ALLOCATOR_ARCHIVE_H

#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "linkstore/linkstore.h"

/*
 * May the space be created, its cursor at `first_block`?  ERROR_UNSAFE when
 * that could issue a code or a link id that the archive knows: links of the
 * space itself, of another of its number, or of its length.  The text says
 * what to do.  ERROR_REMOTE when the archive cannot be asked.
 */
int archive_check(const struct clickhouse_config *config,
		  const struct link_space *space, uint64_t first_block,
		  struct error *err);

#endif
