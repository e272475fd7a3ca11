/* Ids that are made without a server: none twice, whatever the clock does. */
#include "tests/unit/unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "codespace/snowflake.h"

#define START (SNOWFLAKE_EPOCH + INT64_C(200000000000)) /* some day in 2026 */
#define FAR   (START + INT64_C(1000000000))

static struct snowflake *open_node(unsigned bits, int64_t lead)
{
	struct error err;
	struct snowflake *s = snowflake_new(77, bits, lead, &err);

	if (!s)
		fail_msg("%s", err.text);
	return s;
}

static uint64_t next_id(struct snowflake *s, int64_t now)
{
	struct error err;
	uint64_t id = 0;

	if (snowflake_next(s, now, &id, &err))
		fail_msg("%s", err.text);
	return id;
}

static void assert_refused(struct snowflake *s, int64_t now,
			   enum error_code code)
{
	struct error err = {0};
	uint64_t id = 42;

	assert_int_equal(snowflake_next(s, now, &id, &err), -1);
	assert_int_equal(err.code, code);
	assert_int_equal(id, 42);
}

static void an_id_says_when_and_where_it_was_made(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	uint64_t id;

	(void)state;
	snowflake_allow(s, START, FAR);
	id = next_id(s, START + 5);
	assert_true(id >> 22 == UINT64_C(200000000005));
	assert_int_equal(id >> 12 & 1023, 77);
	assert_int_equal(id & 4095, 0);
	assert_true(snowflake_ms(id, 12) == START + 5);
	assert_true(next_id(s, START + 5) == id + 1);
	assert_true(id < UINT64_C(1) << 63);
	snowflake_free(s);
}

static void a_used_up_millisecond_is_followed_by_the_next(void **state)
{
	struct snowflake *s = open_node(6, 1000);
	uint64_t id = 0;

	(void)state;
	snowflake_allow(s, START, FAR);
	for (int i = 0; i < 65; i++)
		id = next_id(s, START);
	assert_true(snowflake_ms(id, 6) == START + 1);
	assert_int_equal(id & 63, 0);
	snowflake_free(s);
}

static void ids_run_ahead_of_the_clock_by_no_more_than_the_lead(void **state)
{
	struct snowflake *s = open_node(6, 10);
	struct error err;
	uint64_t id;

	(void)state;
	snowflake_allow(s, START, FAR);
	for (int i = 0; i < 64 * 11; i++)
		next_id(s, START);
	assert_int_equal(snowflake_next(s, START, &id, &err), -1);
	assert_int_equal(err.code, ERROR_BUSY);
	assert_true(err.retriable);
	assert_true(snowflake_ms(next_id(s, START + 1), 6) == START + 11);
	snowflake_free(s);
}

static void a_clock_that_goes_back_a_little_makes_no_duplicate(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	uint64_t last;

	(void)state;
	snowflake_allow(s, START, FAR);
	last = next_id(s, START + 5000);
	for (int back = 0; back <= 1000; back += 50) {
		uint64_t id = next_id(s, START + 5000 - back);

		assert_true(id > last);
		last = id;
	}
	snowflake_free(s);
}

static void a_clock_that_goes_back_further_is_an_error(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	struct error err;
	uint64_t last, id;

	(void)state;
	snowflake_allow(s, START, FAR);
	last = next_id(s, START + 5000);
	assert_int_equal(snowflake_next(s, START + 3999, &id, &err), -1);
	assert_int_equal(err.code, ERROR_UNSAFE);
	assert_true(err.retriable);
	assert_non_null(strstr(err.text, "1001 ms"));
	assert_true(next_id(s, START + 4000) > last);
	snowflake_free(s);
}

static void nothing_is_made_before_it_is_allowed(void **state)
{
	struct snowflake *s = open_node(12, 1000);

	(void)state;
	assert_refused(s, START, ERROR_BUSY);
	snowflake_allow(s, START, START + 100);
	assert_true(snowflake_ms(next_id(s, START + 99), 12) == START + 99);
	assert_refused(s, START + 100, ERROR_BUSY);
	snowflake_allow(s, START, START + 101);
	assert_true(snowflake_ms(next_id(s, START + 100), 12) == START + 100);
	snowflake_free(s);
}

