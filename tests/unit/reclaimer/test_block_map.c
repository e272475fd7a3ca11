/* Windows of blocks that were seen and counted, and lists of ranges. */
#include "tests/unit/unit.h"

#include <stdlib.h>

#include "reclaimer/hold/block_arg.h"
#include "reclaimer/verify/block_findings.h"
#include "reclaimer/verify/block_map.h"
#include "reclaimer/verify/range_list.h"

static void ranges_not_seen_are_found_whole(void **state)
{
	struct block_map map;
	struct error err;
	uint64_t first, last;

	(void)state;
	assert_int_equal(block_map_init(&map, 1000, &err), 0);
	block_map_turn(&map, 5000, 6000);
	for (uint64_t b = 5000; b < 6000; b++)
		if (b != 5063 && (b < 5200 || b > 5400) && b != 5999)
			assert_true(block_map_see(&map, b));
	assert_true(block_map_unseen(&map, 5000, &first, &last));
	assert_int_equal(first, 5063);
	assert_int_equal(last, 5063);
	assert_true(block_map_unseen(&map, last + 1, &first, &last));
	assert_int_equal(first, 5200);
	assert_int_equal(last, 5400);
	assert_true(block_map_unseen(&map, last + 1, &first, &last));
	assert_int_equal(first, 5999);
	assert_int_equal(last, 5999);
	assert_false(block_map_unseen(&map, last + 1, &first, &last));
	block_map_free(&map);
}

/* Compares random patterns with a plain array; the seed is fixed. */
static void any_pattern_is_found_again(void **state)
{
	struct block_map map;
	struct error err;
	bool seen[700];
	uint64_t first, last, at;

	(void)state;
	srandom(7);
	assert_int_equal(block_map_init(&map, 700, &err), 0);
	for (int round = 0; round < 200; round++) {
		uint64_t size = 1 + (uint64_t)random() % 700;

		block_map_turn(&map, 100, 100 + size);
		for (uint64_t i = 0; i < size; i++) {
			seen[i] = random() % 3 || (i > 100 && i < 300);
			if (seen[i])
				block_map_see(&map, 100 + i);
		}
		at = 100;
		for (uint64_t i = 0; i < size; i = last - 100 + 1) {
			if (!block_map_unseen(&map, at, &first, &last)) {
				for (; i < size; i++)
					assert_true(seen[i]);
				break;
			}
			for (; i < first - 100; i++)
				assert_true(seen[i]);
			for (; i <= last - 100; i++)
				assert_false(seen[i]);
			at = last + 1;
		}
	}
	block_map_free(&map);
}

static void a_block_is_seen_and_counted_once(void **state)
{
	struct block_map map;
	struct error err;

	(void)state;
	assert_int_equal(block_map_init(&map, 64, &err), 0);
	block_map_turn(&map, 10, 74);
	assert_true(block_map_see(&map, 73));
	assert_false(block_map_see(&map, 73));
	assert_true(block_map_count(&map, 73));
	assert_false(block_map_count(&map, 73));
	block_map_turn(&map, 10, 74);
	assert_true(block_map_see(&map, 73));
	block_map_free(&map);
}

static void ranges_are_joined_and_found(void **state)
{
	struct range_list s = {0};
	struct error err;

	(void)state;
	range_list_add(&s, 20, 29, 0, &err);
	range_list_add(&s, 30, 30, 0, &err);
	range_list_add(&s, 5, 6, 0, &err);
	range_list_add(&s, 7, 8, 2, &err);
	range_list_add(&s, 25, 40, 0, &err);
	range_list_sort(&s);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.list[2].first, 20);
	assert_int_equal(s.list[2].last, 40);
	assert_int_equal(range_list_find(&s, 9), 2);
	assert_int_equal(range_list_find(&s, 41), 3);
	range_list_free(&s);
}

static void more_than_there_is_room_for_is_counted(void **state)
{
	struct range_list s = {0};
	struct error err;

	(void)state;
	for (uint64_t i = 0; i < RANGE_LIST_MAX + 10; i++)
		range_list_add(&s, 3 * i, 3 * i + 1, 0, &err);
	assert_int_equal(s.count, RANGE_LIST_MAX);
	assert_int_equal(s.left_out, 20);
	range_list_free(&s);
}

static void the_same_finding_is_told_once_and_all_are_counted(void **state)
{
	struct block_findings f = {0};
	struct block_finding one = {.trouble = TROUBLE_TWICE,
				    .has_blocks = true};
	struct error err;

	(void)state;
	block_findings_add(&f, &one, &err);
	block_findings_add(&f, &one, &err);
	assert_int_equal(f.total, 1);
	for (uint64_t i = 1; i < FINDINGS_MAX + 50; i++) {
		one.first = i;
		block_findings_add(&f, &one, &err);
	}
	assert_int_equal(f.total, FINDINGS_MAX + 50);
	assert_int_equal(f.count, FINDINGS_MAX);
	f.list[3].repaired = true;
	assert_int_equal(block_findings_left(&f), FINDINGS_MAX + 49);
	block_findings_free(&f);
}

static void blocks_on_the_command_line(void **state)
{
	static const char *const wrong[] = {"",
					    "-",
					    "1-",
					    "-1",
					    "3-2",
					    "1-2-3",
					    "1 ",
					    " 1",
					    "+1",
					    "1x",
					    "99999999999999999999"};
	uint64_t first, last;
	struct error err;

	(void)state;
	assert_int_equal(block_arg_read("42", &first, &last, &err), 0);
	assert_true(first == 42 && last == 42);
	assert_int_equal(block_arg_read("0-49", &first, &last, &err), 0);
	assert_true(first == 0 && last == 49);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(block_arg_read(wrong[i], &first, &last, &err),
				 -1);
		assert_int_equal(err.code, ERROR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_not_seen_are_found_whole),
		cmocka_unit_test(any_pattern_is_found_again),
		cmocka_unit_test(a_block_is_seen_and_counted_once),
		cmocka_unit_test(ranges_are_joined_and_found),
		cmocka_unit_test(more_than_there_is_room_for_is_counted),
		cmocka_unit_test(
			the_same_finding_is_told_once_and_all_are_counted),
		cmocka_unit_test(blocks_on_the_command_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
