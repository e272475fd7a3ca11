/*
 * space_watch.h - may links be created in the configured spaces?
 *
 * Compares every space's record in Redis with the configuration, again and
 * again: often while one is not as it should be, at leisure otherwise.  Runs on
 * one loop; the verdicts may be read from any thread.
 */
#ifndef ALLOCATOR_SPACE_WATCH_H
#define ALLOCATOR_SPACE_WATCH_H

#include "common/app/health.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/seen_file.h"

enum space_state {
	SPACE_UNCHECKED, /* Redis has not answered yet */
	SPACE_READY,
	SPACE_MISSING,	  /* it has to be created */
	SPACE_KEY_UNUSED, /* its newest key has to be added to it */
	SPACE_DIFFERS,	  /* another key, length or block size: we must stop */
};

struct space_watch;

/*
 * `on_differs` is called once, on the loop's thread, when a record and the
 * configuration do not agree: the program must not go on.  Health checks are
 * registered as "space <name>".
 */
struct space_watch *
space_watch_new(const struct linkstore *store, struct health *health,
		struct metrics *metrics, int64_t every_ms,
		void (*on_differs)(void *arg, const struct error *err),
		void *arg, struct error *err);

/* Notes the cursors that are read in `seen`, which must outlive the watch.
 * Before it starts. */
void space_watch_remember(struct space_watch *w, struct seen_file *seen);

/* Starts on a loop with its Redis connection; both must outlive the watch's
 * last call, which space_watch_stop makes. */
int space_watch_start(struct space_watch *w, struct loop *loop,
		      struct redis_async *redis, struct error *err);
/* On the loop's thread, before `redis` is freed. */
void space_watch_stop(struct space_watch *w);
void space_watch_free(struct space_watch *w); /* NULL accepted */

/* From any thread. */
enum space_state space_watch_state(const struct space_watch *w,
				   const struct link_space *space);

/* What to tell people of a space in that state.  Returns `text`. */
#define SPACE_STATE_TEXT_MAX 256
const char *space_state_describe(enum space_state state,
				 const struct link_space *space,
				 char text[SPACE_STATE_TEXT_MAX]);

#endif
