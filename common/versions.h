/*
 * versions.h - a value that is replaced while threads use it.
 *
 * Each thread is a user of its own: it holds the version that it took last, and
 * compares that with the newest, which is one load from a cache line that is
 * seldom written.  The lock is taken only if there is a newer one.  The last
 * user to let go of a version frees it.
 */
#ifndef COMMON_VERSIONS_H
#define COMMON_VERSIONS_H

#include "common/error.h"

struct versions;

typedef void versions_free_fn(void *value);

/* Takes ownership of `first`, also on failure, which only means out of
 * memory. */
struct versions *versions_new(void *first, versions_free_fn *free_value,
			      struct error *err);
/* Call it after all users have left.  NULL accepted. */
void versions_free(struct versions *v);

/* Takes ownership of `value`, also on failure, which only means out of memory:
 * the previous version then stays.  Callable from any thread. */
int versions_replace(struct versions *v, void *value, struct error *err);

/* A user belongs to one thread.  It starts zeroed except for `of`, without a
 * version. */
struct versions_user {
	struct versions *of;
	struct shared_version *held;
};

/* Returns the newest value, valid until the next call or versions_leave. */
const void *versions_use(struct versions_user *user);

/* Lets go of the user's version; a user without one is accepted. */
void versions_leave(struct versions_user *user);

#endif
