/* How far settling has come, from the rows of `settled`, and how many rows were
 * taken back. */
#include "tests/unit/aggregator/progress_rows.h"

#include "aggregator/settle/taken_back.h"

/* A pass ended under that number; its times are in ms. */
static void publish_pass(struct settled *t, uint64_t attempt,
			 int64_t read_until, int64_t complete_until,
			 uint64_t mended)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO settled (kind, unit, attempt, read_until, "
		"complete_until, mended) VALUES ('pass', 0, %" PRIu64
		", fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC'), fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC'), %" PRIu64 ")",
		attempt, read_until, complete_until, mended);
}

static struct progress read_marks(struct settled *t, uint64_t *marks)
{
	struct progress read;
	struct error err = {0};

	if (progress_read_marks(t->s.ch, &read, marks, &err) < 0)
		fail_msg("%s", err.text);
	return read;
}

static void before_the_first_pass_nothing_is_known(void **state)
{
	struct settled *t = *state;
	uint64_t marks;
	int64_t before = clock_monotonic_ms();
	struct progress read = read_marks(t, &marks);

	assert_int_equal(read.read_until, 0);
	assert_int_equal(read.complete_until, 0);
	assert_int_equal(read.attempt, 0);
	assert_int_equal(read.mended, 0);
	assert_int_equal(marks, 0);
	assert_true(read.asked_at >= before);
	assert_true(read.asked_at <= clock_monotonic_ms());
}

static void the_newest_pass_is_gone_on_from(void **state)
{
	struct settled *t = *state;
	struct progress read;
	uint64_t marks;

	publish_pass(t, 5, 9000, 8000, 0);
	publish_pass(t, 7, 6000, 5000, 0); /* the clock had gone back */
	publish_pass(t, 6, 7000, 9500, 0);
	read = read_marks(t, &marks);
	assert_int_equal(read.attempt, 7);
	assert_int_equal(read.read_until, 6000);
	assert_int_equal(read.complete_until, 9500);
}

static void a_mark_counts_that_knew_the_last_mend(void **state)
{
	struct settled *t = *state;
	struct progress read;
	uint64_t marks;

	publish_pass(t, 5, 9000, 8000, 0);
	publish_pass(t, 6, 9000, 3000, 1);
	publish_pass(t, 7, 9000, 9900,
		     0); /* by a program that did not know of the mend */
	read = read_marks(t, &marks);
	assert_int_equal(read.complete_until, 3000);
	assert_int_equal(read.mended, 1);
	publish_pass(t, 8, 9000, 4000, 1);
	assert_int_equal(read_marks(t, &marks).complete_until, 4000);
}

/* Cached answers are valid while the marks are the same. */
static void marks_change_with_all_that_is_published(void **state)
{
	struct settled *t = *state;
	uint64_t before, after;

	publish_hour(t, HOUR_OF(1), 5, 1, 1);
	(void)read_marks(t, &before);
	publish_attempt(t, (struct published){"held_hour", HOUR_OF(1), 5, 1, 1,
					      false, 0});
	(void)read_marks(t, &after);
	assert_int_not_equal(after, before);
	before = after;
	publish_hour(t, HOUR_OF(2), 5, 1, 1);
	(void)read_marks(t, &after);
	assert_int_not_equal(after, before);
	before = after;
	publish_hour(t, HOUR_OF(2), 4, 1, 1);
	(void)read_marks(t, &after);
	assert_int_not_equal(after, before);
	before = after;
	(void)read_marks(t, &after);
	assert_int_equal(after, before);
}

static void reports_are_read_up_to_the_servers_clock(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s), until;
	struct error err = {0};

	assert_int_equal(progress_read_until(t->s.ch, &until, &err), 0);
	assert_int_equal(until, 0);
	report_block_at(t, HOUR_OF(0), 0, 0, 1, now - 5000);
	report_block_at(t, HOUR_OF(0), 1, 1, 1, now - 7000);
	report_block_at(t, HOUR_OF(0), 2, 2, 1, now + CLOCK_HOUR);
	assert_int_equal(progress_read_until(t->s.ch, &until, &err), 0);
	assert_int_equal(until, now - 5000);
}

