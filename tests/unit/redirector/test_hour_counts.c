#include "tests/unit/redirector/hours.h"
#include "tests/unit/unit.h"

#include <pthread.h>
#include <string.h>

#include "redirector/counters/hour_counts.h"

#define AT(hour, ms) ((hour)*HOUR_MS + (ms))

enum {
	NOON = 500000, /* an hour since 1970 */
};

static uint64_t count_in_hour(const struct hour_table *t, int64_t hour,
			      enum hour_counter which)
{
	const struct hour_counts *counts = find_hour(t, hour);

	return counts ? counts->n[which] : 0;
}

struct world {
	struct hour_totals totals;
	struct hour_writer w;
	struct hour_table t;
};

static int make_world(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	hour_writer_init(&world->w, &world->totals);
	*state = world;
	return 0;
}

static int drop_world(void **state)
{
	struct world *world = *state;

	hour_writer_destroy(&world->w);
	free(world);
	return 0;
}

/* Reads all counts; returns the time up to which they are complete. */
static int64_t read_all(struct world *world)
{
	memset(&world->t, 0, sizeof(world->t));
	return hour_totals_add_to(&world->totals, &world->t);
}

static void an_event_is_counted_in_the_hour_of_its_time(void **state)
{
	struct world *world = *state;
	struct hour_writer *w = &world->w;

	hour_writer_count(w, AT(NOON, HOUR_MS - 1), HOUR_REDIRECTED);
	hour_writer_count(w, AT(NOON + 1, 0), HOUR_REDIRECTED);
	hour_writer_count(w, AT(NOON + 1, 1), HOUR_REDIRECTED);
	/* The clock goes back. */
	hour_writer_count(w, AT(NOON, 0), HOUR_HEAD);
	hour_writer_flush(w, AT(NOON + 1, 5));
	assert_int_equal(read_all(world), AT(NOON + 1, 5));
	assert_int_equal(count_in_hour(&world->t, NOON, HOUR_REDIRECTED), 1);
	assert_int_equal(count_in_hour(&world->t, NOON, HOUR_HEAD), 1);
	assert_int_equal(count_in_hour(&world->t, NOON + 1, HOUR_REDIRECTED),
			 2);
	assert_false(world->t.inexact);
}

static void totals_stay_where_they_are_read(void **state)
{
	struct world *world = *state;

	assert_true(hour_totals_are_empty(&world->totals));
	for (int i = 0; i < 3; i++) {
		hour_writer_count(&world->w, AT(NOON, i), HOUR_PRODUCED);
		read_all(world);
		read_all(world);
	}
	assert_int_equal(count_in_hour(&world->t, NOON, HOUR_PRODUCED), 3);
	assert_false(hour_totals_are_empty(&world->totals));
}

static void
what_is_counted_is_there_at_once_and_until_says_from_when(void **state)
{
	struct world *world = *state;

	hour_writer_flush(&world->w, AT(NOON, 0));
	hour_writer_count(&world->w, AT(NOON, 5), HOUR_SILENT);
	/* A kill at this point must not lose the count. */
	assert_int_equal(read_all(world), AT(NOON, 0));
	assert_int_equal(count_in_hour(&world->t, NOON, HOUR_SILENT), 1);
}

static void hours_that_wait_for_a_week_keep_their_counts(void **state)
{
	struct world *world = *state;

	for (int64_t hour = NOON; hour < NOON + 170; hour++)
		hour_writer_count(&world->w, AT(hour, 0), HOUR_PRODUCED);
	for (int64_t hour = NOON; hour < NOON + 170; hour++)
		hour_writer_count_now(&world->w, hour, HOUR_ACKNOWLEDGED);
	read_all(world);
	for (int64_t hour = NOON; hour < NOON + 170; hour++) {
		assert_int_equal(count_in_hour(&world->t, hour, HOUR_PRODUCED),
				 1);
		assert_int_equal(
			count_in_hour(&world->t, hour, HOUR_ACKNOWLEDGED), 1);
	}
	assert_false(world->t.inexact);
}

static void an_hour_that_was_forgotten_makes_counts_inexact(void **state)
{
	struct world *world = *state;
	const int64_t later = NOON + HOUR_TABLE_SIZE;

	hour_writer_count(&world->w, AT(NOON, 0), HOUR_HEAD);
	hour_writer_count(&world->w, AT(later, 0), HOUR_HEAD);
	read_all(world);
	/* Another hour has its place; the hour was reported long ago. */
	assert_null(find_hour(&world->t, NOON));
	assert_int_equal(count_in_hour(&world->t, later, HOUR_HEAD), 1);
	assert_false(world->t.inexact);
	hour_writer_count(&world->w, AT(NOON, 0), HOUR_HEAD);
	read_all(world);
	assert_true(world->t.inexact);
	assert_null(find_hour(&world->t, NOON));
	assert_int_equal(count_in_hour(&world->t, later, HOUR_HEAD), 1);
}

