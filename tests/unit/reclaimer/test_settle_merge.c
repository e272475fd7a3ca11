/* Live neighbours: which of them stay one member of the issued set. */
#include "tests/unit/unit.h"

#include "common/clock.h"
#include "reclaimer/space/settle_plan.h"

enum {
	LIVE_MAX = 16
};

/* Plans one member of live blocks with these ends.  A block is checked again
 * after the millisecond in which it ends. */
static size_t plan_live(const struct settle_merge *how, const int64_t *ends,
			size_t count, struct settle_part *ret_parts)
{
	struct scanned_range range = {{0, count - 1, 1}, count - 1, 5};
	struct block_scan looks[LIVE_MAX];

	for (size_t i = 0; i < count; i++)
		looks[i] = (struct block_scan){
			.state = BLOCK_LIVE, .end = ends[i], .generation = 1};
	return settle_plan(&range, 1, looks, how, ret_parts);
}

static void
live_neighbours_that_end_together_are_looked_at_with_the_last(void **state)
{
	const struct settle_merge how = {.now = 0, .apart = 100};
	const int64_t ends[] = {9000, 9100, 9050};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, ends, 3, parts), 1);
	assert_int_equal(parts[0].score, 9101);
}

static void live_neighbours_that_end_apart_are_looked_at_apart(void **state)
{
	const struct settle_merge how = {.now = 0, .apart = 100};
	const int64_t ends[] = {9000, 9101, 9202};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, ends, 3, parts), 3);
	assert_int_equal(parts[0].score, 9001);
	assert_int_equal(parts[2].score, 9203);
}

/* A block that is due now stays a part of its own, however near the next end
 * is. */
static void blocks_that_end_now_or_never_are_looked_at_apart(void **state)
{
	const struct settle_merge how = {.now = 9001, .apart = 100};
	const int64_t now[] = {9000, 9100}, late[] = {8999, 9000},
		      never[] = {9900, DURATION_NEVER};
	const struct settle_merge wide = {.now = 0, .apart = DURATION_NEVER};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, now, 2, parts), 2);
	assert_int_equal(plan_live(&how, late, 2, parts), 2);
	assert_int_equal(plan_live(&wide, never, 2, parts), 2);
	assert_true(parts[1].score == DURATION_NEVER);
}

static void blocks_that_end_at_one_time_stay_one_when_it_is_over(void **state)
{
	const struct settle_merge how = {.now = 9001, .apart = 100};
	const int64_t ends[] = {8000, 8000};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, ends, 2, parts), 1);
}

static void ends_that_creep_away_do_not_pull_the_first_along(void **state)
{
	const struct settle_merge how = {.now = 0, .apart = 100};
	const int64_t ends[] = {9000, 9060, 9120, 9180};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, ends, 4, parts), 2);
	assert_int_equal(parts[0].score, 9061);
	assert_int_equal(parts[1].score, 9181);
}

static void a_block_waits_for_its_neighbour_an_eighth_longer_at_most(void **st)
{
	const struct settle_merge how = {.now = 1000, .apart = CLOCK_DAY};
	const int64_t near[] = {1800, 1900}, far[] = {1800, 1901};
	struct settle_part parts[LIVE_MAX + 1];

	(void)st;
	assert_int_equal(plan_live(&how, near, 2, parts), 1);
	assert_int_equal(plan_live(&how, far, 2, parts), 2);
}

static void what_never_ends_does_not_hide_what_does(void **state)
{
	const struct settle_merge how = {.now = 0, .apart = DURATION_NEVER};
	const int64_t ends[] = {DURATION_NEVER, DURATION_NEVER, 9000};
	struct settle_part parts[LIVE_MAX + 1];

	(void)state;
	assert_int_equal(plan_live(&how, ends, 3, parts), 2);
	assert_int_equal(parts[0].score, DURATION_NEVER);
	assert_int_equal(parts[1].score, 9001);
}

static void what_was_not_looked_at_is_not_put_off_with_its_neighbour(void **st)
{
	const struct settle_merge how = {.now = 0, .apart = DURATION_NEVER};
	struct scanned_range cut = {{0, 9, 1}, 4, 77};
	struct settle_part parts[LIVE_MAX];
	struct block_scan looks[5];

	(void)st;
	for (size_t i = 0; i < 5; i++)
		looks[i] = (struct block_scan){
			.state = BLOCK_LIVE, .end = 90, .generation = 1};
	assert_int_equal(settle_plan(&cut, 1, looks, &how, parts), 2);
	assert_int_equal(parts[1].range.first, 5);
	assert_int_equal(parts[1].score, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			blocks_that_end_now_or_never_are_looked_at_apart),
		cmocka_unit_test(
			blocks_that_end_at_one_time_stay_one_when_it_is_over),
		cmocka_unit_test(
			live_neighbours_that_end_together_are_looked_at_with_the_last),
		cmocka_unit_test(
			live_neighbours_that_end_apart_are_looked_at_apart),
		cmocka_unit_test(
			ends_that_creep_away_do_not_pull_the_first_along),
		cmocka_unit_test(
			a_block_waits_for_its_neighbour_an_eighth_longer_at_most),
		cmocka_unit_test(what_never_ends_does_not_hide_what_does),
		cmocka_unit_test(
			what_was_not_looked_at_is_not_put_off_with_its_neighbour),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
