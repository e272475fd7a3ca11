#include "tests/unit/unit.h"

#include "collector/exactly_once/ranges.h"

/* Makes ranges from pairs; a pair whose first is greater than its last ends the
 * list. */
static struct ranges make_ranges(const uint64_t *pairs)
{
	struct ranges r = {0};
	struct error err;

	for (; pairs[0] <= pairs[1]; pairs += 2)
		assert_int_equal(ranges_add(&r, pairs[0], pairs[1], &err), 0);
	return r;
}

#define MAKE(...) make_ranges((const uint64_t[]){__VA_ARGS__, 1, 0})

static void offsets_in_a_row_are_one_range(void **state)
{
	struct ranges r = {0};
	struct error err;

	(void)state;
	for (uint64_t offset = 0; offset < 100; offset++)
		assert_int_equal(ranges_note(&r, offset, &err), 0);
	assert_int_equal(r.count, 1);
	assert_int_equal(ranges_note(&r, 101, &err), 0);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.items[0].first, 0);
	assert_int_equal(r.items[0].last, 99);
	assert_int_equal(r.items[1].first, 101);
	assert_int_equal(r.items[1].last, 101);
	ranges_release(&r);
	assert_int_equal(r.count, 0);
}

static void many_ranges_fit(void **state)
{
	struct ranges r = {0};
	struct error err;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(ranges_note(&r, 3 * i, &err), 0);
	assert_int_equal(r.count, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(r.items[i].first, 3 * i);
	ranges_release(&r);
}

static void a_member_is_found_in_any_order(void **state)
{
	static const uint64_t members[] = {5, 7, 10, 10, 12, 12, 20, 29},
			      others[] = {0, 4, 8, 9, 11, 11, 13, 19, 30, 99};
	struct ranges r = MAKE(5, 7, 10, 10, 12, 12, 20, 29);

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < 8; i++)
			assert_true(ranges_have(&r, members[i]));
		for (size_t i = 8; i-- > 0;)
			assert_true(ranges_have(&r, members[i]));
		for (size_t i = 0; i < 10; i++)
			assert_false(ranges_have(&r, others[i]));
		for (size_t i = 10; i-- > 0;)
			assert_false(ranges_have(&r, others[i]));
	}
	/* Searches from beyond a range back into it, and to its neighbours. */
	for (uint64_t first = 0; first < 32; first++)
		for (uint64_t then = 0; then < 32; then++) {
			ranges_have(&r, first);
			assert_int_equal(ranges_have(&r, then),
					 ranges_count(&r, then, then));
		}
	ranges_release(&r);
}

static void an_end_is_one_past_the_last(void **state)
{
	struct ranges none = {0}, r = MAKE(0, 0), more = MAKE(5, 7, 10, 19);

	(void)state;
	assert_int_equal(ranges_end(&none), 0);
	assert_int_equal(ranges_end(&r), 1);
	assert_int_equal(ranges_end(&more), 20);
	ranges_release(&r);
	ranges_release(&more);
}

static void a_count_includes_both_ends(void **state)
{
	struct ranges r = MAKE(5, 7, 10, 10, 20, 29);

	(void)state;
	assert_int_equal(ranges_count(&r, 0, UINT64_MAX), 14);
	assert_int_equal(ranges_count(&r, 7, 20), 3);
	assert_int_equal(ranges_count(&r, 6, 6), 1);
	assert_int_equal(ranges_count(&r, 8, 9), 0);
	assert_int_equal(ranges_count(&r, 10, 10), 1);
	assert_int_equal(ranges_count(&r, 29, 40), 1);
	assert_int_equal(ranges_count(&r, 30, 40), 0);
	ranges_release(&r);
}

/* Compares each pair of ranges of a small line with a count one by one. */
static void what_two_have_in_common_is_counted(void **state)
{
	enum {
		LINE = 7
	};

	(void)state;
	for (unsigned a = 0; a < 1U << LINE; a++)
		for (unsigned b = 0; b < 1U << LINE; b++) {
			struct ranges x = {0}, y = {0};
			struct error err;

			for (unsigned i = 0; i < LINE; i++) {
				if (a >> i & 1)
					ranges_note(&x, i, &err);
				if (b >> i & 1)
					ranges_note(&y, i, &err);
			}
			if (ranges_common(&x, &y) !=
			    (uint64_t)__builtin_popcount(a & b))
				fail_msg("%x and %x", a, b);
			ranges_release(&x);
			ranges_release(&y);
		}
}

/* ClickHouse merges stored rows into islands; a batch has its own. */
static void islands_that_touch_are_counted_in_full(void **state)
{
	struct ranges one = MAKE(0, 99), several = MAKE(0, 9, 10, 19, 50, 99),
		      far = MAKE(UINT64_MAX - 1, UINT64_MAX - 1);

	(void)state;
	assert_int_equal(ranges_common(&one, &several), 70);
	assert_int_equal(ranges_common(&several, &one), 70);
	assert_int_equal(ranges_common(&one, &far), 0);
	assert_int_equal(ranges_common(&far, &far), 1);
	ranges_release(&one);
	ranges_release(&several);
	ranges_release(&far);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_in_a_row_are_one_range),
		cmocka_unit_test(many_ranges_fit),
		cmocka_unit_test(a_member_is_found_in_any_order),
		cmocka_unit_test(an_end_is_one_past_the_last),
		cmocka_unit_test(a_count_includes_both_ends),
		cmocka_unit_test(what_two_have_in_common_is_counted),
		cmocka_unit_test(islands_that_touch_are_counted_in_full),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
