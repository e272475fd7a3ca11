/*
 * owned_files.h - files in a folder of several processes, each of which belongs
 * to the process that made it for as long as that lives.
 *
 * The owner has the file locked (flock, which the kernel drops however the
 * process ends) from before it writes to it.  Whoever gets the lock of a file
 * therefore knows that its owner is gone, and is its owner then.  A file is
 * renamed or removed only by its owner, and who has locked one looks whether it
 * still has its name: so two that come at the same time never both have it.
 */
#ifndef REDIRECTOR_OWNED_FILES_H
#define REDIRECTOR_OWNED_FILES_H

#include <stddef.h>

#include "common/error.h"

enum {
	OWNED_NAME_SIZE = 48, /* of a name, with its 0 */
};

/* Makes a file of a new name in the folder `dir`, empty and locked until the
 * descriptor that is returned, and every mapping of it, is gone.  -1:
 * ERROR_SYSTEM. */
int owned_file_make(int dir, const char *name, struct error *err);

/* Opens and locks one that its owner left.  -1: ERROR_BUSY: the owner lives;
 * ERROR_NOTFOUND: it is gone meanwhile, or its owner never wrote to it, and it
 * is removed; ERROR_SYSTEM. */
int owned_file_take(int dir, const char *name, struct error *err);

/* Gives a file of this process `size` bytes, zeros where it was shorter, and
 * maps it; a write to the mapping never fails for want of room on the disk. The
 * mapping is the caller's to munmap.  -1: ERROR_SYSTEM. */
int owned_file_map(int fd, size_t size, void **ret, struct error *err);

struct owned_files {
	char (*names)[OWNED_NAME_SIZE];
	size_t count;
};

/* The files whose names begin with `prefix`, those that were changed last at
 * the end; whoever owns them. */
int owned_files_list(int dir, const char *prefix, struct owned_files *ret,
		     struct error *err);
void owned_files_release(struct owned_files *files);

#endif
