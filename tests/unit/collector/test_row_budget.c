#include "tests/unit/unit.h"

#include "collector/ingest/row_budget.h"

enum {
	BOUND = 1000
};

static struct row_budget valve_of(size_t held, size_t partitions)
{
	struct row_budget v;

	row_budget_init(&v, BOUND);
	row_budget_set(&v, held, partitions);
	return v;
}

static void up_to_half_of_the_bound_all_may_bring_more(void **state)
{
	struct row_budget v = valve_of(BOUND / 2, 10);

	(void)state;
	assert_false(row_budget_pauses(&v, BOUND / 2, false));
}

static void beyond_half_who_holds_more_than_a_share_is_shut(void **state)
{
	struct row_budget v = valve_of(BOUND / 2 + 1, 10);

	(void)state;
	assert_true(row_budget_pauses(&v, BOUND / 10, false));
	assert_false(row_budget_pauses(&v, BOUND / 10 - 1, false));
	/* A single partition may use the whole budget. */
	v = valve_of(BOUND - 1, 1);
	assert_false(row_budget_pauses(&v, BOUND - 1, false));
}

static void at_the_bound_all_are_shut_until_half_is_gone(void **state)
{
	struct row_budget v = valve_of(BOUND - 1, 10);

	(void)state;
	row_budget_add(&v, 1);
	assert_true(row_budget_pauses(&v, 0, false));
	row_budget_set(&v, BOUND / 2 + 1, 10);
	assert_true(row_budget_pauses(&v, 0, true));
	row_budget_set(&v, BOUND / 2, 10);
	assert_false(row_budget_pauses(&v, 0, true));
}

static void who_was_shut_opens_when_clearly_less_is_held(void **state)
{
	struct row_budget v = valve_of(BOUND / 2, 10);

	(void)state;
	assert_true(row_budget_pauses(&v, BOUND / 20 + 1, true));
	assert_false(row_budget_pauses(&v, BOUND / 20, true));
	row_budget_set(&v, BOUND / 4, 10);
	assert_false(row_budget_pauses(&v, BOUND / 4, true));
}

static void large_blocks_make_room_and_small_ones_need_not(void **state)
{
	struct row_budget v = valve_of(BOUND, 10);

	(void)state;
	assert_true(row_budget_is_urgent(&v, BOUND / 20));
	assert_false(row_budget_is_urgent(&v, BOUND / 20 - 1));
}

static void no_partitions_are_no_division_by_zero(void **state)
{
	struct row_budget v = valve_of(0, 0);

	(void)state;
	assert_false(row_budget_pauses(&v, 0, false));
}

static void pressed_it_holds_less_but_never_nothing(void **state)
{
	struct row_budget v = valve_of(BOUND / 2, 1);

	(void)state;
	for (int i = 0; i < 10; i++)
		row_budget_tighten(&v);
	assert_int_equal(v.bound, BOUND / 8);
	assert_true(row_budget_pauses(&v, 1, false));
	row_budget_set(&v, BOUND / 16, 1);
	assert_false(row_budget_pauses(&v, 1, true));
}

static void relaxed_it_holds_what_it_did_before(void **state)
{
	struct row_budget v = valve_of(0, 1);

	(void)state;
	row_budget_tighten(&v);
	row_budget_tighten(&v);
	row_budget_relax(&v);
	assert_int_equal(v.bound, BOUND / 2);
	row_budget_relax(&v);
	row_budget_relax(&v);
	assert_int_equal(v.bound, BOUND);
}

/* For any number of partitions, sizes of events and order, the rows held never
 * exceed the bound by more than one event. */
static void the_bound_holds_whatever_comes(void **state)
{
	size_t own[7] = {0}, held = 0;
	bool shut[7] = {false};
	struct row_budget v;

	(void)state;
	srand(1);
	row_budget_init(&v, BOUND);
	for (int i = 0; i < 100000; i++) {
		size_t p = (size_t)rand() % 7, bytes = (size_t)rand() % 90;

		shut[p] = row_budget_pauses(&v, own[p], shut[p]);
		if (!shut[p]) {
			own[p] += bytes;
			held += bytes;
			row_budget_add(&v, bytes);
		}
		assert_true(held < BOUND + 90);
		if (rand() % 50 == 0) {
			p = (size_t)rand() % 7;
			held -= own[p];
			own[p] = 0;
			row_budget_set(&v, held, 7);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(up_to_half_of_the_bound_all_may_bring_more),
		cmocka_unit_test(
			beyond_half_who_holds_more_than_a_share_is_shut),
		cmocka_unit_test(at_the_bound_all_are_shut_until_half_is_gone),
		cmocka_unit_test(who_was_shut_opens_when_clearly_less_is_held),
		cmocka_unit_test(
			large_blocks_make_room_and_small_ones_need_not),
		cmocka_unit_test(no_partitions_are_no_division_by_zero),
		cmocka_unit_test(pressed_it_holds_less_but_never_nothing),
		cmocka_unit_test(relaxed_it_holds_what_it_did_before),
		cmocka_unit_test(the_bound_holds_whatever_comes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
