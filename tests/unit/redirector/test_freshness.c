/* Which cached links may still be used, after which changes. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "codespace/alias.h"
#include "common/clock.h"
#include "redirector/lookup/freshness.h"

/* The additional time that the machine has slept, by its clocks: this replaces
 * libc's function. */
static _Atomic int64_t slept;

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int clock_gettime(clockid_t id, struct timespec *ts)
{
	int status = (int)syscall(SYS_clock_gettime, id, ts);

	if (id == CLOCK_BOOTTIME)
		ts->tv_sec += slept / CLOCK_SECOND;
	return status;
}

#define BOUND FRESHNESS_BOUND_MS
/* The run_ids of two servers. */
#define HERE  "1111111111111111111111111111111111111111"
#define THERE "2222222222222222222222222222222222222222"

/* One reader, and the codes that it was called with. */
struct world {
	struct loop *loop;
	struct freshness *shared;
	struct freshness_reader *reader;
	char heard[256];
	size_t count;
	struct freshness_mark asked; /* before the sleep */
};

static void on_changed(void *arg, struct http_slice code)
{
	struct world *w = arg;
	size_t len = strlen(w->heard);

	w->count++;
	if (len + code.len + 2 < sizeof(w->heard))
		snprintf(w->heard + len, sizeof(w->heard) - len, "%.*s ",
			 (int)code.len, code.data);
}

static int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct error err;

	w->loop = loop_new(&err);
	w->shared = freshness_new(&err);
	w->reader =
		freshness_reader_new(w->shared, w->loop, on_changed, w, &err);
	assert_non_null(w->reader);
	*state = w;
	return 0;
}

static int drop_world(void **state)
{
	struct world *w = *state;

	freshness_reader_free(w->reader);
	freshness_free(w->shared);
	loop_free(w->loop);
	free(w);
	return 0;
}

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void note_change(struct world *w, const char *code)
{
	freshness_note(w->shared, code, strlen(code));
}

static struct freshness_mark take_mark(struct world *w, int64_t now)
{
	freshness_sync(w->reader);
	return freshness_mark(w->reader, now);
}

static bool is_fresh(struct world *w, struct freshness_mark asked, int64_t now)
{
	freshness_sync(w->reader);
	return freshness_is_fresh(w->reader, &asked, now);
}

static bool is_void(struct world *w, struct freshness_mark asked)
{
	freshness_sync(w->reader);
	return freshness_is_void(w->reader, &asked);
}

static bool has_changed_since(struct world *w, const char *code,
			      struct freshness_mark asked)
{
	freshness_sync(w->reader);
	return freshness_changed_since(w->reader, slice_of(code), &asked);
}

/* --- fresh ---------------------------------------------------------------- */

static void without_a_subscription_an_answer_is_fresh_for_a_moment(void **state)
{
	struct freshness_mark asked = take_mark(*state, 1000);

	assert_true(is_fresh(*state, asked, 1000 + BOUND - 1));
	assert_false(is_fresh(*state, asked, 1000 + BOUND));
}

static void with_one_it_is_fresh_while_heartbeats_come(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked;

	freshness_resume(w->shared, HERE);
	asked = take_mark(w, 1000);
	freshness_confirm(w->shared, 9000);
	assert_true(is_fresh(w, asked, 9000 + BOUND - 1));
	assert_false(is_fresh(w, asked, 9000 + BOUND));
	freshness_confirm(w->shared, 20000);
	assert_true(is_fresh(w, asked, 20000));
}

static void what_was_asked_before_the_subscription_is_not_covered(void **state)
{
	struct world *w = *state;
	struct freshness_mark before = take_mark(w, 1000), after;

	freshness_resume(w->shared, HERE);
	after = take_mark(w, 1000);
	freshness_confirm(w->shared, 9000);
	assert_false(is_fresh(w, before, 9000));
	assert_true(is_fresh(w, after, 9000));
}

static void a_subscription_that_has_ended_covers_nothing(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked;

	freshness_resume(w->shared, HERE);
	asked = take_mark(w, 1000);
	freshness_confirm(w->shared, 9000);
	freshness_suspend(w->shared);
	assert_false(is_fresh(w, asked, 9000));
	freshness_resume(w->shared, HERE);
	freshness_confirm(w->shared, 9000);
	assert_false(is_fresh(w, asked, 9000));
}

