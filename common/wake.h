/*
 * wake.h - condition variables that wait on the monotonic clock, so that
 * setting the real-time clock neither wakes a thread nor makes it sleep longer.
 */
#ifndef COMMON_WAKE_H
#define COMMON_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns 0 or an errno.  End it with pthread_cond_destroy. */
int wake_init(pthread_cond_t *wake);

/* Called with the lock held: waits to be woken (also spuriously, as with every
 * condition variable).  Returns false once clock_monotonic_ms has reached
 * at_ms. */
bool wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t at_ms);

#endif
