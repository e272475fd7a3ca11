/*
 * periodic.h - a thread that does one thing periodically, and at once when it
 * is woken.
 *
 * `fn` runs on that thread, one call at a time, first at the start; it returns
 * the ms until its next call, unless it is woken before.
 */
#ifndef COMMON_PERIODIC_H
#define COMMON_PERIODIC_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* The next call waits until the thread is woken. */
#define PERIODIC_NEVER INT64_MAX

struct periodic;

typedef int64_t periodic_fn(struct periodic *self, void *arg);

/* Starts no thread yet. */
struct periodic *periodic_new(periodic_fn *fn, void *arg, struct error *err);
int periodic_start(struct periodic *p, struct error *err);

/* Calls `fn` soon; if it is running now, once more.  Callable from any
 * thread. */
void periodic_wake(struct periodic *p);

/* Called within `fn`: waits up to `ms` and returns true if the thread has to
 * end.  0 only checks. */
bool periodic_should_stop(struct periodic *p, int64_t ms);

/* Makes the thread end after the current call.  Callable from any thread. */
void periodic_end(struct periodic *p);

/* Waits for the current call, and ends the thread.  Not to be called within
 * `fn`.  Later wakes have no effect. */
void periodic_stop(struct periodic *p);
/* Stops the thread first.  NULL accepted. */
void periodic_free(struct periodic *p);

#endif
