/*
 * wake.h - condition variables that wait on the monotonic clock, so that a
 * clock that is set neither wakes a thread nor lets it sleep on.
 */
#ifndef COMMON_WAKE_H
#define COMMON_WAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns 0 or an errno.  Ends with pthread_cond_destroy. */
int wake_init(pthread_cond_t *wake);

/* Waits, under the lock, to be woken (also for nothing, as with every condition
 * variable).  False: clock_monotonic_ms has come to at_ms. */
bool wake_wait(pthread_cond_t *wake, pthread_mutex_t *lock, int64_t at_ms);

#endif
