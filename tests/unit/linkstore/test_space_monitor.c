/* The monitor follows a space while its record comes, goes and changes. */
#include "linkstore/space/space_monitor.h"
#include "tests/unit/linkstore/async_fixture.h"

struct world {
	struct async_fixture *a;
	struct fixture *f;
	struct high_water_file *high_water_file;
	struct space_monitor *monitor;
	struct loop_timer *tick;
	/* The arguments of the last call. */
	int calls;
	enum space_state state;
	struct error err;
};

static void on_checked(void *arg, const struct link_space *space,
		       enum space_state state, const struct error *err)
{
	struct world *w = arg;

	assert_ptr_equal(space, w->f->space);
	assert_int_equal(space_monitor_state(w->monitor, space), state);
	assert_int_equal(err == NULL, state == SPACE_READY);
	w->calls++;
	w->state = state;
	w->err = err ? *err : (struct error){0};
	loop_stop(w->a->loop);
}

static void on_tick(void *arg)
{
	struct world *w = arg;

	loop_stop(w->a->loop);
}

static void start_monitor(struct world *w, struct async_fixture *a,
			  enum space_use use)
{
	struct space_monitor_options options = {
		.store = a->f->store,
		.use = use,
		.every = 10,
		.on_checked = on_checked,
		.arg = w,
	};

	*w = (struct world){.a = a, .f = a->f};
	w->high_water_file = high_water_file_open(NULL, a->f->store, &a->err);
	assert_non_null(w->high_water_file);
	options.high_water_file = w->high_water_file;
	w->tick = loop_timer_new(a->loop, on_tick, w, &a->err);
	w->monitor = space_monitor_new(&options, &a->err);
	assert_non_null(w->monitor);
	assert_int_equal(space_monitor_state(w->monitor, a->f->space),
			 SPACE_UNCHECKED);
	must(a, space_monitor_start(w->monitor, a->loop, a->redis, &a->err));
}

static void run_a_while(struct world *w)
{
	loop_timer_set(w->tick, 10);
	run_loop(w->a);
}

