/*
 * high_water_file.h - the high water of each space that this host has seen
 * (struct high_water), kept over restarts (promise 10).
 *
 * A Redis restored from an old backup has lost grants; running allocators raise
 * its cursor above what they have seen.  If all of them restart in the
 * meantime, only a file still knows.  It is one page, mapped and shared: any
 * number of threads and processes of a host may use one file.  Every number has
 * its own checksum and is written by one store, so a killed process leaves it
 * whole.  If the host loses power, the file has what the kernel has written
 * back, some seconds old at worst.  The file must not be truncated while it is
 * in use.
 */
#ifndef LINKSTORE_SPACE_HIGH_WATER_FILE_H
#define LINKSTORE_SPACE_HIGH_WATER_FILE_H

#include <stdint.h>

#include "linkstore/linkstore.h"

struct high_water_file;

/*
 * Opens or creates the file; with a NULL path notes are kept in memory only.
 * `store` must outlive it.  ERROR_CONFIG: it is not such a file, or it was
 * written for another space with this number (name, length, symbols or block
 * size differ).  ERROR_UNSAFE: an entry is damaged; find out why before you
 * move the file away.
 */
struct high_water_file *high_water_file_open(const char *path,
					     const struct linkstore *store,
					     struct error *err);
void high_water_file_free(struct high_water_file *f); /* NULL accepted */
/* Checks that the file would open, without creating or writing anything.
 * Accepts a NULL path, and a missing file in an existing folder. */
int high_water_file_check(const char *path, const struct linkstore *store,
			  struct error *err);

/* Returns zeros if nothing was seen.  Thread-safe. */
struct high_water high_water_file_get(const struct high_water_file *f,
				      const struct link_space *space);

/* Raises each value; never lowers any.  Thread-safe. */
void high_water_file_note(struct high_water_file *f,
			  const struct link_space *space,
			  const struct high_water *high_water);

#endif