static void another_redis_covers_nothing_that_was_asked_before(void **state)
{
	struct world *w = *state;
	struct freshness_mark before, after;

	freshness_resume(w->shared, HERE);
	before = take_mark(w, 1000);
	freshness_distrust(w->reader, 1000);
	after = take_mark(w, 1001);
	freshness_confirm(w->shared, 9000);
	assert_false(is_fresh(w, before, 9000));
	assert_true(is_fresh(w, after, 9000));
}

static void changes_of_others_take_nothing_of_it(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked;

	freshness_resume(w->shared, HERE);
	asked = take_mark(w, 1000);
	for (int i = 0; i < 3 * FRESHNESS_RING; i++) {
		note_change(w, "other");
		if (i % FRESHNESS_RING == 0)
			freshness_sync(w->reader);
	}
	freshness_confirm(w->shared, 9000);
	assert_true(is_fresh(w, asked, 9000));
	assert_false(is_void(w, asked));
}

/* --- changed -------------------------------------------------------------- */

static void each_change_is_heard_of_once_and_in_order(void **state)
{
	struct world *w = *state;

	note_change(w, "a");
	freshness_resume(w->shared, HERE);
	note_change(w, "b");
	freshness_sync(w->reader);
	note_change(w, "a");
	freshness_sync(w->reader);
	freshness_sync(w->reader);
	assert_string_equal(w->heard, "a b a ");
}

static void an_answer_from_before_a_change_is_known(void **state)
{
	struct world *w = *state;
	struct freshness_mark before = take_mark(w, 1000), after;

	assert_false(has_changed_since(w, "code", before));
	note_change(w, "code");
	note_change(w, "other");
	after = take_mark(w, 1000);
	assert_true(has_changed_since(w, "code", before));
	assert_false(has_changed_since(w, "cod", before));
	assert_false(has_changed_since(w, "codes", before));
	assert_false(has_changed_since(w, "code", after));
}

/* The changes since then are unknown. */
static void an_answer_that_took_too_long_counts_as_changed(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked = take_mark(w, 1000);

	for (int i = 0; i <= FRESHNESS_RING; i++) {
		note_change(w, "other");
		freshness_sync(w->reader);
	}
	assert_true(has_changed_since(w, "code", asked));
	assert_false(is_void(w, asked));
}

static void a_code_of_any_length_is_told_apart(void **state)
{
	struct world *w = *state;
	char longest[ALIAS_TEXT_MAX];
	struct freshness_mark asked = take_mark(w, 1000);

	memset(longest, 'x', ALIAS_LENGTH_MAX);
	longest[ALIAS_LENGTH_MAX] = '\0';
	note_change(w, longest);
	assert_true(has_changed_since(w, longest, asked));
	assert_false(has_changed_since(w, longest + 1, asked));
}

/* --- void ----------------------------------------------------------------- */

static void when_all_may_have_changed_nothing_stands_in(void **state)
{
	struct world *w = *state;
	struct freshness_mark before = take_mark(w, 1000), after;

	freshness_resume(w->shared, HERE);
	assert_false(is_void(w, before));
	freshness_void(w->shared);
	after = take_mark(w, 1000);
	assert_true(is_void(w, before));
	assert_true(has_changed_since(w, "code", before));
	assert_false(is_void(w, after));
	assert_false(has_changed_since(w, "code", after));
}

static void who_is_too_far_behind_takes_all_for_void(void **state)
{
	struct world *w = *state;
	struct freshness_mark before = take_mark(w, 1000);

	for (int i = 0; i < FRESHNESS_RING; i++)
		note_change(w, "other");
	assert_false(is_void(w, before));
	assert_int_equal(w->count, FRESHNESS_RING);
	for (int i = 0; i <= FRESHNESS_RING; i++)
		note_change(w, "other");
	assert_true(is_void(w, before));
	assert_false(is_void(w, take_mark(w, 1000)));
}

/* --- sleep ---------------------------------------------------------------- */

/* This makes the real sleep of the machine irrelevant. */
#define LONG_AGO INT64_C(1000000000000)

/* Sets the clocks as after a sleep of this length. */
static void sleep_for(struct world *w, int64_t ms)
{
	freshness_compare_clocks(w->shared, LONG_AGO + ms, 0);
}

