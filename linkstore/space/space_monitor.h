/*
 * space_monitor.h - monitors whether a program may use the configured spaces.
 *
 * It periodically compares the record of every space in Redis with the
 * configuration, on one loop, and reports the result to the program.  Until a
 * space was found correct, its codes can be neither made, found nor denied: a
 * code under another key, or a Redis that lost the space, must not look like
 * "no such link".
 *
 * Each check also notes the cursor, the moves and the keys of the record in the
 * linkstore, for all threads (space_check).  With a high-water file, data flows
 * both ways: the record's high water enters the file, which outlives Redis'
 * losses, and Redis is sent that of the file.
 */
#ifndef LINKSTORE_SPACE_SPACE_MONITOR_H
#define LINKSTORE_SPACE_SPACE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/high_water_file.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/space/space_record.h"

/* A comment above next_state() describes the transitions. */
enum space_state {
	SPACE_UNCHECKED,  /* no readable answer from Redis yet */
	SPACE_READY,	  /* it may be used */
	SPACE_MISSING,	  /* it must be created, or restored */
	SPACE_KEY_UNUSED, /* its newest key must be added to its record */
	SPACE_DIFFERS,	  /* other key, length or block size: must stop */
};

struct space_monitor;

/*
 * Called on the loop's thread after each answer about the space, also if its
 * state is unchanged: the keys that the program lacks (missing_keys_tell) or
 * the text of the error may have changed.  `err` is NULL if the space is ready,
 * otherwise as for space_check.  While Redis is away there are no answers, and
 * no calls.
 */
typedef void space_checked_fn(void *arg, const struct link_space *space,
			      enum space_state state, const struct error *err);

struct space_monitor_options {
	const struct linkstore *store;
	enum space_use use; /* intended use of the spaces */
	int64_t every; /* ms between two checks while all spaces are ready */
	struct high_water_file *high_water_file; /* NULL: none */
	space_checked_fn *on_checked;
	void *arg;
};

/* Everything that the options point to must outlive the monitor.  Every space
 * starts unchecked. */
struct space_monitor *
space_monitor_new(const struct space_monitor_options *options,
		  struct error *err);
/* Call it when its loop no longer runs, and after `redis`, whose last answers
 * the monitor receives, was freed.  NULL accepted. */
void space_monitor_free(struct space_monitor *m);

/* Starts the checks on this loop with its connection.  Call once. */
int space_monitor_start(struct space_monitor *m, struct loop *loop,
			struct redis_async *redis, struct error *err);
/* Stops the checks, if they were started: later answers change nothing and are
 * not reported.  Call it on the loop's thread or after that has ended, before
 * `redis` and the loop are freed. */
void space_monitor_stop(struct space_monitor *m);

/* Thread-safe. */
enum space_state space_monitor_state(const struct space_monitor *m,
				     const struct link_space *space);
bool space_monitor_all_ready(const struct space_monitor *m);

/* Sends Redis the high water of each space from the file, as every check does.
 * For a program that has reconnected, before the next check and on another
 * connection.  `fn` is called for each space that the file has; after a failure
 * the next check sends it again.  Call it on the thread of `redis`, between
 * _new and _free. */
void space_monitor_tell(const struct space_monitor *m,
			struct redis_async *redis, space_raised_fn *fn,
			void *arg);

/* Describes the state to users who want to create links in the space.  Returns
 * `text`. */
#define SPACE_STATE_TEXT_MAX 256
const char *space_state_describe(enum space_state state,
				 const struct link_space *space,
				 char text[SPACE_STATE_TEXT_MAX]);

/* Returns true and a remark if Redis' clock, by which links begin and end, is
 * minutes off this host's, by which events are counted. */
#define SPACE_CLOCK_TEXT_MAX 96
bool space_clock_differs(const struct link_space *space,
			 char text[SPACE_CLOCK_TEXT_MAX]);

#endif
