#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/bursts.h"

#define NOON INT64_C(1790000000000)

static const struct bursts_limits limits = {
	.window = 60000, .codes = 10, .not_found = 5};

static struct bursts *make_with(const struct bursts_limits *of, size_t bytes)
{
	struct error err = {0};
	struct bursts *b = bursts_new(of, bytes, &err);

	assert_non_null(b);
	return b;
}

static struct bursts *make_bursts(size_t bytes)
{
	return make_with(&limits, bytes);
}

/* Visitors are hashes, so the numbers are spread over the whole range. */
static enum burst note_request(struct bursts *b, uint64_t visitor, int64_t ts,
			       unsigned code, bool not_found)
{
	uint64_t id = (visitor + 1) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned char bytes[BURSTS_VISITOR_LEN];
	char text[16];

	memcpy(bytes, &id, sizeof(bytes));
	snprintf(text, sizeof(text), "c%u", code);
	return bursts_note(b, bytes, ts, text, not_found);
}

static void many_codes_in_a_window_are_a_burst(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 30; i++)
		assert_int_equal(note_request(b, 1, NOON + i * 1000, i, false),
				 i < 9 ? BURST_NONE : BURST_CODES);
	bursts_free(b);
}

static void the_same_codes_over_and_over_are_none(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(note_request(b, 1, NOON + i, i % 9, false),
				 BURST_NONE);
	bursts_free(b);
}

static void the_window_slides(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	/* Nine requests a minute for an hour are no burst. */
	for (unsigned i = 0; i < 540; i++)
		assert_int_equal(note_request(b, 1, NOON + i * 6700, i, false),
				 BURST_NONE);
	bursts_free(b);
}

static void a_burst_ends(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		note_request(b, 1, NOON + i, i, false);
	assert_int_equal(note_request(b, 1, NOON + 60100, 50, false),
			 BURST_NONE);
	bursts_free(b);
}

static void codes_that_are_not_there_count_by_themselves(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	/* The requests are for the same code, which has a typing error in a
	 * newsletter. */
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(note_request(b, 1, NOON + i * 10, 7, true),
				 i < 4 ? BURST_NONE : BURST_NOT_FOUND);
	assert_int_equal(note_request(b, 2, NOON, 7, true), BURST_NONE);
	bursts_free(b);
}

static void visitors_are_told_apart(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 400; i++)
		assert_int_equal(note_request(b, i % 50, NOON + i, i, false),
				 BURST_NONE);
	bursts_free(b);
}

/* A block that is read again keeps its verdicts; only the first events of the
 * burst are recognised now. */
static void noting_again_changes_no_count(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned pass = 0; pass < 5; pass++)
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(
				note_request(b, 1, NOON + i * 10, i, true),
				BURST_NONE);
	for (unsigned i = 4; i < 8; i++)
		assert_int_equal(note_request(b, 1, NOON + i * 10, i, true),
				 BURST_NOT_FOUND);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(note_request(b, 1, NOON + i * 10, i, true),
				 BURST_NOT_FOUND);
	bursts_free(b);
}

/* A partition may be behind the others. */
static void late_events_fall_into_the_burst_they_belong_to(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		note_request(b, 1, NOON + i * 1000, i, false);
	assert_int_equal(note_request(b, 1, NOON + 5500, 200, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 1, NOON - 70000, 201, false),
			 BURST_NONE);
	bursts_free(b);
}

static void a_scanner_is_found_among_more_visitors_than_fit(void **state)
{
	struct bursts *b = make_bursts(64 << 10);
	unsigned found = 0;

	(void)state;
	/* 200,000 people make one or two requests each, and one visitor makes
	 * one every ms. */
	for (unsigned i = 0; i < 200000; i++) {
		note_request(b, i / 2 + 10, NOON + i / 10, i, false);
		if (i % 10 == 0)
			found += note_request(b, 1, NOON + i / 10, i, false) !=
				 0;
	}
	assert_true(found > 19000);
	bursts_free(b);
}

static void nobody_else_is_taken_for_one(void **state)
{
	struct bursts *b = make_bursts(64 << 10);

	(void)state;
	for (unsigned i = 0; i < 400000; i++)
		assert_int_equal(note_request(b, i % 60000, NOON + i, i, false),
				 BURST_NONE);
	bursts_free(b);
}

static void limits_of_zero_judge_nobody(void **state)
{
	const struct bursts_limits none = {.window = 60000};
	struct bursts *b = make_with(&none, 1 << 16);

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(note_request(b, 1, NOON, i, true), BURST_NONE);
	bursts_free(b);
}

/* Requests `count` codes from `first` on, one a ms. */
static void ask_codes(struct bursts *b, uint64_t visitor, int64_t ts,
		      unsigned first, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		note_request(b, visitor, ts + i, first + i, false);
}

static void a_window_has_both_its_ends(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	ask_codes(b, 1, NOON, 0, 9);
	assert_int_equal(note_request(b, 1, NOON + 60000, 9, false),
			 BURST_CODES);
	ask_codes(b, 2, NOON, 0, 9);
	assert_int_equal(note_request(b, 2, NOON + 60001, 9, false),
			 BURST_NONE);
	bursts_free(b);
}