static void after_a_sleep_all_is_void(void **state)
{
	struct world *w = *state;
	struct freshness_mark before, after;

	sleep_for(w, 0);
	freshness_resume(w->shared, HERE);
	before = take_mark(w, 1000);
	sleep_for(w, 2 * FRESHNESS_SLEEP_MS);
	assert_true(is_void(w, before));
	assert_true(has_changed_since(w, "code", before));
	after = take_mark(w, 1000);
	assert_false(is_void(w, after));
	/* Each sleep counts once. */
	sleep_for(w, 2 * FRESHNESS_SLEEP_MS);
	assert_false(is_void(w, after));
	sleep_for(w, 4 * FRESHNESS_SLEEP_MS);
	assert_true(is_void(w, after));
}

static void short_sleeps_add_up(void **state)
{
	struct world *w = *state;
	struct freshness_mark before;

	sleep_for(w, 0);
	before = take_mark(w, 1000);
	sleep_for(w, FRESHNESS_SLEEP_MS / 2);
	assert_false(is_void(w, before));
	sleep_for(w, FRESHNESS_SLEEP_MS);
	assert_false(is_void(w, before));
	sleep_for(w, FRESHNESS_SLEEP_MS + 1);
	assert_true(is_void(w, before));
}

static void who_is_held_up_between_the_clocks_has_not_slept(void **state)
{
	struct world *w = *state;
	struct freshness_mark before;

	sleep_for(w, 0);
	before = take_mark(w, 1000);
	sleep_for(w, -10 * FRESHNESS_SLEEP_MS);
	sleep_for(w, 0);
	assert_false(is_void(w, before));
}

static void wake_up(void *arg)
{
	struct world *w = arg;

	assert_true(is_void(w, w->asked));
	loop_stop(w->loop);
}

static void fall_asleep(void *arg)
{
	struct world *w = arg;
	struct error err;

	w->asked = take_mark(w, loop_now_ms(w->loop));
	slept += CLOCK_HOUR;
	assert_int_equal(loop_post(w->loop, wake_up, w, &err), 0);
}

static void
a_thread_finds_all_void_in_the_first_turn_after_a_sleep(void **state)
{
	struct world *w = *state;
	struct error err;

	assert_int_equal(loop_post(w->loop, fall_asleep, w, &err), 0);
	assert_int_equal(loop_run(w->loop, &err), 0);
}

/* --- elsewhere -------------------------------------------------------------
 */

static int64_t elsewhere_since(struct world *w)
{
	freshness_sync(w->reader);
	return freshness_elsewhere_since(w->reader);
}

static void changes_are_heard_of_from_where_links_are_looked_up(void **state)
{
	struct world *w = *state;

	assert_true(elsewhere_since(w) == INT64_MAX);
	freshness_resume(w->shared, HERE);
	assert_true(elsewhere_since(w) == INT64_MAX);
	freshness_look_up_in(w->reader, HERE);
	freshness_void(w->shared);
	assert_true(elsewhere_since(w) == INT64_MAX);
	freshness_resume(w->shared, "");
	assert_true(elsewhere_since(w) == INT64_MAX);
}

static void or_from_elsewhere_since_the_subscription_is_there(void **state)
{
	struct world *w = *state;

	freshness_look_up_in(w->reader, HERE);
	freshness_resume(w->shared, THERE);
	note_change(w, "code");
	assert_true(elsewhere_since(w) == loop_now_ms(w->loop));
	freshness_suspend(w->shared);
	assert_true(elsewhere_since(w) == loop_now_ms(w->loop));
	freshness_look_up_in(w->reader, THERE);
	assert_true(elsewhere_since(w) == INT64_MAX);
}

static void elsewhere_any_link_may_have_changed(void **state)
{
	struct world *w = *state;

	freshness_look_up_in(w->reader, HERE);
	freshness_void(w->shared);
	freshness_resume(w->shared, THERE);
	assert_true(elsewhere_since(w) != INT64_MIN);
	freshness_void(w->shared);
	assert_true(elsewhere_since(w) == INT64_MIN);
	freshness_resume(w->shared, THERE);
	assert_true(elsewhere_since(w) != INT64_MIN);
	for (int i = 0; i <= FRESHNESS_RING; i++)
		note_change(w, "other");
	assert_true(elsewhere_since(w) == INT64_MIN);
}

/* --- threads -------------------------------------------------------------- */

static void *run_loop(void *arg)
{
	struct world *w = arg;
	struct error err;

	loop_run(w->loop, &err);
	return NULL;
}

static void stop_loop(void *arg)
{
	loop_stop(arg);
}

static void say_so(void *arg)
{
	sem_post(arg);
}

/* Waits until the loop has done everything sent to it so far. */
static void wait_for(struct loop *loop)
{
	struct error err;
	sem_t done;

	assert_int_equal(sem_init(&done, 0, 0), 0);
	assert_int_equal(loop_post(loop, say_so, &done, &err), 0);
	while (sem_wait(&done))
		;
	sem_destroy(&done);
}

