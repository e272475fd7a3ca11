/* Which dead letters are selected, and how they are shown. */
#include "tests/unit/unit.h"

#include <string.h>

#include "collector/tools/dlq/dlq_filter.h"
#include "collector/tools/dlq/positions.h"

static const struct dlq_record letter = {
	.kind = DLQ_LETTER,
	.at_partition = 1,
	.at_offset = 12,
	.time_ms = 5000,
	.topic = "clicks",
	.reason = "not a protobuf message",
};

static struct dlq_filter make_unbounded_filter(void)
{
	return (struct dlq_filter){.from = INT64_MIN, .to = INT64_MAX};
}

static bool takes_offsets(const char *text)
{
	struct dlq_filter f = make_unbounded_filter();
	struct error err;

	assert_int_equal(dlq_filter_read_offsets(&f, text, &err), 0);
	return dlq_filter_takes(&f, &letter);
}

static void offsets_are_ranges_of_a_partition_or_of_all(void **state)
{
	(void)state;
	assert_true(takes_offsets("12"));
	assert_true(takes_offsets("1:12"));
	assert_true(takes_offsets("0:1,3-12"));
	assert_true(takes_offsets("1:0-18446744073709551615"));
	assert_false(takes_offsets("0:12"));
	assert_false(takes_offsets("1:13"));
	assert_false(takes_offsets("1-11,13"));
}

static void what_is_no_list_of_offsets_is_refused(void **state)
{
	static const char *const lists[] = {"",
					    "x",
					    "1,",
					    ",1",
					    "1-",
					    "-1",
					    "3-2",
					    "1:",
					    ":1",
					    "1-2-3",
					    "1:2:3",
					    "+1",
					    " 1",
					    "1 ",
					    "99999999999999999999",
					    "4294967296:1"};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct dlq_filter f = make_unbounded_filter();
		struct error err;

		assert_int_equal(dlq_filter_read_offsets(&f, lists[i], &err),
				 -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

static void too_many_ranges_are_refused(void **state)
{
	struct dlq_filter f = make_unbounded_filter();
	char text[2 * DLQ_FILTER_RANGES_MAX + 2];
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? ',' : '1';
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(dlq_filter_read_offsets(&f, text, &err), -1);
}

static void time_and_reason_choose(void **state)
{
	struct dlq_filter f = make_unbounded_filter();

	(void)state;
	assert_true(dlq_filter_takes(&f, &letter));
	f.reason = "protobuf";
	assert_true(dlq_filter_takes(&f, &letter));
	f.reason = "address";
	assert_false(dlq_filter_takes(&f, &letter));
	f = make_unbounded_filter();
	f.from = 5000;
	assert_true(dlq_filter_takes(&f, &letter));
	f.to = 5000;
	assert_false(dlq_filter_takes(&f, &letter));
}

static void only_letters_are_chosen(void **state)
{
	struct dlq_filter f = make_unbounded_filter();
	struct dlq_record other = letter;

	(void)state;
	other.kind = DLQ_MARK;
	assert_false(dlq_filter_takes(&f, &other));
	other.kind = DLQ_FOREIGN;
	assert_false(dlq_filter_takes(&f, &other));
}

static void a_position_is_topic_partition_and_offset(void **state)
{
	struct positions p = {0};
	struct error err;

	(void)state;
	assert_int_equal(positions_add(&p, "clicks", 1, 7, &err), 1);
	assert_int_equal(positions_add(&p, "clicks", 1, 7, &err), 0);
	assert_int_equal(positions_add(&p, "clicks", 2, 7, &err), 1);
	assert_int_equal(positions_add(&p, "links", 1, 7, &err), 1);
	assert_true(positions_have(&p, "links", 1, 7));
	assert_false(positions_have(&p, "links", 2, 7));
	assert_false(positions_have(&p, "clicks", 1, 8));
	positions_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_are_ranges_of_a_partition_or_of_all),
		cmocka_unit_test(what_is_no_list_of_offsets_is_refused),
		cmocka_unit_test(too_many_ranges_are_refused),
		cmocka_unit_test(time_and_reason_choose),
		cmocka_unit_test(only_letters_are_chosen),
		cmocka_unit_test(a_position_is_topic_partition_and_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