static void a_lease_that_begins_later_raises_the_ids(void **state)
{
	struct snowflake *s = open_node(12, 1000);

	(void)state;
	snowflake_allow(s, START + 2000, START + 9000);
	assert_refused(s, START + 999, ERROR_BUSY);
	assert_true(snowflake_ms(next_id(s, START + 1000), 12) == START + 2000);
	snowflake_allow(s, START + 2500, START + 9000);
	assert_true(snowflake_ms(next_id(s, START + 2000), 12) == START + 2500);
	snowflake_free(s);
}

static void a_lease_is_never_shortened(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	uint64_t last;

	(void)state;
	snowflake_allow(s, START, START + 9000);
	last = next_id(s, START + 8000);
	snowflake_allow(s, START - 5000, START + 10);
	assert_true(next_id(s, START + 8000) > last);
	snowflake_free(s);
}

/* --- the end -------------------------------------------------------------- */

static void
the_end_lies_behind_the_last_id_whatever_the_clock_says(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	uint64_t last;

	(void)state;
	snowflake_allow(s, START, FAR);
	next_id(s, START + 5000);
	last = next_id(s, START + 4500);
	assert_refused(s, START, ERROR_UNSAFE);
	assert_true(snowflake_end(s) == snowflake_ms(last, 12) + 1);
	snowflake_free(s);
}

static void the_end_of_a_used_up_millisecond_is_the_next(void **state)
{
	struct snowflake *s = open_node(6, 1000);

	(void)state;
	snowflake_allow(s, START, FAR);
	for (int i = 0; i < 64; i++)
		next_id(s, START);
	assert_true(snowflake_end(s) == START + 1);
	snowflake_free(s);
}

static void nothing_is_made_after_the_end(void **state)
{
	struct snowflake *s = open_node(12, 1000);
	int64_t end;

	(void)state;
	snowflake_allow(s, START, FAR);
	next_id(s, START);
	end = snowflake_end(s);
	assert_refused(s, START, ERROR_BUSY);
	snowflake_allow(s, START + 5000, FAR + 5000);
	assert_refused(s, START + 5000, ERROR_BUSY);
	assert_true(snowflake_end(s) == end);
	snowflake_free(s);
}

static void who_made_nothing_ends_where_he_might_have_begun(void **state)
{
	struct snowflake *s = open_node(12, 1000);

	(void)state;
	assert_true(snowflake_end(s) == SNOWFLAKE_EPOCH);
	snowflake_free(s);
	s = open_node(12, 1000);
	snowflake_allow(s, START, FAR);
	assert_true(snowflake_end(s) == START);
	snowflake_free(s);
}

/* --- the clock and the settings ------------------------------------------- */

static void the_clock_must_be_of_this_age(void **state)
{
	struct snowflake *s = open_node(12, 1000);

	(void)state;
	snowflake_allow(s, 0, INT64_MAX);
	assert_refused(s, SNOWFLAKE_EPOCH - 1, ERROR_SYSTEM);
	assert_refused(s, INT64_MAX, ERROR_SYSTEM);
	assert_refused(s, SNOWFLAKE_EPOCH + (INT64_C(1) << 41), ERROR_SYSTEM);
	assert_true(next_id(s, SNOWFLAKE_EPOCH + (INT64_C(1) << 41) - 1) <
		    UINT64_C(1) << 63);
	snowflake_free(s);
}