/* Runs the loop until the condition holds. */
#define until(w, condition)                                                    \
	do {                                                                   \
		for (int left = 2000; !(condition); left--) {                  \
			if (!left)                                             \
				fail_msg("never: %s", #condition);             \
			run_a_while(w);                                        \
		}                                                              \
	} while (0)

static void close_world(struct world *w)
{
	space_monitor_stop(w->monitor);
	/* Replies that are still to come go to the monitor. */
	until(w, redis_async_pending(w->a->redis) == 0);
	space_monitor_free(w->monitor);
	loop_timer_free(w->tick);
	high_water_file_free(w->high_water_file);
}

/* Runs the loop until the program was notified of this state. */
static void await_state(struct world *w, enum space_state state)
{
	until(w, w->state == state && w->calls > 0);
	assert_int_equal(space_monitor_all_ready(w->monitor),
			 state == SPACE_READY);
}

static void tell_redis(struct world *w, const char *words)
{
	freeReplyObject(redis_server_ask(&w->f->server, words));
}

static uint64_t read_cursor(struct world *w)
{
	return (uint64_t)redis_server_number(&w->f->server, "GET cursor:{s5}");
}

static uint64_t get_remembered_cursor(const struct world *w)
{
	return high_water_file_get(w->high_water_file, w->f->space).cursor;
}

static void create_space(struct world *w)
{
	enum space_created created;

	must(w->f, space_create(w->f->server.redis, w->f->space, 0, &created,
				&w->f->err));
}

static void a_space_comes_and_its_record_goes(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	tell_redis(&(struct world){.f = a->f}, "FLUSHALL");
	start_monitor(&w, a, SPACE_TO_ISSUE);
	await_state(&w, SPACE_MISSING);
	assert_int_equal(w.err.code, ERROR_NOTFOUND);
	create_space(&w);
	await_state(&w, SPACE_READY);

	redis_server_snapshot(&w.f->server);
	tell_redis(&w, "DEL space:{s5}");
	await_state(&w, SPACE_MISSING);
	redis_server_go_back(&w.f->server);
	await_state(&w, SPACE_READY);

	tell_redis(&w, "DEL cursor:{s5}");
	await_state(&w, SPACE_MISSING);
	redis_server_go_back(&w.f->server);
	await_state(&w, SPACE_READY);
	close_world(&w);
}

static void a_cursor_that_went_back_is_raised(void **state)
{
	struct async_fixture *a = *state;
	uint64_t highest;
	struct world w;

	start_monitor(&w, a, SPACE_TO_ISSUE);
	await_state(&w, SPACE_READY);
	redis_server_snapshot(&w.f->server);
	make_grant(w.f, w.f->day, 30);
	highest = read_cursor(&w);
	until(&w, get_remembered_cursor(&w) == highest);

	redis_server_go_back(&w.f->server);
	assert_true(read_cursor(&w) < highest);
	until(&w, read_cursor(&w) >= highest);
	assert_int_equal(w.state, SPACE_READY);
	close_world(&w);
}

static void on_told(void *arg, const struct error *err)
{
	struct world *w = arg;

	assert_null(err);
	w->calls++;
}

static void who_meets_redis_again_tells_it_without_a_check(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	start_monitor(&w, a, SPACE_TO_ISSUE);
	await_state(&w, SPACE_READY);
	space_monitor_stop(w.monitor);
	until(&w, redis_async_pending(a->redis) == 0);
	w.calls = 0;
	high_water_file_note(w.high_water_file, w.f->space,
			     &(struct high_water){.cursor = 40});
	space_monitor_tell(w.monitor, a->redis, on_told, &w);
	until(&w, w.calls == 1);
	assert_int_equal(read_cursor(&w), 40);
	close_world(&w);
}

static void a_redis_that_is_away_says_nothing(void **state)
{
	struct async_fixture *a = *state;
	struct world w;
	int calls;

	start_monitor(&w, a, SPACE_TO_READ);
	await_state(&w, SPACE_READY);
	/* Redis ends during the query. */
	kill(w.f->server.pid, SIGSTOP);
	until(&w, redis_async_pending(a->redis) > 0);
	calls = w.calls;
	redis_server_kill(&w.f->server);
	until(&w, !redis_async_is_up(a->redis));
	for (int i = 0; i < 10; i++)
		run_a_while(&w);
	assert_int_equal(w.calls, calls);
	assert_int_equal(space_monitor_state(w.monitor, w.f->space),
			 SPACE_READY);

	redis_server_run(&w.f->server);
	redis_server_await(&w.f->server);
	until(&w, w.calls > calls);
	assert_int_equal(w.state, SPACE_READY);
	tell_redis(&w, "DEL space:{s5}");
	await_state(&w, SPACE_MISSING);
	close_world(&w);
}

/* Several pauses end while Redis does not answer. */
static void a_space_is_not_asked_again_before_the_answer(void **state)
{
	struct async_fixture *a = *state;
	struct world w;
	size_t pending;

	start_monitor(&w, a, SPACE_TO_READ);
	await_state(&w, SPACE_READY);
	until(&w, redis_async_pending(a->redis) == 0);
	kill(w.f->server.pid, SIGSTOP);
	until(&w, redis_async_pending(a->redis) > 0);
	pending = redis_async_pending(a->redis);
	for (int i = 0; i < 10; i++)
		run_a_while(&w);
	assert_int_equal(redis_async_pending(a->redis), pending);
	w.calls = 0;
	kill(w.f->server.pid, SIGCONT);
	/* The next answer belongs to a later query. */
	until(&w, w.calls >= 2);
	close_world(&w);
}

static void a_record_of_another_space_differs(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	start_monitor(&w, a, SPACE_TO_READ);
	await_state(&w, SPACE_READY);
	tell_redis(&w, "HSET space:{s5} block_size 500");
	await_state(&w, SPACE_DIFFERS);
	assert_int_equal(w.err.code, ERROR_CONFIG);
	tell_redis(&w, "HSET space:{s5} block_size 1000");
	await_state(&w, SPACE_READY);
	close_world(&w);
}

static void a_key_must_be_in_use_to_issue_codes_only(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	tell_redis(&(struct world){.f = a->f}, "HDEL space:{s5} key:0");
	start_monitor(&w, a, SPACE_TO_ISSUE);
	await_state(&w, SPACE_KEY_UNUSED);
	close_world(&w);
	start_monitor(&w, a, SPACE_TO_READ);
	await_state(&w, SPACE_READY);
	close_world(&w);
}

/* The record becomes a string: Redis fails with an error of its own. */
static void break_record(struct world *w)
{
	tell_redis(w, "SET space:{s5} x");
}

static void what_cannot_be_read_stops_who_reads(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	start_monitor(&w, a, SPACE_TO_READ);
	await_state(&w, SPACE_READY);
	redis_server_snapshot(&w.f->server);
	break_record(&w);
	await_state(&w, SPACE_UNCHECKED);
	assert_int_equal(w.err.code, ERROR_REMOTE);
	redis_server_go_back(&w.f->server);
	await_state(&w, SPACE_READY);
	close_world(&w);
}

static void what_cannot_be_read_does_not_stop_who_issues(void **state)
{
	struct async_fixture *a = *state;
	struct world w;
	int calls;

	start_monitor(&w, a, SPACE_TO_ISSUE);
	await_state(&w, SPACE_READY);
	break_record(&w);
	until(&w, redis_async_pending(a->redis) == 0);
	calls = w.calls;
	for (int i = 0; i < 10; i++)
		run_a_while(&w);
	assert_int_equal(w.calls, calls);
	assert_int_equal(space_monitor_state(w.monitor, w.f->space),
			 SPACE_READY);
	tell_redis(&w, "DEL space:{s5}");
	await_state(&w, SPACE_MISSING);
	close_world(&w);
}

static void an_answer_after_the_stop_changes_nothing(void **state)
{
	struct async_fixture *a = *state;
	struct world w;

	kill(a->f->server.pid, SIGSTOP);
	start_monitor(&w, a, SPACE_TO_READ);
	until(&w, redis_async_pending(a->redis) > 0);
	space_monitor_stop(w.monitor);
	kill(a->f->server.pid, SIGCONT);
	until(&w, redis_async_pending(a->redis) == 0);
	assert_true(redis_async_is_up(a->redis));
	assert_int_equal(w.calls, 0);
	assert_int_equal(space_monitor_state(w.monitor, w.f->space),
			 SPACE_UNCHECKED);
	close_world(&w);
}

static void a_clock_that_is_minutes_apart_is_told(void **state)
{
	const struct link_space *space =
		((struct async_fixture *)*state)->f->space;
	char text[SPACE_CLOCK_TEXT_MAX];

	linkstore_note_clock(space, clock_real_ms());
	assert_false(space_clock_differs(space, text));
	linkstore_note_clock(space, clock_real_ms() + 10 * CLOCK_MINUTE);
	assert_true(space_clock_differs(space, text));
	assert_string_equal(text, "Redis' clock is 10m ahead of this host's");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASYNC(a_clock_that_is_minutes_apart_is_told),
		ASYNC(a_space_comes_and_its_record_goes),
		ASYNC(a_cursor_that_went_back_is_raised),
		ASYNC(who_meets_redis_again_tells_it_without_a_check),
		ASYNC(a_redis_that_is_away_says_nothing),
		ASYNC(a_space_is_not_asked_again_before_the_answer),
		ASYNC(a_record_of_another_space_differs),
		ASYNC(a_key_must_be_in_use_to_issue_codes_only),
		ASYNC(what_cannot_be_read_stops_who_reads),
		ASYNC(what_cannot_be_read_does_not_stop_who_issues),
		ASYNC(an_answer_after_the_stop_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
