#include "common/loop/loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/loop/timer_heap.h"

/* Small enough that what a turn gathers for another server is on its way while
 * the next turn's requests are read; large enough that epoll_wait costs little
 * per event. */
#define EVENTS_PER_TURN 32

struct loop_watch {
	struct loop *loop;
	loop_fd_fn *fn;
	void *arg;
	int fd;
	uint32_t events;
	bool dead;			/* freed at the end of the turn */
	struct loop_watch *prev, *next; /* in `watches`, or in `dead` */
};

struct post {
	void (*fn)(void *arg);
	void *arg;
	struct post *next;
};

struct hook {
	void (*fn)(void *arg);
	void *arg;
};

struct loop {
	int epoll_fd;
	int wake_fd;
	int64_t now;
	uint64_t turns;
	int64_t real; /* 0: not read in this turn; -1: outside of a turn */
	atomic_bool stop;
	struct loop_watch *wake;
	struct loop_watch *watches;
	struct loop_watch *dead;
	struct loop_timer *timers;
	size_t timer_count;
	struct timer_heap heap;
	struct hook *hooks;
	size_t hook_count;
	pthread_mutex_t lock; /* guards the posts */
	struct post *posts;
	struct post **posts_tail;
};

/* --- posted work ---------------------------------------------------------- */

static void wake_loop(struct loop *loop)
{
	uint64_t one = 1;
	ssize_t n;

	do
		n = write(loop->wake_fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
}

static struct post *take_posts(struct loop *loop)
{
	struct post *first;

	pthread_mutex_lock(&loop->lock);
	first = loop->posts;
	loop->posts = NULL;
	loop->posts_tail = &loop->posts;
	pthread_mutex_unlock(&loop->lock);
	return first;
}

static void on_wake(void *arg, uint32_t events)
{
	struct loop *loop = arg;
	struct post *post, *next;
	uint64_t count;

	(void)events;
	if (read(loop->wake_fd, &count, sizeof(count)) < 0)
		return;
	for (post = take_posts(loop); post; post = next) {
		next = post->next;
		post->fn(post->arg);
		free(post);
	}
}

int loop_post(struct loop *loop, void (*fn)(void *arg), void *arg,
	      struct error *err)
{
	struct post *post = malloc(sizeof(*post));
	bool first;

	if (!post)
		return error_set_nomem(err);
	*post = (struct post){fn, arg, NULL};
	pthread_mutex_lock(&loop->lock);
	first = !loop->posts;
	*loop->posts_tail = post;
	loop->posts_tail = &post->next;
	/* Called with the lock held: once it is released, the posted work may
	 * run and end the loop. */
	if (first)
		wake_loop(loop);
	pthread_mutex_unlock(&loop->lock);
	return 0;
}

/* --- life ----------------------------------------------------------------- */

static void free_dead(struct loop *loop)
{
	struct loop_watch *watch;

	while ((watch = loop->dead)) {
		loop->dead = watch->next;
		free(watch);
	}
}

static int open_descriptors(struct loop *loop, struct error *err)
{
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return error_set_errno(err, "epoll_create1");
	loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (loop->wake_fd < 0)
		return error_set_errno(err, "eventfd");
	loop->wake =
		loop_watch_fd(loop, loop->wake_fd, EPOLLIN, on_wake, loop, err);
	return loop->wake ? 0 : -1;
}

struct loop *loop_new(struct error *err)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop) {
		error_set_nomem(err);
		return NULL;
	}
	loop->epoll_fd = loop->wake_fd = -1;
	loop->real = -1;
	loop->posts_tail = &loop->posts;
	loop->now = clock_monotonic_ms();
	pthread_mutex_init(&loop->lock, NULL);
	if (open_descriptors(loop, err) < 0) {
		loop_free(loop);
		return NULL;
	}
	return loop;
}

void loop_free(struct loop *loop)
{
	struct post *post, *next;

	if (!loop)
		return;
	while (loop->watches)
		loop_watch_free(loop->watches);
	/* The analyser does not see that freeing one advances loop->timers. */
	while (loop->timers)
		loop_timer_free(loop->timers); /* NOLINT(*-unix.Malloc) */
	free_dead(loop);
	for (post = take_posts(loop); post; post = next) {
		next = post->next;
		free(post);
	}
	timer_heap_release(&loop->heap);
	free(loop->hooks);
	if (loop->wake_fd >= 0)
		close(loop->wake_fd);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	pthread_mutex_destroy(&loop->lock);
	free(loop);
}

/* --- turns ---------------------------------------------------------------- */

static int wait_ms(const struct loop *loop)
{
	int64_t next = timer_heap_next(&loop->heap);
	int64_t delay;

	if (next == TIMER_UNARMED)
		return -1;
	delay = next - clock_monotonic_ms();
	if (delay <= 0)
		return 0;
	return delay > 60000 ? 60000 : (int)delay;
}

static void run_timers(struct loop *loop)
{
	/* A timer that is armed again with no delay waits for the next turn, so
	 * that the loop still serves its descriptors. */
	size_t left = loop->heap.count;
	struct loop_timer *timer;

	while (left-- > 0 && (timer = timer_heap_pop(&loop->heap, loop->now)))
		timer->fn(timer->arg);
}

