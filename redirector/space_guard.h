/*
 * space_guard.h - keeps an eye on the spaces' records in Redis.
 *
 * Every `cursor_every` each space's record is compared with the configuration
 * and its cursor noted in the linkstore, for all threads.  Until a space was
 * found right, its codes can be neither found nor denied: a code under another
 * key, or a Redis that lost the space, must not read as "no such link".
 */
#ifndef REDIRECTOR_SPACE_GUARD_H
#define REDIRECTOR_SPACE_GUARD_H

#include <stddef.h>

#include "common/app/health.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

enum space_state {
	SPACE_WAITING,
	SPACE_READY,
};

struct space_guard;

/* The configuration differs from the space's record: the program has to end.
 * On the loop's thread. */
typedef void space_fatal_fn(void *arg, const struct error *err);

/* `check` is reported up once all spaces are ready; may be NULL. */
struct space_guard *space_guard_new(const struct linkstore *store,
				    struct health_check *check,
				    struct metrics *metrics,
				    space_fatal_fn *on_fatal, void *arg,
				    struct error *err);
/* After space_guard_stop, if it was started.  NULL accepted. */
void space_guard_free(struct space_guard *w);

/* Begins to look, on this loop, with its connection.  Call once. */
int space_guard_start(struct space_guard *w, struct loop *loop,
		      struct redis_async *redis, int64_t every,
		      struct error *err);

/* Ends it.  On the loop's thread or when that has ended, after its connection
 * was freed and before the loop is. */
void space_guard_stop(struct space_guard *w);

/* From any thread. */
enum space_state space_guard_state(const struct space_guard *w,
				   const struct link_space *space);

#endif
