/*
 * periodic.h - a thread that does one thing now and then, and whenever it is
 * asked to.
 *
 * `fn` runs on that thread, one call at a time, first of all at once; it
 * returns in how many ms it is to be called again, unless it is asked before.
 */
#ifndef COMMON_PERIODIC_H
#define COMMON_PERIODIC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Not before it is asked. */
#define PERIODIC_NEVER INT64_MAX

struct periodic;

typedef int64_t periodic_fn(struct periodic *self, void *arg);

/* Starts nothing yet. */
struct periodic *periodic_new(periodic_fn *fn, void *arg, struct error *err);
int periodic_start(struct periodic *p, struct error *err);

/* Calls `fn` soon; once more when it is running now.  From any thread. */
void periodic_wake(struct periodic *p);

/* Waits from within `fn`, for up to `ms`, to be asked to end: true.  0 only
 * looks. */
bool periodic_should_stop(struct periodic *p, int64_t ms);

/* Asks it to end after the call that is under way.  From any thread. */
void periodic_end(struct periodic *p);

/* Waits for a call under way, and ends the thread.  Not from within `fn`.  What
 * asks later asks for nothing. */
void periodic_stop(struct periodic *p);
/* Stops it first.  NULL accepted. */
void periodic_free(struct periodic *p);

#endif
