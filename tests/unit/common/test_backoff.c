#include "tests/unit/unit.h"

#include "common/backoff.h"

enum {
	MIN_MS = 200,
	MAX_MS = 10000,
};

static void the_longest_wait_doubles_up_to_the_bound(void **state)
{
	(void)state;
	assert_int_equal(backoff_delay(MIN_MS, MAX_MS, 1, 0), 200);
	assert_int_equal(backoff_delay(MIN_MS, MAX_MS, 2, 0), 400);
	assert_int_equal(backoff_delay(MIN_MS, MAX_MS, 6, 0), 6400);
	assert_int_equal(backoff_delay(MIN_MS, MAX_MS, 7, 0), MAX_MS);
	assert_int_equal(backoff_delay(MIN_MS, MAX_MS, UINT32_MAX, 0), MAX_MS);
	assert_int_equal(backoff_delay(MIN_MS, 100, 1, 0), 100);
}

static void chance_takes_up_to_half(void **state)
{
	(void)state;
	for (unsigned failures = 1; failures < 20; failures++) {
		int64_t most = backoff_delay(MIN_MS, MAX_MS, failures, 0);

		assert_int_equal(
			backoff_delay(MIN_MS, MAX_MS, failures, UINT32_MAX),
			most / 2 + 1);
		assert_int_equal(
			backoff_delay(MIN_MS, MAX_MS, failures, 1U << 31),
			most - most / 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_wait_doubles_up_to_the_bound),
		cmocka_unit_test(chance_takes_up_to_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
