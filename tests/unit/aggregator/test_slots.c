#include "tests/unit/unit.h"

#include "aggregator/api/slots.h"

static struct slots *make_slots(int64_t of_key, int64_t of_all)
{
	const struct slots_bounds bounds = {of_key, of_all};
	struct error err = {0};
	struct slots *s = slots_new(&bounds, &err);

	assert_non_null(s);
	return s;
}

static void a_key_has_so_many(void **state)
{
	struct slots *s = make_slots(2, 0);

	(void)state;
	assert_int_equal(slots_take(s, "a"), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, "a"), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, "a"), SLOTS_KEY_FULL);
	assert_int_equal(slots_take(s, "b"), SLOTS_TAKEN);
	assert_int_equal(slots_held(s, "a"), 2);
	assert_int_equal(slots_held(s, "c"), 0);
	slots_give_back(s, "a");
	assert_int_equal(slots_held(s, "a"), 1);
	assert_int_equal(slots_take(s, "a"), SLOTS_TAKEN);
	slots_free(s);
	slots_free(NULL);
}

static void all_have_so_many(void **state)
{
	struct slots *s = make_slots(2, 3);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(slots_take(s, i < 2 ? "a" : "b"), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, "c"), SLOTS_ALL_FULL);
	assert_int_equal(slots_take(s, "a"), SLOTS_KEY_FULL);
	slots_give_back(s, "b");
	assert_int_equal(slots_take(s, "c"), SLOTS_TAKEN);
	slots_free(s);
}

static void nobody_is_no_key(void **state)
{
	struct slots *s = make_slots(1, 3);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(slots_take(s, ""), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, ""), SLOTS_ALL_FULL);
	slots_give_back(s, "");
	assert_int_equal(slots_take(s, ""), SLOTS_TAKEN);
	slots_free(s);
}

static void what_nobody_holds_is_not_given_back(void **state)
{
	struct slots *s = make_slots(1, 2);

	(void)state;
	assert_int_equal(slots_take(s, "a"), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, "b"), SLOTS_TAKEN);
	slots_give_back(s, "c");
	assert_int_equal(slots_take(s, "c"), SLOTS_ALL_FULL);
	slots_give_back(s, "a");
	slots_give_back(s, "a");
	assert_int_equal(slots_take(s, "a"), SLOTS_TAKEN);
	assert_int_equal(slots_take(s, "c"), SLOTS_ALL_FULL);
	slots_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_so_many),
		cmocka_unit_test(all_have_so_many),
		cmocka_unit_test(nobody_is_no_key),
		cmocka_unit_test(what_nobody_holds_is_not_given_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
