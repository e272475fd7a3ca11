/*
 * space_monitor.h - may a program use the configured spaces?
 *
 * Compares the record of every space in Redis with the configuration, again and
 * again on one loop, and tells the program what it finds.  Until a space was
 * found right, its codes can be neither made, found nor denied: a code under
 * another key, or a Redis that lost the space, must not read as "no such link".
 *
 * Each check also notes the cursor, the moves and the keys of the record in the
 * linkstore, for all threads (space_check).  With a high-water file it moves
 * both ways: what the record has reached enters the file, which outlives a
 * Redis that forgets, and Redis is told what the file has.
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
#include "linkstore/space/record.h"

/* What leads from one to another is written above next_state(). */
enum space_state {
	SPACE_UNCHECKED,  /* Redis has said nothing of it that can be read */
	SPACE_READY,	  /* it may be used */
	SPACE_MISSING,	  /* it has to be created, or restored */
	SPACE_KEY_UNUSED, /* its newest key has to be added to it */
	SPACE_DIFFERS,	  /* another key, length or block size: we must stop */
};

struct space_monitor;

/*
 * Called on the loop's thread after each answer that says something of the
 * space, also when its state is as before: the keys that the program lacks
 * (missing_keys_tell) or the words of the error may be others.  `err` is NULL
 * when the space is ready, else as space_check.  A Redis that is away says
 * nothing of a space, and nothing is called.
 */
typedef void space_checked_fn(void *arg, const struct link_space *space,
			      enum space_state state, const struct error *err);

struct space_monitor_options {
	const struct linkstore *store;
	enum space_use use; /* what the spaces are checked for */
	int64_t every; /* ms between two checks while all spaces are ready */
	struct high_water_file
		*high_water_file; /* NULL: nothing is remembered nor told */
	space_checked_fn *on_checked;
	void *arg;
};

/* What the options point to must outlive it.  Every space is unchecked. */
struct space_monitor *
space_monitor_new(const struct space_monitor_options *options,
		  struct error *err);
/* Once its loop no longer runs, and after `redis`, whose last answers it gets.
 * NULL accepted. */
void space_monitor_free(struct space_monitor *m);

/* Begins to check, on this loop with its connection.  Call once. */
int space_monitor_start(struct space_monitor *m, struct loop *loop,
			struct redis_async *redis, struct error *err);
/* Ends it, if it was started: answers that come later change nothing and are
 * told to nobody.  On the loop's thread or when that has ended, before `redis`
 * and the loop are freed. */
void space_monitor_stop(struct space_monitor *m);

/* From any thread. */
enum space_state space_monitor_state(const struct space_monitor *m,
				     const struct link_space *space);
bool space_monitor_all_ready(const struct space_monitor *m);

/* Tells Redis what the high-water file has of each space, as every check does:
 * for a program that meets Redis again, before the next check and on another
 * connection.  `fn` is called for each space that there is something of; what
 * cannot be sent is told by the next check.  From the thread of `redis`,
 * between _new and _free. */
void space_monitor_tell(const struct space_monitor *m,
			struct redis_async *redis, space_raised_fn *fn,
			void *arg);

/* What to tell people who want to create links in a space of that state.
 * Returns `text`. */
#define SPACE_STATE_TEXT_MAX 256
const char *space_state_describe(enum space_state state,
				 const struct link_space *space,
				 char text[SPACE_STATE_TEXT_MAX]);

/* True, and a remark: Redis' clock, by which links begin and end, is minutes
 * off this host's, by which events are counted. */
#define SPACE_CLOCK_TEXT_MAX 96
bool space_clock_differs(const struct link_space *space,
			 char text[SPACE_CLOCK_TEXT_MAX]);

#endif
