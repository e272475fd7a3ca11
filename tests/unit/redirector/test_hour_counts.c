#include "tests/unit/unit.h"

#include "redirector/hour_counts.h"

#define AT(hour, ms) ((hour)*HOUR_MS + (ms))

enum {
	NOON = 500000, /* an hour since 1970 */
};

static uint64_t counted(const struct hour_table *t, int64_t hour,
			enum hour_counter which)
{
	const struct hour_counts *counts = hour_table_find(t, hour);

	return counts ? counts->n[which] : 0;
}

static void an_event_is_counted_in_the_hour_of_its_time(void **state)
{
	struct hour_writer w;
	struct hour_table t = {0};

	(void)state;
	hour_writer_init(&w);
	hour_writer_count(&w, AT(NOON, HOUR_MS - 1), HOUR_REDIRECTED);
	hour_writer_count(&w, AT(NOON + 1, 0), HOUR_REDIRECTED);
	hour_writer_count(&w, AT(NOON + 1, 1), HOUR_REDIRECTED);
	/* A clock that goes back. */
	hour_writer_count(&w, AT(NOON, 0), HOUR_HEAD);
	hour_writer_flush(&w, AT(NOON + 1, 5));
	assert_int_equal(hour_writer_take(&w, &t), AT(NOON + 1, 5));
	assert_int_equal(counted(&t, NOON, HOUR_REDIRECTED), 1);
	assert_int_equal(counted(&t, NOON, HOUR_HEAD), 1);
	assert_int_equal(counted(&t, NOON + 1, HOUR_REDIRECTED), 2);
	assert_false(t.inexact);
	hour_writer_destroy(&w);
}

static void what_was_taken_is_taken_once(void **state)
{
	struct hour_writer w;
	struct hour_table t = {0};

	(void)state;
	hour_writer_init(&w);
	for (int i = 0; i < 3; i++) {
		hour_writer_count(&w, AT(NOON, i), HOUR_PRODUCED);
		hour_writer_flush(&w, AT(NOON, i));
		hour_writer_take(&w, &t);
		hour_writer_take(&w, &t);
	}
	assert_int_equal(counted(&t, NOON, HOUR_PRODUCED), 3);
	hour_writer_destroy(&w);
}

static void what_is_pending_is_not_told_before_the_turn_ends(void **state)
{
	struct hour_writer w;
	struct hour_table t = {0};

	(void)state;
	hour_writer_init(&w);
	hour_writer_flush(&w, AT(NOON, 0));
	hour_writer_count(&w, AT(NOON, 5), HOUR_SILENT);
	assert_int_equal(hour_writer_take(&w, &t), AT(NOON, 0));
	assert_null(hour_table_find(&t, NOON));
	hour_writer_add_pending(&w);
	hour_writer_take(&w, &t);
	assert_int_equal(counted(&t, NOON, HOUR_SILENT), 1);
	hour_writer_destroy(&w);
}

static void hours_that_wait_for_a_week_keep_their_counts(void **state)
{
	struct hour_writer w;
	struct hour_table t = {0};

	(void)state;
	hour_writer_init(&w);
	for (int64_t hour = NOON; hour < NOON + 170; hour++)
		hour_writer_count(&w, AT(hour, 0), HOUR_PRODUCED);
	hour_writer_flush(&w, AT(NOON + 170, 0));
	hour_writer_take(&w, &t);
	for (int64_t hour = NOON; hour < NOON + 170; hour++)
		hour_writer_count_now(&w, hour, HOUR_ACKNOWLEDGED);
	hour_writer_take(&w, &t);
	for (int64_t hour = NOON; hour < NOON + 170; hour++) {
		assert_int_equal(counted(&t, hour, HOUR_PRODUCED), 1);
		assert_int_equal(counted(&t, hour, HOUR_ACKNOWLEDGED), 1);
	}
	assert_false(t.inexact);
	hour_writer_destroy(&w);
}

static void an_hour_that_was_forgotten_makes_counts_inexact(void **state)
{
	struct hour_table t = {0};

	(void)state;
	hour_table_add(&t,
		       &(struct hour_counts){.hour = NOON + HOUR_TABLE_SIZE});
	assert_false(t.inexact);
	hour_table_add(&t, &(struct hour_counts){.hour = NOON});
	assert_true(t.inexact);
	assert_null(hour_table_find(&t, NOON));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_counted_in_the_hour_of_its_time),
		cmocka_unit_test(what_was_taken_is_taken_once),
		cmocka_unit_test(
			what_is_pending_is_not_told_before_the_turn_ends),
		cmocka_unit_test(hours_that_wait_for_a_week_keep_their_counts),
		cmocka_unit_test(
			an_hour_that_was_forgotten_makes_counts_inexact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
