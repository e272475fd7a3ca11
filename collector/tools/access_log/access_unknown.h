/* access_unknown.h - the unknown names in a log, to show to people. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_UNKNOWN_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_UNKNOWN_H

#include <stddef.h>

#include "common/buf.h"

enum {
	ACCESS_UNKNOWN_MAX = 40
};

/* Start from zeros, end with access_unknown_release. */
struct access_unknown {
	struct buf names; /* separated by NULs */
	size_t count;	  /* may be more than are kept */
};

void access_unknown_release(struct access_unknown *u);

/* Notes a name; keeps the first ACCESS_UNKNOWN_MAX different ones. */
void access_unknown_note(struct access_unknown *u, const char *name,
			 size_t len);

/* Appends the names to a text, separated by commas; appends nothing if there
 * are none. */
void access_unknown_put(const struct access_unknown *u, struct buf *to);

#endif
