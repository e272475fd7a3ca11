/* access_unknown.h - names in a log that were not understood, for people. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_UNKNOWN_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_UNKNOWN_H

#include <stddef.h>

#include "common/buf.h"

enum {
	ACCESS_UNKNOWN_MAX = 40
};

/* Start from zeros, end with access_unknown_release. */
struct access_unknown {
	struct buf names; /* with NULs between them */
	size_t count;	  /* there may be more than are kept */
};

void access_unknown_release(struct access_unknown *u);

/* Keeps the first ACCESS_UNKNOWN_MAX that differ. */
void access_unknown_note(struct access_unknown *u, const char *name,
			 size_t len);

/* Appends them to a text, with commas between; nothing if there are none. */
void access_unknown_put(const struct access_unknown *u, struct buf *to);

#endif
