#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "collector/exactly_once/batch.h"

static const int64_t hour_ms = 3600 * 1000;

static void note_row(struct batch *b, uint64_t offset, int64_t ts)
{
	struct error err = {0};

	assert_int_equal(batch_note_row(b, offset, 7000, ts, true, &err), 0);
}

static void a_block_is_named_by_its_first_and_last_offset(void **state)
{
	struct batch b = {0};
	char token[BATCH_NAME_MAX];

	(void)state;
	note_row(&b, 41, 0);
	batch_note_dead(&b, 42, 7000);
	note_row(&b, 45, 0);
	batch_name(&b, 3, "clicks", 7, token);
	assert_string_equal(token, "3:clicks:7:41-45");
	assert_int_equal(b.events, 3);
	assert_int_equal(b.row_count, 2);
	assert_int_equal(b.dead_lettered, 1);
	batch_release(&b);
}

static void rows_are_counted_by_the_hour(void **state)
{
	struct batch b = {0};

	(void)state;
	note_row(&b, 1, hour_ms - 1);
	note_row(&b, 2, hour_ms);
	note_row(&b, 3, 5);
	note_row(&b, 4, 2 * hour_ms - 1);
	assert_int_equal(b.hour_count, 2);
	assert_int_equal(b.hours[0].start, 0);
	assert_int_equal(b.hours[0].rows, 2);
	assert_int_equal(b.hours[1].start, 3600);
	assert_int_equal(b.hours[1].rows, 2);
	batch_release(&b);
}

static void a_gap_counts_what_is_lost_and_what_is_stored(void **state)
{
	struct batch b = {0},
		     gap = {.first = 10, .last = 19, .append_ms = 9000};
	struct error err = {0};
	char name[BATCH_NAME_MAX];

	(void)state;
	assert_int_equal(batch_note_hour(&gap, 3600, 3, &err), 0);
	gap.lost = 7;
	assert_int_equal(batch_note_gap(&b, &gap, &err), 0);
	assert_int_equal(b.events, 1);
	assert_int_equal(b.lost, 7);
	/* Stored rows are reported, but not sent. */
	assert_int_equal(b.row_count, 3);
	assert_int_equal(b.stored_before, 3);
	assert_int_equal(b.hours[0].rows, 3);
	batch_name(&b, 1, "clicks", 0, name);
	assert_string_equal(name, "1:clicks:0:10-19");

	batch_release(&gap);
	/* Hours of links are not counted. */
	gap = (struct batch){
		.first = 20, .last = 21, .row_count = 1, .lost = 1};
	assert_int_equal(batch_note_gap(&b, &gap, &err), 0);
	assert_int_equal(b.row_count, 4);
	assert_int_equal(b.stored_before, 4);
	assert_int_equal(b.last, 21);
	batch_release(&b);
}

static void a_block_knows_its_first_and_its_last_time(void **state)
{
	static const int64_t times[] = {7000, 5000, 9000, 8000};
	struct batch b = {0};

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		batch_note_dead(&b, i, times[i]);
	assert_int_equal(b.since_ms, 5000);
	assert_int_equal(b.append_ms, 8000);
	batch_reset(&b);
	batch_note_dead(&b, 4, 9500);
	assert_int_equal(b.since_ms, 9500);
	batch_release(&b);
}

/* Stored rows are reported, but not sent. */
static void rows_in_hand_are_told_from_those_that_are_stored(void **state)
{
	struct error err = {0};
	struct batch b = {0};

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(
			batch_note_row(&b, i, 7000, 0, i < 3 || i > 5, &err),
			0);
	assert_int_equal(b.row_count, 10);
	assert_int_equal(b.stored_before, 3);
	assert_int_equal(b.in_hand.count, 2);
	assert_int_equal(b.in_hand.items[0].last, 2);
	assert_int_equal(b.in_hand.items[1].first, 6);
	batch_release(&b);
}

static void many_hours_fit(void **state)
{
	struct batch b = {0};

	(void)state;
	for (int i = 0; i < 500; i++)
		note_row(&b, (uint64_t)i, i * hour_ms);
	assert_int_equal(b.hour_count, 500);
	batch_release(&b);
}

