/*
 * invalidation.h - what is published when stored links have changed, for those
 * who remember links.
 *
 * edit.lua publishes the code of the link that it changes.  By hand, more can
 * be said at a time: a message is codes with one space between, or "*", which
 * says that any link may have changed.
 */
#ifndef LINKSTORE_LINK_INVALIDATION_H
#define LINKSTORE_LINK_INVALIDATION_H

#include <stddef.h>

/* The channel; edit.lua has its name, too. */
#define INVALIDATION_CHANNEL "link-changes"

/* Longer messages are not read. */
#define INVALIDATION_MAX 65536

enum invalidation {
	INVALIDATION_CODES,
	INVALIDATION_ALL,
	INVALIDATION_MALFORMED,
};

/* `code` is not NUL-terminated, and of 1 to 64 characters that codes have. */
typedef void invalidation_fn(void *arg, const char *code, size_t len);

/* Calls `fn` with each code of a message; with none unless the whole of it can
 * be read. */
enum invalidation invalidation_read(const char *message, size_t len,
				    invalidation_fn *fn, void *arg);

#endif
