/*
 * invalidation.h - the message that tells caches of links that stored links
 * have changed.
 *
 * edit.lua publishes the codes of the links that it changes.  A message is
 * codes separated by one space, or "*", which an operator can publish and which
 * says that any link may have changed.
 */
#ifndef LINKSTORE_LINK_INVALIDATION_H
#define LINKSTORE_LINK_INVALIDATION_H

#include <stddef.h>

/* The channel; edit.lua has its name as well. */
#define INVALIDATION_CHANNEL "link-changes"

/* Longer messages are ignored. */
#define INVALIDATION_MAX 65536

enum invalidation {
	INVALIDATION_CODES,
	INVALIDATION_ALL,
	INVALIDATION_MALFORMED,
};

/* `code` is not NUL-terminated; it has 1 to 64 characters that codes may
 * have. */
typedef void invalidation_fn(void *arg, const char *code, size_t len);

/* Calls `fn` with each code of a message, or with none if part of it is
 * malformed. */
enum invalidation invalidation_read(const char *message, size_t len,
				    invalidation_fn *fn, void *arg);

#endif
