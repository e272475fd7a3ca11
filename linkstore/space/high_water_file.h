/*
 * high_water_file.h - the high water of each space that this host has seen
 * (struct high_water), remembered over restarts (promise 10).
 *
 * Redis restored from an old backup forgets grants; allocators that run raise
 * its cursor above what they have seen.  When all of them restart meanwhile,
 * too, only a file knows.  It is one page, mapped and shared: any number of
 * threads and of processes of a host may use one file.  Every number carries
 * its own check and is written by one store, so a killed process leaves it
 * whole; what a host that loses power keeps is what the kernel has written
 * back, some seconds old at worst.  Nobody may truncate the file while it is in
 * use.
 */
#ifndef LINKSTORE_SPACE_HIGH_WATER_FILE_H
#define LINKSTORE_SPACE_HIGH_WATER_FILE_H

#include <stdint.h>

#include "linkstore/linkstore.h"

struct high_water_file;

/*
 * Opens or creates the file; with a NULL path what is noted is kept in memory
 * only.  `store` must outlive it.  ERROR_CONFIG: it is no such file, or was
 * written for a space of this number that is another (name, length, symbols or
 * block size).  ERROR_UNSAFE: an entry is damaged; it must be looked into
 * before the file is moved away.
 */
struct high_water_file *high_water_file_open(const char *path,
					     const struct linkstore *store,
					     struct error *err);
void high_water_file_free(struct high_water_file *f); /* NULL accepted */
/* Would it open?  Nothing is created or written.  A NULL path is good, and so
 * is a file that is not there yet in a folder that is. */
int high_water_file_check(const char *path, const struct linkstore *store,
			  struct error *err);

/* Zeros when nothing was seen.  From any thread. */
struct high_water high_water_file_get(const struct high_water_file *f,
				      const struct link_space *space);

/* Raises each of it; never lowers any.  From any thread. */
void high_water_file_note(struct high_water_file *f,
			  const struct link_space *space,
			  const struct high_water *high_water);

#endif
