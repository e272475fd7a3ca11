#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/loop/loop.h"

struct world {
	struct loop *loop;
	struct error err;
	int pair[2];
	int pair2[2];
	struct loop_watch *watch, *other;
	struct loop_timer *timer;
	int calls;
	int order[8];
	int order_len;
};

static int make_world(void **state)
{
	static struct world w;

	memset(&w, 0, sizeof(w));
	w.loop = loop_new(&w.err);
	*state = &w;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, w.pair) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, w.pair2) < 0)
		return -1;
	return w.loop ? 0 : -1;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	loop_free(w->loop);
	close(w->pair[0]);
	close(w->pair[1]);
	close(w->pair2[0]);
	close(w->pair2[1]);
	return 0;
}

static void run_loop(struct world *w)
{
	assert_int_equal(loop_run(w->loop, &w->err), 0);
}

static void stop_loop(void *arg)
{
	struct world *w = arg;

	loop_stop(w->loop);
}

static void count_and_stop(void *arg)
{
	struct world *w = arg;

	w->calls++;
	loop_stop(w->loop);
}

static void send_byte(int fd)
{
	assert_int_equal(write(fd, "x", 1), 1);
}

static void on_readable(void *arg, uint32_t events)
{
	struct world *w = arg;
	char byte;

	assert_true(events & EPOLLIN);
	assert_int_equal(read(w->pair[0], &byte, 1), 1);
	count_and_stop(w);
}

static void a_readable_descriptor_calls_back(void **state)
{
	struct world *w = *state;

	w->watch = loop_watch_fd(w->loop, w->pair[0], EPOLLIN, on_readable, w,
				 &w->err);
	send_byte(w->pair[1]);
	run_loop(w);
	assert_int_equal(w->calls, 1);
}

static void a_bad_descriptor_is_an_error(void **state)
{
	struct world *w = *state;

	assert_null(
		loop_watch_fd(w->loop, -1, EPOLLIN, on_readable, w, &w->err));
	assert_int_equal(w->err.code, ERROR_SYSTEM);
}

static void free_both(void *arg, uint32_t events)
{
	struct world *w = arg;

	(void)events;
	w->calls++;
	loop_watch_free(w->watch);
	loop_watch_free(w->other);
	loop_stop(w->loop);
}

static void a_watch_freed_in_a_callback_is_not_called_again(void **state)
{
	struct world *w = *state;

	w->watch = loop_watch_fd(w->loop, w->pair[0], EPOLLIN, free_both, w,
				 &w->err);
	w->other = loop_watch_fd(w->loop, w->pair2[0], EPOLLIN, free_both, w,
				 &w->err);
	send_byte(w->pair[1]);
	send_byte(w->pair2[1]);
	run_loop(w);
	assert_int_equal(w->calls, 1);
}

static void a_watch_with_no_events_is_silent(void **state)
{
	struct world *w = *state;

	w->watch = loop_watch_fd(w->loop, w->pair[0], EPOLLIN, on_readable, w,
				 &w->err);
	assert_int_equal(loop_watch_set(w->watch, 0, &w->err), 0);
	send_byte(w->pair[1]);
	w->timer = loop_timer_new(w->loop, stop_loop, w, &w->err);
	loop_timer_set(w->timer, 20);
	run_loop(w);
	assert_int_equal(w->calls, 0);
}

static void a_timer_fires_once_and_not_early(void **state)
{
	struct world *w = *state;
	int64_t start = clock_monotonic_ms();

	w->timer = loop_timer_new(w->loop, count_and_stop, w, &w->err);
	loop_timer_set(w->timer, 30);
	run_loop(w);
	assert_int_equal(w->calls, 1);
	assert_true(clock_monotonic_ms() - start >= 29);
}

struct numbered {
	struct world *world;
	int number;
};

static void record_number(void *arg)
{
	struct numbered *n = arg;

	n->world->order[n->world->order_len++] = n->number;
}

static void timers_fire_in_the_order_of_their_times(void **state)
{
	struct world *w = *state;
	static const int delays[] = {9, 3, 15, 6, 12};
	static const int expected[] = {3, 6, 9, 12, 15};
	struct numbered n[5];
	struct loop_timer *end;

	for (int i = 0; i < 5; i++) {
		n[i] = (struct numbered){w, delays[i]};
		loop_timer_set(
			loop_timer_new(w->loop, record_number, &n[i], &w->err),
			delays[i]);
	}
	end = loop_timer_new(w->loop, stop_loop, w, &w->err);
	loop_timer_set(end, 40);
	run_loop(w);
	assert_memory_equal(w->order, expected, sizeof(expected));
}

static void a_timer_moved_later_keeps_to_its_new_time(void **state)
{
	struct world *w = *state;
	int64_t start = clock_monotonic_ms();

	w->timer = loop_timer_new(w->loop, count_and_stop, w, &w->err);
	loop_timer_set(w->timer, 5);
	loop_timer_set(w->timer, 60);
	run_loop(w);
	assert_true(clock_monotonic_ms() - start >= 59);
}

