/* Slots are compared with the specification and a real Redis. */
#include "tests/unit/redis_server.h"

#include "common/redis/slot.h"

static unsigned slot_of_key(const char *key)
{
	return redis_slot(key, strlen(key));
}

/* The check value of CRC16/XMODEM is 0x31c3. */
static void the_sum_is_that_of_the_specification(void **state)
{
	(void)state;
	assert_int_equal(slot_of_key("123456789"), 0x31c3 % REDIS_SLOTS);
}

static void only_what_is_in_braces_counts(void **state)
{
	(void)state;
	assert_int_equal(slot_of_key("m:{s7:42}"), slot_of_key("s7:42"));
	assert_int_equal(slot_of_key("l:{s7:42}:abc"),
			 slot_of_key("m:{s7:42}"));
	assert_int_equal(slot_of_key("{a}{b}"), slot_of_key("a"));
	assert_int_not_equal(slot_of_key("a{}b"), slot_of_key("b"));
	assert_int_not_equal(slot_of_key("a{b"), slot_of_key("b"));
}

static void redis_reckons_the_same(void **state)
{
	static const char *const keys[] = {
		"m:{s7:0}", "m:{s7:4294967296}", "plain", "{}x", "a{b",
		"{a}{b}",
	};
	struct redis_server server;
	char question[128];

	(void)state;
	redis_server_start_cluster(&server);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(question, sizeof(question), "CLUSTER KEYSLOT %s",
			 keys[i]);
		assert_int_equal(redis_server_number(&server, question),
				 slot_of_key(keys[i]));
	}
	redis_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sum_is_that_of_the_specification),
		cmocka_unit_test(only_what_is_in_braces_counts),
		cmocka_unit_test(redis_reckons_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
