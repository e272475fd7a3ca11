#include "tests/unit/unit.h"

#include "collector/insert_rate.h"

enum {
	BATCH_AGE = 1000,
	COLLECTORS_MAX = 4,
	PARTITIONS_MAX = 64,
};

static void the_age_is_the_settings_while_the_parts_allow_it(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 4, 4, 0);
	assert_int_equal(insert_rate_period(&p), 800);
	assert_int_equal(insert_rate_age(&p, BATCH_AGE), BATCH_AGE);
}

static void the_age_stretches_with_the_topics_partitions(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 3, 60, 0);
	assert_int_equal(insert_rate_age(&p, BATCH_AGE), 12000);
	/* Partitions of other collectors count, whether or not they are known.
	 */
	insert_rate_share(&p, 60, 0, 0);
	assert_int_equal(insert_rate_age(&p, BATCH_AGE), 12000);
}

static void the_share_is_that_of_the_partitions_held(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 6, 0);
	insert_rate_share(&p, 2, 8, 0);
	assert_true(insert_rate_own(&p) == 1.5);
	insert_rate_share(&p, 0, 8, 0);
	assert_true(insert_rate_own(&p) == 0);
	insert_rate_share(&p, 0, 0, 0);
	assert_int_equal(insert_rate_period(&p), 0);
	assert_int_equal(insert_rate_due(&p, 0, 7, BATCH_AGE), 7 + BATCH_AGE);
}

static void a_block_is_due_within_its_age(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	for (uint32_t n = 1; n <= PARTITIONS_MAX; n++) {
		insert_rate_share(&p, n, n, 0);
		for (int64_t started = 0; started < 20000; started += 37) {
			int64_t due = insert_rate_due(
				&p, (int32_t)(started % n), started, BATCH_AGE);

			assert_true(due > started);
			assert_true(due <=
				    started + insert_rate_age(&p, BATCH_AGE));
		}
	}
}

/* Blocks that all started at once must not all end at once. */
static void the_partitions_instants_are_spread_over_the_period(void **state)
{
	bool taken[PARTITIONS_MAX] = {false};
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, PARTITIONS_MAX, PARTITIONS_MAX, 0);
	for (int32_t i = 0; i < PARTITIONS_MAX; i++) {
		int64_t due = insert_rate_due(&p, i, 1000000, BATCH_AGE);
		int64_t slot = (due - 1) % insert_rate_period(&p) / 200;

		assert_false(taken[slot]);
		taken[slot] = true;
	}
}

static void a_partition_is_due_once_a_period(void **state)
{
	int64_t last = 0;
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 20, 20, 0);
	for (int i = 0; i < 100; i++) {
		/* The next event comes soon after the insert, or later. */
		int64_t due =
			insert_rate_due(&p, 7, last + 1 + i * 31 % 500, 10);

		assert_true(!last || due - last >= insert_rate_period(&p));
		last = due;
	}
}

/* --- the bucket -------------------------------------------------------- */

static int simulate_inserts(struct insert_rate *p, int64_t from, int64_t to,
			    uint32_t parts)
{
	int count = 0;

	for (int64_t now = from; now < to; now++)
		if (insert_rate_ready(p, now)) {
			insert_rate_spend(p, parts, now);
			count++;
		}
	return count;
}

static void full_blocks_keep_to_the_rate(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 4, 4, 0);
	/* The content of the bucket is added once. */
	assert_in_range(simulate_inserts(&p, 0, 100000, 1), 500, 506);
}

static void a_block_of_several_days_counts_as_several(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 4, 4, 0);
	assert_in_range(simulate_inserts(&p, 0, 100000, 3), 166, 169);
}

static void after_a_rest_a_second_of_inserts_can_go_at_once(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 4, 4, 0);
	simulate_inserts(&p, 0, 1000, 1);
	assert_int_equal(simulate_inserts(&p, 3600000, 3600001, 1), 1);
	assert_in_range(simulate_inserts(&p, 3600001, 3600010, 1), 4, 4);
	assert_in_range(simulate_inserts(&p, 3600010, 3601010, 1), 4, 6);
}

static void a_small_share_still_inserts(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 0);
	insert_rate_share(&p, 1, 100, 0);
	assert_in_range(simulate_inserts(&p, 0, 200000, 1), 10, 11);
}

static void a_clock_set_back_gives_no_tokens(void **state)
{
	struct insert_rate p;

	(void)state;
	insert_rate_init(&p, 5, 1000000);
	insert_rate_share(&p, 4, 4, 1000000);
	simulate_inserts(&p, 1000000, 1010000, 1);
	assert_true(simulate_inserts(&p, 0, 1000, 1) <= 6);
}

/* Collectors hold partitions in turn, each with a full block at any time:
 * together they stay within the setting. */
static void collectors_together_keep_to_the_setting(void **state)
{
	struct insert_rate p[COLLECTORS_MAX];
	int count = 0;

	(void)state;
	for (uint32_t i = 0; i < COLLECTORS_MAX; i++) {
		insert_rate_init(&p[i], 5, 0);
		insert_rate_share(&p[i], 7 + i, 34, 0);
	}
	for (uint32_t i = 0; i < COLLECTORS_MAX; i++)
		count += simulate_inserts(&p[i], 0, 100000, 1);
	assert_in_range(count, 490, 500 + 2 * COLLECTORS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_age_is_the_settings_while_the_parts_allow_it),
		cmocka_unit_test(the_age_stretches_with_the_topics_partitions),
		cmocka_unit_test(the_share_is_that_of_the_partitions_held),
		cmocka_unit_test(a_block_is_due_within_its_age),
		cmocka_unit_test(
			the_partitions_instants_are_spread_over_the_period),
		cmocka_unit_test(a_partition_is_due_once_a_period),
		cmocka_unit_test(full_blocks_keep_to_the_rate),
		cmocka_unit_test(a_block_of_several_days_counts_as_several),
		cmocka_unit_test(
			after_a_rest_a_second_of_inserts_can_go_at_once),
		cmocka_unit_test(a_small_share_still_inserts),
		cmocka_unit_test(a_clock_set_back_gives_no_tokens),
		cmocka_unit_test(collectors_together_keep_to_the_setting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