static void a_timer_moved_earlier_keeps_to_its_new_time(void **state)
{
	struct world *w = *state;
	int64_t start = clock_monotonic_ms();

	w->timer = loop_timer_new(w->loop, count_and_stop, w, &w->err);
	loop_timer_set(w->timer, 60000);
	loop_timer_set(w->timer, 5);
	run_loop(w);
	assert_true(clock_monotonic_ms() - start < 30000);
}

static void a_stopped_timer_stays_silent(void **state)
{
	struct world *w = *state;
	struct loop_timer *end = loop_timer_new(w->loop, stop_loop, w, &w->err);

	w->timer = loop_timer_new(w->loop, count_and_stop, w, &w->err);
	loop_timer_set(w->timer, 5);
	loop_timer_stop(w->timer);
	loop_timer_set(end, 20);
	run_loop(w);
	assert_int_equal(w->calls, 0);
}

static void free_itself(void *arg)
{
	struct world *w = arg;

	loop_timer_free(w->timer);
	loop_stop(w->loop);
}

static void a_timer_may_free_itself(void **state)
{
	struct world *w = *state;

	w->timer = loop_timer_new(w->loop, free_itself, w, &w->err);
	loop_timer_set(w->timer, 0);
	run_loop(w);
}

static void rearm_timer(void *arg)
{
	struct world *w = arg;

	w->calls++;
	loop_timer_set(w->timer, 0);
}

static void a_timer_rearmed_with_no_delay_does_not_starve_events(void **state)
{
	struct world *w = *state;

	w->timer = loop_timer_new(w->loop, rearm_timer, w, &w->err);
	loop_timer_set(w->timer, 0);
	w->watch = loop_watch_fd(w->loop, w->pair[0], EPOLLIN, on_readable, w,
				 &w->err);
	send_byte(w->pair[1]);
	run_loop(w);
	assert_true(w->calls >= 1);
}

static void posted_work_runs_in_order(void **state)
{
	struct world *w = *state;
	static const int expected[] = {1, 2, 3};
	struct numbered n[] = {{w, 1}, {w, 2}, {w, 3}};

	for (int i = 0; i < 3; i++)
		loop_post(w->loop, record_number, &n[i], &w->err);
	loop_post(w->loop, stop_loop, w, &w->err);
	run_loop(w);
	assert_memory_equal(w->order, expected, sizeof(expected));
}

struct poster {
	struct world *world;
	atomic_int ran;
};

static void count_post(void *arg)
{
	struct poster *p = arg;

	if (atomic_fetch_add(&p->ran, 1) + 1 == 2000)
		loop_stop(p->world->loop);
}

static void *post_many(void *arg)
{
	struct poster *p = arg;
	struct error err;

	for (int i = 0; i < 1000; i++)
		loop_post(p->world->loop, count_post, p, &err);
	return NULL;
}

static void no_post_from_two_threads_is_lost(void **state)
{
	struct world *w = *state;
	struct poster p = {.world = w};
	pthread_t a, b;

	pthread_create(&a, NULL, post_many, &p);
	pthread_create(&b, NULL, post_many, &p);
	run_loop(w);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert_int_equal(atomic_load(&p.ran), 2000);
}

static void hooks_run_after_the_events_in_order(void **state)
{
	struct world *w = *state;
	static const int expected[] = {1, 2, 3};
	struct numbered event = {w, 1}, first = {w, 2}, second = {w, 3};

	loop_on_turn_end(w->loop, record_number, &first, &w->err);
	loop_on_turn_end(w->loop, record_number, &second, &w->err);
	loop_post(w->loop, record_number, &event, &w->err);
	loop_post(w->loop, stop_loop, w, &w->err);
	run_loop(w);
	assert_memory_equal(w->order, expected, sizeof(expected));
}

static void a_stop_before_the_run_is_not_forgotten(void **state)
{
	struct world *w = *state;

	loop_stop(w->loop);
	run_loop(w);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		CASE(a_readable_descriptor_calls_back),
		CASE(a_bad_descriptor_is_an_error),
		CASE(a_watch_freed_in_a_callback_is_not_called_again),
		CASE(a_watch_with_no_events_is_silent),
		CASE(a_timer_fires_once_and_not_early),
		CASE(timers_fire_in_the_order_of_their_times),
		CASE(a_timer_moved_later_keeps_to_its_new_time),
		CASE(a_timer_moved_earlier_keeps_to_its_new_time),
		CASE(a_stopped_timer_stays_silent),
		CASE(a_timer_may_free_itself),
		CASE(a_timer_rearmed_with_no_delay_does_not_starve_events),
		CASE(posted_work_runs_in_order),
		CASE(no_post_from_two_threads_is_lost),
		CASE(hooks_run_after_the_events_in_order),
		CASE(a_stop_before_the_run_is_not_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
