/*
 * loop.h - one thread's event loop: descriptors, timers, posted work.
 *
 * A loop belongs to the thread that runs it.  Only loop_post and loop_stop may
 * be called from other threads; everything else is called on the loop's own
 * thread, or before it runs.
 */
#ifndef COMMON_LOOP_LOOP_H
#define COMMON_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct loop;
struct loop_watch;
struct loop_timer;

struct loop *loop_new(struct error *err);
/* Frees remaining watches and timers as well.  NULL accepted. */
void loop_free(struct loop *loop);

/* Runs until loop_stop.  Returns -1 only if epoll itself fails. */
int loop_run(struct loop *loop, struct error *err);
void loop_stop(struct loop *loop);

/* `events` are EPOLLIN | EPOLLOUT | EPOLLRDHUP (level-triggered).  With
 * EPOLLEXCLUSIVE only one of several loops that watch a descriptor is woken,
 * and the watch cannot be changed. */
typedef void loop_fd_fn(void *arg, uint32_t events);
struct loop_watch *loop_watch_fd(struct loop *loop, int fd, uint32_t events,
				 loop_fd_fn *fn, void *arg, struct error *err);
int loop_watch_set(struct loop_watch *watch, uint32_t events,
		   struct error *err);
/* Safe inside any callback, its own included.  Does not close the fd. */
void loop_watch_free(struct loop_watch *watch);
/* The same, and closes the fd, which must have no duplicate: closing alone then
 * ends the watch, which saves a system call. */
void loop_watch_close(struct loop_watch *watch);

/* A one-shot timer; starts unarmed.  Re-arming moves it. */
typedef void loop_timer_fn(void *arg);
struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn *fn,
				  void *arg, struct error *err);
void loop_timer_set(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
void loop_timer_free(struct loop_timer *timer);

/*
 * Calls fn once per turn, after the turn's events and before waiting again:
 * this is the place to send in one batch what the turn's requests have
 * gathered.  Hooks run in the order they were added and live as long as the
 * loop.
 */
int loop_on_turn_end(struct loop *loop, void (*fn)(void *arg), void *arg,
		     struct error *err);

/* Runs fn(arg) on the loop's thread, soon.  Callable from any thread. */
int loop_post(struct loop *loop, void (*fn)(void *arg), void *arg,
	      struct error *err);

/* Returns the monotonic clock in ms, read once per turn. */
int64_t loop_now_ms(const struct loop *loop);
/* Returns the number of turns that have begun, for work that is done once per
 * turn. */
uint64_t loop_turns(const struct loop *loop);
/* Returns the real-time clock in ms, read once per turn, at the first call. */
int64_t loop_real_ms(struct loop *loop);

#endif
