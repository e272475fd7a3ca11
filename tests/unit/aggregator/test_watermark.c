#include "tests/unit/unit.h"

#include "aggregator/settle/watermark_reader.h"

/* A partition with reports. */
#define MARK(name, number, count, ms)                                          \
	{                                                                      \
		.topic = name, .partition = (number), .epoch = 1,              \
		.partitions = (count), .reported_ms = (ms), .heard_ms = 1      \
	}

static struct watermark compute_watermark(const struct partition_mark *marks,
					  size_t count)
{
	struct watermark w = {.server_ms = 9};

	watermark_of(marks, count, &w);
	assert_int_equal(w.server_ms, 9);
	return w;
}

static void nothing_reported_promises_nothing(void **state)
{
	struct watermark w = compute_watermark(NULL, 0);

	(void)state;
	assert_int_equal(w.complete_until, 0);
	assert_string_equal(w.topic, "");
}

static void the_least_of_all_partitions_is_promised(void **state)
{
	const struct partition_mark marks[] = {
		MARK("a", 0, 2, 500), MARK("a", 1, 2, 300),
		MARK("b", 0, 1, 400), MARK("links", 0, 0, 100)};
	struct watermark w = compute_watermark(marks, 4);

	(void)state;
	assert_int_equal(w.complete_until, 300);
	assert_string_equal(w.topic, "a");
	assert_int_equal(w.partition, 1);
}

static void a_silent_partition_of_any_topic_holds_all_back(void **state)
{
	struct partition_mark marks[] = {MARK("a", 0, 1, 500),
					 MARK("b", 0, 3, 300),
					 MARK("b", 2, 3, 400)};
	struct watermark w = compute_watermark(marks, 3);

	(void)state;
	assert_int_equal(w.complete_until, 0);
	assert_string_equal(w.topic, "b");
	assert_int_equal(w.partition, 1);
	marks[2].partition = 1;
	assert_int_equal(compute_watermark(marks, 3).partition, 2);
	marks[0].heard_ms = 0;
	assert_string_equal(compute_watermark(marks, 3).topic, "a");
}

/* This report is from before the topic had as many partitions. */
static void a_partition_beyond_the_count_is_waited_for_too(void **state)
{
	const struct partition_mark marks[] = {MARK("a", 0, 1, 500),
					       MARK("a", 1, 1, 300)};

	(void)state;
	assert_int_equal(compute_watermark(marks, 2).complete_until, 300);
}

static void the_greatest_numbers_are_told_apart(void **state)
{
	const struct partition_mark marks[] = {
		MARK("a", 0, UINT64_C(1) << 32, INT64_MAX)};
	struct watermark w = compute_watermark(marks, 1);

	(void)state;
	assert_int_equal(w.complete_until, 0);
	assert_int_equal(w.partition, 1);
}

/* The last report of a silent topic may be old. */
static void a_silent_topic_holds_all_back_until_it_is_retired(void **state)
{
	struct partition_mark marks[] = {{.topic = "a",
					  .partition = 0,
					  .epoch = 1,
					  .partitions = 1,
					  .reported_ms = 300,
					  .heard_ms = CLOCK_DAY,
					  .retired = false},
					 {.topic = "b",
					  .partition = 0,
					  .epoch = 1,
					  .partitions = 1,
					  .reported_ms = 500,
					  .heard_ms = 3 * CLOCK_DAY,
					  .retired = false},
					 {.topic = "links",
					  .partition = 0,
					  .epoch = 1,
					  .partitions = 0,
					  .reported_ms = 100,
					  .heard_ms = 3 * CLOCK_DAY,
					  .retired = false}};
	struct watermark w = compute_watermark(marks, 3);

	(void)state;
	assert_int_equal(w.complete_until, 300);
	assert_string_equal(w.topic, "a");
	assert_int_equal(w.silent_since, CLOCK_DAY);
	marks[0].retired = true;
	w = compute_watermark(marks, 3);
	assert_int_equal(w.complete_until, 500);
	assert_string_equal(w.topic, "b");
	assert_int_equal(w.silent_since, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_reported_promises_nothing),
		cmocka_unit_test(the_least_of_all_partitions_is_promised),
		cmocka_unit_test(
			a_silent_partition_of_any_topic_holds_all_back),
		cmocka_unit_test(
			a_partition_beyond_the_count_is_waited_for_too),
		cmocka_unit_test(the_greatest_numbers_are_told_apart),
		cmocka_unit_test(
			a_silent_topic_holds_all_back_until_it_is_retired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
