/* lock.h - lets only one run at a time reclaim a space */
#ifndef LINKSTORE_SPACE_LOCK_H
#define LINKSTORE_SPACE_LOCK_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

#define RECLAIM_LOCK_MAX 160

/* The lock of a space, held by one run. */
struct reclaim_lock {
	const struct link_space *space;
	int64_t ttl;		      /* ms; every settle renews it */
	char value[RECLAIM_LOCK_MAX]; /* random, and the name of the process */
};

/* ERROR_BUSY, retriable: another run holds it; the text names it. */
int reclaim_lock_take(struct redis *redis, const struct link_space *space,
		      int64_t ttl, struct reclaim_lock *ret_lock,
		      struct error *err);

/* ERROR_NOT_OWNER: it expired and is not ours any more. */
int reclaim_lock_keep(struct redis *redis, const struct reclaim_lock *lock,
		      struct error *err);

/* Releases the lock if it is still ours. */
int reclaim_lock_release(struct redis *redis, const struct reclaim_lock *lock,
			 struct error *err);

#endif