static void a_late_request_is_counted_with_those_before_it(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	ask_codes(b, 1, NOON + 1000, 0, 9);
	assert_int_equal(note_request(b, 1, NOON, 9, false), BURST_NONE);
	assert_int_equal(note_request(b, 1, NOON + 1010, 10, false),
			 BURST_CODES);
	bursts_free(b);
}

/* The late request is earlier than the last request for the same code. */
static void a_code_was_asked_for_when_it_last_was(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	ask_codes(b, 1, NOON + 50000, 0, 9);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(note_request(b, 1, NOON, i, false),
				 BURST_NONE);
	assert_int_equal(note_request(b, 1, NOON + 70000, 9, false),
			 BURST_CODES);
	bursts_free(b);
}

static void a_burst_has_the_window_that_it_was_found_in(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	ask_codes(b, 1, NOON, 0, 10);
	assert_int_equal(note_request(b, 1, NOON + 9, 0, false), BURST_CODES);
	assert_int_equal(note_request(b, 1, NOON + 9 - 60000, 0, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 1, NOON + 9 - 60001, 0, false),
			 BURST_NONE);
	bursts_free(b);
}

static void of_bursts_apart_the_latest_is_remembered(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	ask_codes(b, 1, NOON, 0, 10);
	/* These requests extend the burst: its last requests are in their
	 * window. */
	ask_codes(b, 1, NOON + 50000, 20, 10);
	assert_int_equal(note_request(b, 1, NOON - 50000, 0, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 1, NOON + 30000, 0, false),
			 BURST_CODES);
	ask_codes(b, 1, NOON + 200000, 40, 10);
	assert_int_equal(note_request(b, 1, NOON + 150000, 40, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 1, NOON + 30000, 40, false),
			 BURST_NONE);
	bursts_free(b);
}

/* The table has room for four visitors. */
static void who_was_quiet_for_longest_makes_room(void **state)
{
	struct bursts *b = make_bursts(0);

	(void)state;
	for (unsigned v = 1; v <= 4; v++)
		ask_codes(b, v, NOON + v * 10, 0, 9);
	note_request(b, 1, NOON + 1000, 0, false);
	/* A request with an older time does not make a visitor idle for longer.
	 */
	note_request(b, 4, NOON - 1000, 0, false);
	ask_codes(b, 5, NOON + 1001, 0, 2);
	assert_int_equal(note_request(b, 1, NOON + 1010, 9, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 2, NOON + 1010, 9, false), BURST_NONE);
	assert_int_equal(note_request(b, 3, NOON + 1010, 9, false),
			 BURST_CODES);
	assert_int_equal(note_request(b, 4, NOON + 1010, 9, false),
			 BURST_CODES);
	bursts_free(b);
}

static void either_limit_works_alone(void **state)
{
	const struct bursts_limits codes = {.window = 60000, .codes = 10},
				   not_found = {.window = 60000,
						.not_found = 5};
	struct bursts *b = make_with(&codes, 1 << 16);

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(note_request(b, 1, NOON + i, 7, true),
				 BURST_NONE);
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(
			note_request(b, 1, NOON + 20 + i, 100 + i, true),
			i < 8 ? BURST_NONE : BURST_CODES);
	bursts_free(b);
	b = make_with(&not_found, 1 << 16);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(note_request(b, 1, NOON + i, i, false),
				 BURST_NONE);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(note_request(b, 1, NOON + 20 + i, 7, true),
				 i < 4 ? BURST_NONE : BURST_NOT_FOUND);
	bursts_free(b);
}

/* The first request is stored separately, and is counted with its own kind. */
static void the_first_request_counts_as_well(void **state)
{
	struct bursts *b = make_bursts(1 << 20);

	(void)state;
	note_request(b, 1, NOON, 0, false);
	for (unsigned i = 1; i < 5; i++)
		assert_int_equal(note_request(b, 1, NOON + i, 7, true),
				 BURST_NONE);
	assert_int_equal(note_request(b, 1, NOON + 5, 7, true),
			 BURST_NOT_FOUND);
	bursts_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_codes_in_a_window_are_a_burst),
		cmocka_unit_test(the_same_codes_over_and_over_are_none),
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(a_burst_ends),
		cmocka_unit_test(codes_that_are_not_there_count_by_themselves),
		cmocka_unit_test(visitors_are_told_apart),
		cmocka_unit_test(noting_again_changes_no_count),
		cmocka_unit_test(
			late_events_fall_into_the_burst_they_belong_to),
		cmocka_unit_test(
			a_scanner_is_found_among_more_visitors_than_fit),
		cmocka_unit_test(nobody_else_is_taken_for_one),
		cmocka_unit_test(limits_of_zero_judge_nobody),
		cmocka_unit_test(a_window_has_both_its_ends),
		cmocka_unit_test(
			a_late_request_is_counted_with_those_before_it),
		cmocka_unit_test(a_code_was_asked_for_when_it_last_was),
		cmocka_unit_test(a_burst_has_the_window_that_it_was_found_in),
		cmocka_unit_test(of_bursts_apart_the_latest_is_remembered),
		cmocka_unit_test(who_was_quiet_for_longest_makes_room),
		cmocka_unit_test(either_limit_works_alone),
		cmocka_unit_test(the_first_request_counts_as_well),
	};

	return cmocka_run_group_tests_name("bursts", tests, NULL, NULL);
}
