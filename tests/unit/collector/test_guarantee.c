#include "tests/unit/unit.h"

#include <string.h>

#include "collector/once/guarantee.h"

static struct guarantee of(const struct guarantee_table *tables, size_t count)
{
	struct guarantee g = GUARANTEE_MOST;

	for (size_t i = 0; i < count; i++)
		guarantee_judge_table(&tables[i], &g);
	if (g.exactly_once)
		guarantee_say(&g);
	return g;
}

static void the_table_that_keeps_the_fewest_counts(void **state)
{
	static const struct guarantee_table tables[] = {
		{"clicks", "MergeTree", "10000", "604800"},
		{"ingest_progress", "MergeTree", "400", "604800"},
		{"links", "ReplacingMergeTree", "10000", "604800"},
	};
	struct guarantee g = of(tables, 3);

	(void)state;
	assert_string_equal(g.text, "exactly once (window 400 blocks)");
	assert_int_equal(guarantee_retry_ms(&g, 5), 40000);
}

/* Theirs are forgotten by time, too. */
static void replicated_tables_keep_tokens_for_seconds(void **state)
{
	struct guarantee_table tables[] = {
		{"clicks", "ReplicatedMergeTree", "1000", "3600"},
		{"ingest_progress", "ReplicatedMergeTree", "10000", "60"},
		{"links", "SharedReplacingMergeTree", "10000", "604800"},
	};
	struct guarantee g = of(tables, 3);

	(void)state;
	assert_string_equal(g.text, "exactly once (window 1000 blocks, 60 s)");
	assert_int_equal(guarantee_retry_ms(&g, 5), 30000);
	tables[1].seconds = "604800";
	g = of(tables, 3);
	assert_int_equal(guarantee_retry_ms(&g, 5), 100000);
}

static void says(struct guarantee_table table, const char *text)
{
	struct guarantee g = of(&table, 1);

	assert_false(g.exactly_once);
	assert_string_equal(g.text, text);
	assert_int_equal(guarantee_retry_ms(&g, 5), 0);
}

static void what_keeps_no_tokens_is_named(void **state)
{
	(void)state;
	says((struct guarantee_table){"clicks", "MergeTree", "0", "604800"},
	     "at least once: table clicks has "
	     "non_replicated_deduplication_window=0");
	says((struct guarantee_table){"clicks", "ReplicatedMergeTree", "0",
				      "604800"},
	     "at least once: table clicks has "
	     "replicated_deduplication_window=0");
	says((struct guarantee_table){"links", "ReplicatedReplacingMergeTree",
				      "1000", "0"},
	     "at least once: table links has "
	     "replicated_deduplication_window_seconds=0");
	says((struct guarantee_table){"clicks", "Memory", "", "604800"},
	     "at least once: table clicks has the engine Memory");
	says((struct guarantee_table){"clicks", "Distributed", "10", "604800"},
	     "at least once: table clicks has the engine Distributed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_that_keeps_the_fewest_counts),
		cmocka_unit_test(replicated_tables_keep_tokens_for_seconds),
		cmocka_unit_test(what_keeps_no_tokens_is_named),
	};

	return cmocka_run_group_tests_name("guarantee", tests, NULL, NULL);
}
