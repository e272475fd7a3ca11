#include "tests/unit/unit.h"

#include <string.h>

#include "collector/exactly_once/guarantee.h"

static struct guarantee measured_of(const struct measured *measured,
				    const struct guarantee_table *tables,
				    size_t count)
{
	struct guarantee g = GUARANTEE_MOST;

	for (size_t i = 0; i < count; i++)
		guarantee_judge_table(&tables[i], &g);
	guarantee_conclude(measured, &g);
	return g;
}

/* The server is one where a block holds one entry. */
static struct guarantee compute_guarantee(const struct guarantee_table *tables,
					  size_t count)
{
	const struct measured m = {.done = true, .outlived = MEASURE_WINDOW};

	return measured_of(&m, tables, count);
}

static void the_table_that_keeps_the_fewest_counts(void **state)
{
	static const struct guarantee_table tables[] = {
		{"clicks", "MergeTree", "10000", "604800"},
		{"ingest_progress", "MergeTree", "400", "604800"},
		{"links", "ReplacingMergeTree", "10000", "604800"},
	};
	struct guarantee g = compute_guarantee(tables, 3);

	(void)state;
	assert_string_equal(g.text,
			    "exactly once (measured: window 400 blocks)");
	assert_int_equal(guarantee_retry_ms(&g, 5), 40000);
}

/* These tables forget tokens by time, too. */
static void replicated_tables_keep_tokens_for_seconds(void **state)
{
	struct guarantee_table tables[] = {
		{"clicks", "ReplicatedMergeTree", "1000", "3600"},
		{"ingest_progress", "ReplicatedMergeTree", "10000", "60"},
		{"links", "SharedReplacingMergeTree", "10000", "604800"},
	};
	struct guarantee g = compute_guarantee(tables, 3);

	(void)state;
	assert_string_equal(g.text,
			    "not measured: tables are replicated (window 1000 "
			    "blocks, 60 s by the settings)");
	assert_false(g.exactly_once);
	assert_int_equal(guarantee_retry_ms(&g, 5), 30000);
	tables[1].seconds = "604800";
	g = compute_guarantee(tables, 3);
	assert_int_equal(guarantee_retry_ms(&g, 5), 50000);
}

static const struct guarantee_table usual = {"clicks", "MergeTree", "10001",
					     "604800"};

static void a_block_of_two_entries_has_half_of_the_window(void **state)
{
	const struct measured m = {.done = true, .outlived = 4};
	struct guarantee g = measured_of(&m, &usual, 1);

	(void)state;
	assert_true(g.exactly_once);
	assert_string_equal(g.text,
			    "exactly once (measured: window 5000 blocks)");
	assert_int_equal(guarantee_retry_ms(&g, 5), 500000);
}

static void what_was_not_measured_is_not_promised(void **state)
{
	const struct measured m = {.why = "nobody may"};
	struct guarantee g = measured_of(&m, &usual, 1);

	(void)state;
	assert_false(g.exactly_once);
	assert_string_equal(g.text, "not measured: nobody may (window 10001 "
				    "blocks by the settings)");
	assert_int_equal(guarantee_retry_ms(&g, 5), 500000);
}

static void what_was_measured_counts(void **state)
{
	const struct measured m = {.done = true, .flaw = "it forgets"};
	struct guarantee g = measured_of(&m, &usual, 1);

	(void)state;
	assert_false(g.exactly_once);
	assert_string_equal(g.text, "at least once: it forgets");
	assert_int_equal(guarantee_retry_ms(&g, 5), 0);
}

static void expect_at_least_once(struct guarantee_table table, const char *text)
{
	struct guarantee g = compute_guarantee(&table, 1);

	assert_false(g.exactly_once);
	assert_string_equal(g.text, text);
	assert_int_equal(guarantee_retry_ms(&g, 5), 0);
}

static void what_keeps_no_tokens_is_named(void **state)
{
	(void)state;
	expect_at_least_once(
		(struct guarantee_table){"clicks", "MergeTree", "0", "604800"},
		"at least once: table clicks has "
		"non_replicated_deduplication_window=0");
	expect_at_least_once((struct guarantee_table){"clicks",
						      "ReplicatedMergeTree",
						      "0", "604800"},
			     "at least once: table clicks has "
			     "replicated_deduplication_window=0");
	expect_at_least_once(
		(struct guarantee_table){
			"links", "ReplicatedReplacingMergeTree", "1000", "0"},
		"at least once: table links has "
		"replicated_deduplication_window_seconds=0");
	expect_at_least_once(
		(struct guarantee_table){"clicks", "Memory", "", "604800"},
		"at least once: table clicks has the engine Memory");
	expect_at_least_once(
		(struct guarantee_table){"clicks", "Distributed", "10",
					 "604800"},
		"at least once: table clicks has the engine Distributed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_that_keeps_the_fewest_counts),
		cmocka_unit_test(replicated_tables_keep_tokens_for_seconds),
		cmocka_unit_test(what_keeps_no_tokens_is_named),
		cmocka_unit_test(a_block_of_two_entries_has_half_of_the_window),
		cmocka_unit_test(what_was_not_measured_is_not_promised),
		cmocka_unit_test(what_was_measured_counts),
	};

	return cmocka_run_group_tests_name("guarantee", tests, NULL, NULL);
}