/* That thread has no requests, and still it receives nearly all changes. */
static void an_idle_thread_is_woken_before_it_is_too_far_behind(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked = take_mark(w, 1000);
	struct error err;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_loop, w), 0);
	for (int i = 0; i < 20; i++) {
		for (int j = 0; j < FRESHNESS_RING / 4; j++)
			note_change(w, "other");
		wait_for(w->loop);
	}
	assert_int_equal(loop_post(w->loop, stop_loop, w->loop, &err), 0);
	pthread_join(thread, NULL);
	assert_true(w->count > (size_t)FRESHNESS_RING);
	assert_false(is_void(w, asked));
}

/* --- copies ----------------------------------------------------------------
 */

static struct freshness_mark ask_copy(struct world *w, int64_t as_of)
{
	freshness_sync(w->reader);
	return freshness_mark_of_copy(w->reader, as_of);
}

static void what_a_copy_says_is_as_old_as_the_copy(void **state)
{
	struct freshness_mark asked = ask_copy(*state, 1000);

	assert_true(is_fresh(*state, asked, 1000 + BOUND - 1));
	assert_false(is_fresh(*state, asked, 1000 + BOUND));
}

static void or_as_old_as_the_last_heartbeat(void **state)
{
	struct world *w = *state;
	struct freshness_mark asked;

	freshness_resume(w->shared, HERE);
	freshness_confirm(w->shared, 3000);
	asked = ask_copy(w, 1000);
	assert_int_equal(asked.at, 3000);
	assert_true(is_fresh(w, asked, 3000 + BOUND - 1));
	assert_false(is_fresh(w, asked, 3000 + BOUND));
	freshness_confirm(w->shared, 9000);
	assert_true(is_fresh(w, asked, 9000));
	note_change(w, "abc");
	assert_true(has_changed_since(w, "abc", asked));
}

static int64_t unnamed_until(struct world *w)
{
	freshness_sync(w->reader);
	return freshness_unnamed_until(w->reader);
}

/* Waits for the clock to advance, and returns its time. */
static int64_t await_later_time(void)
{
	usleep(2000);
	return clock_monotonic_ms();
}

static void until_when_changes_were_not_named_one_by_one(void **state)
{
	struct world *w = *state;
	int64_t now = await_later_time();

	assert_true(unnamed_until(w) < now);
	note_change(w, "abc");
	assert_true(unnamed_until(w) < now);
	freshness_resume(w->shared, HERE);
	assert_true(unnamed_until(w) >= now);
	now = await_later_time();
	assert_true(unnamed_until(w) < now);
	freshness_void(w->shared);
	assert_true(unnamed_until(w) >= now);
	now = await_later_time();
	for (size_t i = 0; i <= FRESHNESS_RING; i++)
		note_change(w, "abc");
	assert_true(unnamed_until(w) >= now);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_subscription_an_answer_is_fresh_for_a_moment),
		TEST(with_one_it_is_fresh_while_heartbeats_come),
		TEST(what_was_asked_before_the_subscription_is_not_covered),
		TEST(a_subscription_that_has_ended_covers_nothing),
		TEST(another_redis_covers_nothing_that_was_asked_before),
		TEST(changes_of_others_take_nothing_of_it),
		TEST(each_change_is_heard_of_once_and_in_order),
		TEST(an_answer_from_before_a_change_is_known),
		TEST(an_answer_that_took_too_long_counts_as_changed),
		TEST(a_code_of_any_length_is_told_apart),
		TEST(when_all_may_have_changed_nothing_stands_in),
		TEST(who_is_too_far_behind_takes_all_for_void),
		TEST(after_a_sleep_all_is_void),
		TEST(short_sleeps_add_up),
		TEST(who_is_held_up_between_the_clocks_has_not_slept),
		TEST(a_thread_finds_all_void_in_the_first_turn_after_a_sleep),
		TEST(changes_are_heard_of_from_where_links_are_looked_up),
		TEST(or_from_elsewhere_since_the_subscription_is_there),
		TEST(elsewhere_any_link_may_have_changed),
		TEST(an_idle_thread_is_woken_before_it_is_too_far_behind),
		TEST(what_a_copy_says_is_as_old_as_the_copy),
		TEST(or_as_old_as_the_last_heartbeat),
		TEST(until_when_changes_were_not_named_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
