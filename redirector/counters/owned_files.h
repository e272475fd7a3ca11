/*
 * owned_files.h - files in a folder that several processes use; each belongs to
 * the process that made it as long as that process lives.
 *
 * The owner locks the file before it writes to it (flock, which the kernel
 * releases however the process ends).  So a process that gets the lock of a
 * file knows that the owner is gone, and becomes the owner.  Only its owner
 * renames or removes a file, and a process that has locked one checks that it
 * still has its name: so two processes never both own it.
 */
#ifndef REDIRECTOR_COUNTERS_OWNED_FILES_H
#define REDIRECTOR_COUNTERS_OWNED_FILES_H

#include <stddef.h>

#include "common/error.h"

enum {
	OWNED_NAME_SIZE = 48, /* size of a name, including its 0 */
};

/* Makes a file with a new name in the folder `dir`, empty and locked until the
 * descriptor that is returned, and every mapping of it, is gone.  -1:
 * ERROR_SYSTEM. */
int owned_file_make(int dir, const char *name, struct error *err);

/* Opens and locks a file that its owner left.  Returns -1 with ERROR_BUSY: the
 * owner lives; ERROR_NOTFOUND: the file is gone meanwhile, or its owner has not
 * written to it (after a minute it is removed); ERROR_SYSTEM. */
int owned_file_take(int dir, const char *name, struct error *err);

/* Extends a file of this process to `size` bytes, with zeros, and maps it; a
 * write to the mapping never fails because the disk is full.  The caller unmaps
 * it (munmap).  -1: ERROR_SYSTEM. */
int owned_file_map(int fd, size_t size, void **ret, struct error *err);

struct owned_files {
	char (*names)[OWNED_NAME_SIZE];
	size_t count;
};

/* Lists the files whose names begin with `prefix`, whether they have an owner
 * or not; those that were changed last come last. */
int owned_files_list(int dir, const char *prefix, struct owned_files *ret,
		     struct error *err);
void owned_files_release(struct owned_files *files);

#endif
