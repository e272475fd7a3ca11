#include "tests/unit/unit.h"

#include <string.h>

#include "collector/memory.h"

#define MIB (INT64_C(1) << 20)

static void all_shares_together_are_less_than_the_setting(void **state)
{
	(void)state;
	for (int64_t memory = 128; memory <= 65536; memory *= 2) {
		struct memory_shares s;
		struct error err = {0};

		assert_int_equal(memory_share(memory * MIB, 16 * MIB, &s, &err),
				 0);
		assert_true(s.rows + 2 * s.fetch_bytes + s.dead_letters +
				    s.live + s.fetch_unpacked + 16 * MIB <
			    (size_t)(memory * MIB));
		/* An lz4 answer is large enough to be worth a request, and fits
		 * when unpacked. */
		assert_true(memory_fetch_answer(&s, 255) >= 16 * 1024);
		assert_true(memory_fetch_answer(&s, 255) * 255 <=
			    s.fetch_unpacked);
		assert_true(memory_fetch_answer(&s, 1) <= 2 * MIB);
		assert_int_equal(memory_fetch_answer(&s, 0), 0);
		assert_true(s.fetch_events > 1000);
	}
}

static void blocks_have_the_largest_share(void **state)
{
	struct memory_shares s;
	struct error err = {0};

	(void)state;
	assert_int_equal(memory_share(4096 * MIB, 48 * MIB, &s, &err), 0);
	assert_true(s.rows > 1200 * (size_t)MIB);
}

static void too_little_names_the_settings(void **state)
{
	struct memory_shares s;
	struct error err = {0};

	(void)state;
	assert_int_equal(memory_share(64 * MIB, 48 * MIB, &s, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_string_equal(err.text,
			    "collector.memory: 64 MiB is too little beside "
			    "ua_cache, geo_cache and scan_memory, which take "
			    "48 MiB of it");
	assert_int_equal(memory_share(0, 0, &s, &err), -1);
	/* The caches are larger than the memory. */
	assert_int_equal(memory_share(512 * MIB, INT64_C(1) << 40, &s, &err),
			 -1);
}

static void what_the_process_uses_is_seen(void **state)
{
	size_t before = memory_in_use();
	char *block = malloc(64 * (size_t)MIB);

	(void)state;
	assert_non_null(block);
	memset(block, 1, 64 * (size_t)MIB);
	assert_true(before > 0);
	assert_true(memory_in_use() >= before + 60 * (size_t)MIB);
	assert_int_equal(block[12345], 1);
	free(block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_shares_together_are_less_than_the_setting),
		cmocka_unit_test(blocks_have_the_largest_share),
		cmocka_unit_test(too_little_names_the_settings),
		cmocka_unit_test(what_the_process_uses_is_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