static void wrong_settings_are_refused(void **state)
{
	struct error err;

	(void)state;
	assert_null(snowflake_new(1024, 12, 1000, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_null(snowflake_new(1, 13, 1000, &err));
	assert_null(snowflake_new(1, 0, 1000, &err));
	assert_null(snowflake_new(1, 12, -1, &err));
}

/* --- many threads --------------------------------------------------------- */

#define THREADS 4
#define EACH	100000

struct worker {
	struct snowflake *s;
	_Atomic int64_t *clock;
	uint64_t *ids; /* EACH of them */
	pthread_t thread;
};

static void *make_ids(void *arg)
{
	struct worker *w = arg;
	struct error err;

	for (int i = 0; i < EACH; i++)
		while (snowflake_next(w->s, *w->clock, &w->ids[i], &err))
			/* Runs ahead as far as possible: time advances, and so
			 * does the lease. */
			snowflake_allow(w->s, 0, ++*w->clock + 20);
	return NULL;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void threads_never_make_the_same_id(void **state)
{
	struct snowflake *s = open_node(6, 20);
	uint64_t *ids = calloc(THREADS * EACH, sizeof(*ids));
	_Atomic int64_t clock = START;
	struct worker workers[THREADS];

	(void)state;
	assert_non_null(ids);
	for (int t = 0; t < THREADS; t++) {
		workers[t] = (struct worker){s, &clock, ids + t * EACH, 0};
		assert_int_equal(pthread_create(&workers[t].thread, NULL,
						make_ids, &workers[t]),
				 0);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(workers[t].thread, NULL);
	for (int t = 0; t < THREADS; t++)
		for (int i = 1; i < EACH; i++)
			assert_true(workers[t].ids[i] > workers[t].ids[i - 1]);
	qsort(ids, THREADS * EACH, sizeof(*ids), by_id);
	for (int i = 1; i < THREADS * EACH; i++)
		assert_true(ids[i] != ids[i - 1]);
	free(ids);
	snowflake_free(s);
}

struct ended {
	struct snowflake *s;
	_Atomic int made;
	_Atomic bool refused;
	uint64_t last; /* made by this thread */
	pthread_t thread;
};

static void *make_until_the_end(void *arg)
{
	struct ended *e = arg;
	struct error err;

	while (snowflake_next(e->s, START, &e->last, &err) == 0)
		e->made++;
	e->refused = true;
	return NULL;
}

static void no_thread_makes_an_id_behind_the_end(void **state)
{
	struct ended threads[THREADS];
	struct snowflake *s;
	int64_t end;

	(void)state;
	for (int round = 0; round < 50; round++) {
		s = open_node(12, 1000);
		snowflake_allow(s, START, FAR);
		for (int t = 0; t < THREADS; t++) {
			threads[t] = (struct ended){.s = s};
			assert_int_equal(
				pthread_create(&threads[t].thread, NULL,
					       make_until_the_end, &threads[t]),
				0);
		}
		/* The others may use up all ids before it makes one. */
		while (threads[round % THREADS].made == 0 &&
		       !threads[round % THREADS].refused)
			sched_yield();
		end = snowflake_end(s);
		for (int t = 0; t < THREADS; t++)
			pthread_join(threads[t].thread, NULL);
		for (int t = 0; t < THREADS; t++)
			assert_true(!threads[t].made ||
				    snowflake_ms(threads[t].last, 12) < end);
		snowflake_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_says_when_and_where_it_was_made),
		cmocka_unit_test(a_used_up_millisecond_is_followed_by_the_next),
		cmocka_unit_test(
			ids_run_ahead_of_the_clock_by_no_more_than_the_lead),
		cmocka_unit_test(
			a_clock_that_goes_back_a_little_makes_no_duplicate),
		cmocka_unit_test(a_clock_that_goes_back_further_is_an_error),
		cmocka_unit_test(nothing_is_made_before_it_is_allowed),
		cmocka_unit_test(a_lease_that_begins_later_raises_the_ids),
		cmocka_unit_test(a_lease_is_never_shortened),
		cmocka_unit_test(
			the_end_lies_behind_the_last_id_whatever_the_clock_says),
		cmocka_unit_test(the_end_of_a_used_up_millisecond_is_the_next),
		cmocka_unit_test(nothing_is_made_after_the_end),
		cmocka_unit_test(
			who_made_nothing_ends_where_he_might_have_begun),
		cmocka_unit_test(the_clock_must_be_of_this_age),
		cmocka_unit_test(wrong_settings_are_refused),
		cmocka_unit_test(threads_never_make_the_same_id),
		cmocka_unit_test(no_thread_makes_an_id_behind_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
