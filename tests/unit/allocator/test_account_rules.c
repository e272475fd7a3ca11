/* The rules of an account: those in the keys file, and the memory state of
 * Redis. */
#include "tests/unit/unit.h"

#include <string.h>

#include "allocator/keys/account_rules.h"
#include "allocator/redis_reserve.h"

static char ten[] = "10d", never[] = "never";
static char *class_names[] = {ten, never};
static char s7[] = "s7", names[] = "names";
static struct links_space_config spaces[] = {{.name = s7}, {.name = names}};
static const struct links_config links = {.ttl_classes = {class_names, 2},
					  .spaces = {spaces, 2}};

static struct account_rules rules_of(const char *text)
{
	struct account_rules rules;
	struct error err = {0};
	char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	if (account_rules_parse(copy, &links, &rules, &err) < 0)
		fail_msg("%s", err.text);
	return rules;
}

static void bounds_are_of_a_day_or_a_month(void **state)
{
	struct account_rules rules =
		rules_of(" bytes=2GiB/day\tlinks=1000/month \n");

	(void)state;
	assert_int_equal(rules.quota.links.max, 1000);
	assert_int_equal(rules.quota.links.period, QUOTA_MONTH);
	assert_int_equal(rules.quota.bytes.max, INT64_C(2) << 30);
	assert_int_equal(rules.quota.bytes.period, QUOTA_DAY);
	assert_true(quota_is_set(&rules.quota));
}

static void an_account_without_bounds_has_none(void **state)
{
	struct account_rules rules = rules_of("");

	(void)state;
	assert_false(quota_is_set(&rules.quota));
	assert_true(account_rules_allow_ttl(&rules, "10d"));
	assert_true(account_rules_allow_ttl(NULL, "10d"));
}

static void a_class_is_the_whole_of_a_name(void **state)
{
	struct account_rules rules = rules_of("ttl=10d");

	(void)state;
	assert_true(account_rules_allow_ttl(&rules, "10d"));
	assert_false(account_rules_allow_ttl(&rules, "10"));
	assert_false(account_rules_allow_ttl(&rules, "never"));
	rules = rules_of("ttl=never,10d");
	assert_true(account_rules_allow_ttl(&rules, "10d"));
}

static void a_space_is_the_whole_of_a_name(void **state)
{
	struct account_rules rules = rules_of("spaces=s7");
	const struct api_key_info key = {.rules = &rules}, other = {.name = ""};

	(void)state;
	assert_true(account_rules_allow_space(&rules, "s7"));
	assert_false(account_rules_allow_space(&rules, "s"));
	assert_false(account_rules_allow_space(&rules, "names"));
	assert_true(account_rules_allow_space(NULL, "names"));
	assert_false(account_rules_may_use_space(&key, "names"));
	assert_true(account_rules_may_use_space(&other, "names"));
	rules = rules_of("spaces=s7,names ttl=10d");
	assert_true(account_rules_allow_space(&rules, "names"));
}

static void what_makes_no_sense_is_refused(void **state)
{
	static const char *const bad[] = {
		"links=",
		"links=10",
		"links=10/hour",
		"links=-1/day",
		"links=0/day",
		"links=1125899906842625/day", /* 2^50 + 1 */
		"links=99999999999999999999/day",
		"bytes=9007199254740993GiB/day",
		"links=1/day links=2/day",
		"ttl=",
		"spaces=",
		"spaces=s7,",
		"spaces=s8",
		"spaces=S7",
		"spaces=s7 spaces=s7",
		"ttl=10d,",
		"ttl=1h",
		"rate=1/s",
		"x",
	};
	struct account_rules rules;
	struct error err;
	char copy[64];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(copy, sizeof(copy), "%s", bad[i]);
		err.code = ERROR_NONE;
		assert_int_equal(
			account_rules_parse(copy, &links, &rules, &err), -1);
		assert_int_equal(err.code, ERROR_INPUT);
	}
}

static void rules_are_equal_when_they_say_the_same(void **state)
{
	struct account_rules a = rules_of("links=5/day ttl=10d");
	struct account_rules b = rules_of("ttl=10d links=5/day");
	struct account_rules c = rules_of("ttl=10d links=5/month");
	struct account_rules d = rules_of("ttl=10d links=5/day spaces=s7");

	(void)state;
	assert_true(account_rules_equal(&a, &b));
	assert_false(account_rules_equal(&a, &c));
	assert_false(account_rules_equal(&a, &d));
}

static void what_redis_uses_is_told_by_its_info(void **state)
{
	uint64_t used = 0, max = 0;

	(void)state;
	assert_true(redis_reserve_parse(
		"# Memory\r\nused_memory:1000\r\nused_memory_human:1K\r\n"
		"maxmemory:4000\r\nmaxmemory_human:4K\r\n"
		"mem_not_counted_for_evict:100\r\n",
		&used, &max));
	assert_int_equal(used, 900);
	assert_int_equal(max, 4000);
	assert_true(redis_reserve_parse("used_memory:7\nmaxmemory:0\n", &used,
					&max));
	assert_int_equal(max, 0);
	assert_false(redis_reserve_parse("used_memory:7\n", &used, &max));
	assert_false(redis_reserve_parse("", &used, &max));
	assert_false(
		redis_reserve_parse("used_memory:\nmaxmemory:x", &used, &max));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_of_a_day_or_a_month),
		cmocka_unit_test(an_account_without_bounds_has_none),
		cmocka_unit_test(a_class_is_the_whole_of_a_name),
		cmocka_unit_test(a_space_is_the_whole_of_a_name),
		cmocka_unit_test(what_makes_no_sense_is_refused),
		cmocka_unit_test(rules_are_equal_when_they_say_the_same),
		cmocka_unit_test(what_redis_uses_is_told_by_its_info),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