/* --- rows that were taken back -------------------------------------------- */

static struct taken_back count_taken_back(struct settled *t, int64_t from,
					  int64_t to, int64_t since_ms)
{
	struct taken_back taken;
	struct error err = {0};

	if (taken_back_count(t->s.ch, from, to, settling_attempt_at(since_ms),
			     &taken, &err) < 0)
		fail_msg("%s", err.text);
	return taken;
}

static void rows_count_that_were_taken_after_an_hour_was_published(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s), at = now - CLOCK_HOUR;
	struct taken_back taken;

	settled_take_back(t, "a", "undo", at - 10, HOUR_OF(1), 30);
	settled_take_back(t, "a", "taken", at, HOUR_OF(1), 0);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), at);
	assert_int_equal(taken.rows, 30);
	assert_int_equal(taken.going, 0);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), at + 1);
	assert_int_equal(taken.rows, 0);
	/* A number that is ahead of the clock gives no time. */
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), now + CLOCK_HOUR);
	assert_int_equal(taken.rows, 30);
}

/* Some of the rows may still be there. */
static void rows_that_are_being_taken_count_whenever(void **state)
{
	struct settled *t = *state;
	int64_t now = settling_now(&t->s);
	struct taken_back taken;

	settled_take_back(t, "a", "undo", now - CLOCK_DAY, HOUR_OF(1), 30);
	/* Another import of the log, and another log, are taken back. */
	settled_take_back_import(t, "a", 2, "taken", now - CLOCK_DAY,
				 HOUR_OF(1), 0);
	settled_take_back(t, "b", "taken", now - CLOCK_DAY, HOUR_OF(1), 0);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), now - 1000);
	assert_int_equal(taken.rows, 30);
	assert_int_equal(taken.going, 30);
	settled_take_back(t, "a", "taken", now - 500, HOUR_OF(1), 0);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), now - 1000);
	assert_int_equal(taken.rows, 30);
	assert_int_equal(taken.going, 0);
	/* The first time at which the rows were gone counts. */
	settled_take_back(t, "a", "taken", now - 2000, HOUR_OF(1), 0);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), now - 1000);
	assert_int_equal(taken.rows, 0);
}

static void of_two_undos_of_an_import_the_greater_number_counts(void **state)
{
	struct settled *t = *state;
	struct taken_back taken;

	settled_take_back(t, "a", "undo", 1000, HOUR_OF(1), 30);
	settled_take_back(t, "a", "undo", 2000, HOUR_OF(1), 20);
	settled_take_back_import(t, "a", 2, "undo", 2000, HOUR_OF(1), 5);
	settled_take_back(t, "b", "undo", 2000, HOUR_OF(1), 7);
	taken = count_taken_back(t, HOUR_OF(1), HOUR_OF(2), 3000);
	assert_int_equal(taken.rows, 42);
	assert_int_equal(taken.going, 42);
}

static void rows_of_the_hours_that_are_asked_for_count(void **state)
{
	struct settled *t = *state;

	clickhouse_server_do(
		&t->server,
		"INSERT INTO import_journal (identity, epoch, what, head) "
		"VALUES ('a', 1, 'undo', [%" PRId64 ", %" PRId64 ", %" PRId64
		", %" PRId64 ", 1, 20, 300, 4000])",
		HOUR_OF(0), HOUR_OF(1), HOUR_OF(2), HOUR_OF(3));
	assert_int_equal(count_taken_back(t, HOUR_OF(1), HOUR_OF(3), 1000).rows,
			 320);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(before_the_first_pass_nothing_is_known),
		SETTLED_TEST(the_newest_pass_is_gone_on_from),
		SETTLED_TEST(a_mark_counts_that_knew_the_last_mend),
		SETTLED_TEST(marks_change_with_all_that_is_published),
		SETTLED_TEST(reports_are_read_up_to_the_servers_clock),
		SETTLED_TEST(
			rows_count_that_were_taken_after_an_hour_was_published),
		SETTLED_TEST(rows_that_are_being_taken_count_whenever),
		SETTLED_TEST(
			of_two_undos_of_an_import_the_greater_number_counts),
		SETTLED_TEST(rows_of_the_hours_that_are_asked_for_count),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