static int run_turn(struct loop *loop, struct error *err)
{
	struct epoll_event events[EVENTS_PER_TURN];
	struct loop_watch *watch;
	int i, n;
	size_t h;

	n = epoll_wait(loop->epoll_fd, events, EVENTS_PER_TURN, wait_ms(loop));
	if (n < 0 && errno != EINTR)
		return error_set_errno(err, "epoll_wait");
	loop->now = clock_monotonic_ms();
	loop->turns++;
	loop->real = 0;
	for (i = 0; i < n; i++) {
		watch = events[i].data.ptr;
		if (!watch->dead)
			watch->fn(watch->arg, events[i].events);
	}
	run_timers(loop);
	for (h = 0; h < loop->hook_count; h++)
		loop->hooks[h].fn(loop->hooks[h].arg);
	free_dead(loop);
	return 0;
}

int loop_run(struct loop *loop, struct error *err)
{
	int status = 0;

	while (status == 0 && !atomic_load(&loop->stop))
		status = run_turn(loop, err);
	loop->real = -1;
	atomic_store(&loop->stop, false);
	return status;
}

void loop_stop(struct loop *loop)
{
	/* The lock is held so that this call is finished with the loop when a
	 * thread that joins the loop's thread frees it. */
	pthread_mutex_lock(&loop->lock);
	atomic_store(&loop->stop, true);
	wake_loop(loop);
	pthread_mutex_unlock(&loop->lock);
}

int64_t loop_now_ms(const struct loop *loop)
{
	return loop->now;
}

uint64_t loop_turns(const struct loop *loop)
{
	return loop->turns;
}

int64_t loop_real_ms(struct loop *loop)
{
	if (loop->real < 0)
		return clock_real_ms();
	if (loop->real == 0)
		loop->real = clock_real_ms();
	return loop->real;
}

int loop_on_turn_end(struct loop *loop, void (*fn)(void *arg), void *arg,
		     struct error *err)
{
	struct hook *hooks =
		realloc(loop->hooks, (loop->hook_count + 1) * sizeof(*hooks));

	if (!hooks)
		return error_set_nomem(err);
	loop->hooks = hooks;
	hooks[loop->hook_count++] = (struct hook){fn, arg};
	return 0;
}

/* --- descriptors ---------------------------------------------------------- */

static int update_epoll_watch(struct loop_watch *watch, int op,
			      struct error *err)
{
	struct epoll_event event = {.events = watch->events, .data.ptr = watch};

	if (epoll_ctl(watch->loop->epoll_fd, op, watch->fd, &event) < 0)
		return error_set_errno(err, "epoll_ctl");
	return 0;
}

struct loop_watch *loop_watch_fd(struct loop *loop, int fd, uint32_t events,
				 loop_fd_fn *fn, void *arg, struct error *err)
{
	struct loop_watch *watch = malloc(sizeof(*watch));

	if (!watch) {
		error_set_nomem(err);
		return NULL;
	}
	*watch = (struct loop_watch){.loop = loop,
				     .fn = fn,
				     .arg = arg,
				     .fd = fd,
				     .events = events,
				     .next = loop->watches};
	if (update_epoll_watch(watch, EPOLL_CTL_ADD, err) < 0) {
		free(watch);
		return NULL;
	}
	if (loop->watches)
		loop->watches->prev = watch;
	loop->watches = watch;
	return watch;
}

int loop_watch_set(struct loop_watch *watch, uint32_t events, struct error *err)
{
	if (watch->events == events)
		return 0;
	watch->events = events;
	return update_epoll_watch(watch, EPOLL_CTL_MOD, err);
}

/* The turn's events may still refer to it: the memory is freed at its end. */
static void mark_watch_dead(struct loop_watch *watch)
{
	struct loop *loop = watch->loop;

	if (watch->prev)
		watch->prev->next = watch->next;
	else
		loop->watches = watch->next;
	if (watch->next)
		watch->next->prev = watch->prev;
	watch->dead = true;
	watch->next = loop->dead;
	loop->dead = watch;
}

void loop_watch_free(struct loop_watch *watch)
{
	struct error ignored;

	if (!watch)
		return;
	update_epoll_watch(watch, EPOLL_CTL_DEL, &ignored);
	mark_watch_dead(watch);
}

void loop_watch_close(struct loop_watch *watch)
{
	close(watch->fd);
	mark_watch_dead(watch);
}

/* --- timers --------------------------------------------------------------- */

struct loop_timer *loop_timer_new(struct loop *loop, loop_timer_fn *fn,
				  void *arg, struct error *err)
{
	struct loop_timer *timer = malloc(sizeof(*timer));

	if (!timer) {
		error_set_nomem(err);
		return NULL;
	}
	if (timer_heap_reserve(&loop->heap, loop->timer_count + 1, err) < 0) {
		free(timer);
		return NULL;
	}
	*timer = (struct loop_timer){.loop = loop,
				     .fn = fn,
				     .arg = arg,
				     .when = TIMER_UNARMED,
				     .next = loop->timers};
	if (loop->timers)
		loop->timers->prev = timer;
	loop->timers = timer;
	loop->timer_count++;
	return timer;
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
	int64_t now = timer->loop->now;

	timer_heap_set(&timer->loop->heap, timer,
		       delay_ms < TIMER_UNARMED - now ? now + delay_ms
						      : TIMER_UNARMED);
}

void loop_timer_stop(struct loop_timer *timer)
{
	timer_heap_set(&timer->loop->heap, timer, TIMER_UNARMED);
}

void loop_timer_free(struct loop_timer *timer)
{
	struct loop *loop;

	if (!timer)
		return;
	loop = timer->loop;
	timer_heap_remove(&loop->heap, timer);
	if (timer->prev)
		timer->prev->next = timer->next;
	else
		loop->timers = timer->next;
	if (timer->next)
		timer->next->prev = timer->prev;
	loop->timer_count--;
	free(timer);
}