static void a_reset_block_is_empty(void **state)
{
	struct batch b = {0};

	(void)state;
	note_row(&b, 1, 0);
	buf_puts(&b.rows, "row");
	b.stage = BATCH_REPORTED;
	batch_reset(&b);
	assert_int_equal(b.events, 0);
	assert_int_equal(b.rows.len, 0);
	assert_int_equal(b.hour_count, 0);
	assert_int_equal(b.stage, BATCH_FILLING);
	batch_release(&b);
}

static const struct progress_origin origin = {
	.epoch = 2,
	.topic = "clicks",
	.partition = 1,
	.partitions = 4,
	.collector = "c1",
};

static void an_idle_partition_is_an_empty_block(void **state)
{
	struct buf row = {0};
	static const char expected[] = "\2\0\0\0\6clicks\1\0\0\0\4\0\0\0"
				       "\x2a\0\0\0\0\0\0\0\x29\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0\0"
				       "\x58\x1b\0\0\0\0\0\0\2c1"
				       "\0\0\0\0\0";

	(void)state;
	batch_idle_row(42, 7000, &origin, &row);
	assert_int_equal(row.len, sizeof(expected) - 1);
	assert_memory_equal(row.data, expected, row.len);
	buf_free(&row);
}

static void the_report_is_the_row_of_the_table(void **state)
{
	struct batch b = {0};
	struct buf row = {0};
	static const char expected[] = "\2\0\0\0\6clicks\1\0\0\0\4\0\0\0"
				       "\x29\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0"
				       "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0"
				       "\1\x10\x0e\0\0\1\0\0\0\0\0\0\0"
				       "\x58\x1b\0\0\0\0\0\0\2c1"
				       "\0\0\0\0\0";

	(void)state;
	note_row(&b, 41, hour_ms);
	batch_note_dead(&b, 42, 7000);
	batch_progress_row(&b, &origin, &row);
	assert_int_equal(row.len, sizeof(expected) - 1);
	assert_memory_equal(row.data, expected, row.len);
	buf_free(&row);
	batch_release(&b);
}

/* The watermark waits for the partitions of clicks, and clicks are settled by
 * the hours: a batch of links has both in columns of its own. */
static void the_report_of_links_says_when_they_were_created(void **state)
{
	struct batch b = {0};
	struct buf row = {0};
	struct error err = {0};
	struct progress_origin of_links = origin;
	static const char expected[] = "\2\0\0\0\6clicks\1\0\0\0\0\0\0\0"
				       "\x29\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0"
				       "\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
				       "\0\0\0\0\0\0\0\0"
				       "\0"
				       "\x58\x1b\0\0\0\0\0\0\2c1"
				       "\1\x10\x0e\0\0\1\0\0\0\0\0\0\0"
				       "\4\0\0\0";

	(void)state;
	of_links.of_links = true;
	assert_int_equal(batch_note_row(&b, 41, 7000, hour_ms, true, &err), 0);
	assert_int_equal(
		batch_note_row(&b, 42, 7000, BATCH_NO_HOUR, true, &err), 0);
	batch_progress_row(&b, &of_links, &row);
	assert_int_equal(row.len, sizeof(expected) - 1);
	assert_memory_equal(row.data, expected, row.len);
	buf_free(&row);
	batch_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_is_named_by_its_first_and_last_offset),
		cmocka_unit_test(rows_are_counted_by_the_hour),
		cmocka_unit_test(a_gap_counts_what_is_lost_and_what_is_stored),
		cmocka_unit_test(a_block_knows_its_first_and_its_last_time),
		cmocka_unit_test(
			rows_in_hand_are_told_from_those_that_are_stored),
		cmocka_unit_test(many_hours_fit),
		cmocka_unit_test(a_reset_block_is_empty),
		cmocka_unit_test(an_idle_partition_is_an_empty_block),
		cmocka_unit_test(the_report_is_the_row_of_the_table),
		cmocka_unit_test(
			the_report_of_links_says_when_they_were_created),
	};

	return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}
