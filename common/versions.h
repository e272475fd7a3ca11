/*
 * versions.h - a value that is replaced by another while threads use it.
 *
 * Each thread is a user of its own: it holds on to the version that it took
 * last, and compares that with the newest, which is one load from a cache line
 * that is seldom written.  The lock is taken only when there is a newer one.  A
 * version is freed by whoever lets go of it last.
 */
#ifndef COMMON_VERSIONS_H
#define COMMON_VERSIONS_H

#include "common/error.h"

struct versions;

typedef void versions_free_fn(void *value);

/* Takes `first`, also when it fails, which it does for want of memory only. */
struct versions *versions_new(void *first, versions_free_fn *free_value,
			      struct error *err);
/* After all users have left.  NULL accepted. */
void versions_free(struct versions *v);

/* Takes `value`, also when it fails, which it does for want of memory only: the
 * version before stays then.  From any thread. */
int versions_replace(struct versions *v, void *value, struct error *err);

/* Of one thread.  Zeroed but for `of`, it has taken none yet. */
struct versions_user {
	struct versions *of;
	struct version *held;
};

/* The newest value, until the next call or versions_leave. */
const void *versions_use(struct versions_user *user);

/* A user that has taken none, or has left, is accepted. */
void versions_leave(struct versions_user *user);

#endif
