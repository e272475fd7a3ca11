#include "tests/unit/unit.h"

#include "redirector/counters/told_hours.h"

enum {
	HOUR = 500000, /* since 1970 */
	PLACE = HOUR % HOUR_TABLE_SIZE,
	BEGIN = 1000, /* monotonic ms */
};

static int make_hours(void **state)
{
	*state = calloc(1, sizeof(struct told_hours));
	return *state ? 0 : -1;
}

static int drop_hours(void **state)
{
	free(*state);
	return 0;
}

static bool take_hour_if_due(struct told_hours *t, uint64_t redirected,
			     int64_t now)
{
	struct hour_counts counts = {.hour = HOUR};

	counts.n[HOUR_REDIRECTED] = redirected;
	return told_hours_take(t, PLACE, &counts, now);
}

static void complete_receipt(struct told_hours *t, bool stored)
{
	receipt_expect(&t->receipts[PLACE]);
	receipt_note(&t->receipts[PLACE], stored);
}

static void an_hour_is_told_until_an_hour_after_it_changed(void **state)
{
	struct told_hours *t = *state;

	assert_true(take_hour_if_due(t, 1, BEGIN));
	assert_true(take_hour_if_due(t, 1, BEGIN + HOUR_MS - 1));
	assert_false(take_hour_if_due(t, 1, BEGIN + HOUR_MS));
	assert_true(take_hour_if_due(t, 2, BEGIN + HOUR_MS + 1));
	assert_true(take_hour_if_due(t, 2, BEGIN + 2 * HOUR_MS));
	assert_false(take_hour_if_due(t, 2, BEGIN + 2 * HOUR_MS + 1));
}

static void an_hour_that_was_not_stored_is_told_again_however_old(void **state)
{
	struct told_hours *t = *state;
	int64_t later = BEGIN + 30 * HOUR_MS;

	assert_true(take_hour_if_due(t, 1, BEGIN));
	complete_receipt(t, false);
	assert_int_equal(told_hours_count_failed(t), 1);
	assert_true(take_hour_if_due(t, 1, later));
	assert_int_equal(told_hours_count_failed(t), 0);
	complete_receipt(t, false);
	assert_true(take_hour_if_due(t, 1, later + HOUR_MS));
	complete_receipt(t, true);
	assert_false(take_hour_if_due(t, 1, later + 2 * HOUR_MS));
}

static void a_place_without_an_hour_is_never_told(void **state)
{
	const struct hour_counts present = {.hour = HOUR}, none = {0};
	struct told_hours *t = *state;

	assert_false(told_hours_take(t, PLACE, &none, BEGIN));
	assert_true(told_hours_take(t, PLACE, &present, BEGIN));
	complete_receipt(t, false);
	assert_false(told_hours_take(t, PLACE, &none, BEGIN + 1));
	assert_int_equal(told_hours_count_failed(t), 0);
}

static void a_receipt_is_complete_when_all_is_known(void **state)
{
	struct receipt r = {0};

	(void)state;
	assert_true(receipt_is_complete(&r));
	receipt_expect(&r);
	receipt_expect(&r);
	receipt_note(&r, false);
	assert_false(receipt_is_complete(&r));
	receipt_note(&r, true);
	assert_true(receipt_is_complete(&r));
	assert_true(receipt_has_failed(&r));
	assert_true(receipt_take_failure(&r));
	assert_false(receipt_take_failure(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			an_hour_is_told_until_an_hour_after_it_changed,
			make_hours, drop_hours),
		cmocka_unit_test_setup_teardown(
			an_hour_that_was_not_stored_is_told_again_however_old,
			make_hours, drop_hours),
		cmocka_unit_test_setup_teardown(
			a_place_without_an_hour_is_never_told, make_hours,
			drop_hours),
		cmocka_unit_test(a_receipt_is_complete_when_all_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