static void a_writer_that_rests_does_not_hide_what_others_count(void **state)
{
	struct world *world = *state;
	const int64_t later = NOON + HOUR_TABLE_SIZE;
	struct hour_totals *other = calloc(1, sizeof(*other));
	struct hour_writer w;

	hour_writer_init(&w, other);
	hour_writer_count(&world->w, AT(NOON, 0), HOUR_HEAD);
	hour_writer_count(&w, AT(later, 0), HOUR_HEAD);
	for (int i = 0; i < 2; i++) {
		memset(&world->t, 0, sizeof(world->t));
		hour_totals_add_to(i ? other : &world->totals, &world->t);
		hour_totals_add_to(i ? &world->totals : other, &world->t);
		assert_int_equal(count_in_hour(&world->t, later, HOUR_HEAD), 1);
		assert_false(world->t.inexact);
	}
	hour_writer_destroy(&w);
	free(other);
}

/* The totals of an hour are the sums over all threads. */
static void counts_of_all_writers_are_added_up_by_outcome(void **state)
{
	struct world *world = *state;
	struct hour_totals *other = calloc(1, sizeof(*other));
	struct hour_writer w;

	hour_writer_init(&w, other);
	for (int i = 0; i < HOUR_COUNTERS; i++) {
		for (int k = 0; k <= i; k++)
			hour_writer_count(&world->w, AT(NOON, k),
					  (enum hour_counter)i);
		hour_writer_count(&w, AT(NOON, 9), (enum hour_counter)i);
	}
	read_all(world);
	hour_totals_add_to(other, &world->t);
	for (int i = 0; i < HOUR_COUNTERS; i++)
		assert_int_equal(
			count_in_hour(&world->t, NOON, (enum hour_counter)i),
			i + 2);
	hour_writer_destroy(&w);
	free(other);
}

/* A file of empty totals need not be reported. */
static void totals_are_empty_until_something_is_counted(void **state)
{
	struct world *world = *state;

	assert_true(hour_totals_are_empty(&world->totals));
	hour_writer_move(&world->w, AT(NOON, 0));
	hour_writer_flush(&world->w, AT(NOON, 1));
	assert_true(hour_totals_are_empty(&world->totals));
	hour_writer_count(&world->w, AT(NOON, 2), HOUR_COUNTERS - 1);
	assert_false(hour_totals_are_empty(&world->totals));
}

/* Counts pairs, over hours whose places are given to others. */
static void *count_pairs(void *arg)
{
	struct hour_writer *w = arg;

	for (int64_t i = 0; i < 300000; i++) {
		int64_t at = AT(NOON + i / 300, 0);

		hour_writer_count(w, at, HOUR_PRODUCED);
		hour_writer_count(w, at, HOUR_REDIRECTED);
		hour_writer_flush(w, i + 1);
	}
	return NULL;
}

/* The hour of `until` and the hour before have at least these counts. */
static void others_read_while_it_counts(void **state)
{
	struct world *world = *state;
	int64_t until = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, count_pairs, &world->w),
			 0);
	while (until < 300000) {
		int64_t hour;

		until = read_all(world);
		hour = NOON + (until - 1) / 300;
		for (size_t i = 0; i < HOUR_TABLE_SIZE; i++) {
			const struct hour_counts *c = &world->t.items[i];

			assert_true(c->n[HOUR_PRODUCED] <= 300);
			/* Older hours may have lost their places since. */
			if (until && c->hour == hour)
				assert_true(c->n[HOUR_PRODUCED] >=
					    (uint64_t)((until - 1) % 300 + 1));
		}
	}
	pthread_join(thread, NULL);
	assert_false(world->t.inexact);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_world, drop_world)
	const struct CMUnitTest tests[] = {
		TEST(an_event_is_counted_in_the_hour_of_its_time),
		TEST(totals_stay_where_they_are_read),
		TEST(what_is_counted_is_there_at_once_and_until_says_from_when),
		TEST(hours_that_wait_for_a_week_keep_their_counts),
		TEST(an_hour_that_was_forgotten_makes_counts_inexact),
		TEST(a_writer_that_rests_does_not_hide_what_others_count),
		TEST(others_read_while_it_counts),
		TEST(counts_of_all_writers_are_added_up_by_outcome),
		TEST(totals_are_empty_until_something_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
