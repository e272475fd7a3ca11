/* Redis' clock is compared with this host's clock and, if they differ, with
 * that of a real ClickHouse. */
#include "tests/unit/clickhouse_server.h"

#include "common/clock.h"
#include "reclaimer/space/clock_check.h"

/* This is more than clocks may differ by, and a moment less. */
#define APART (CLOCK_APART_MAX + 10 * CLOCK_SECOND)
#define CLOSE (CLOCK_APART_MAX - 10 * CLOCK_SECOND)

/* Returns whether a Redis is trusted whose clock differs this much from the
 * host's. */
static bool is_believed(struct clock_check *c, int64_t apart,
			struct error *ret_why)
{
	*ret_why = (struct error){0};
	return clock_check_look(c, clock_real_ms() + apart, ret_why) == 0;
}

static void is_not_believed(struct clock_check *c, int64_t apart,
			    const char *says)
{
	struct error why;

	assert_false(is_believed(c, apart, &why));
	assert_int_equal(why.code, ERROR_UNSAFE);
	if (!strstr(why.text, says))
		fail_msg("'%s' does not say '%s'", why.text, says);
}

static void a_clock_that_jumps_is_not_believed(void **state)
{
	struct clock_check c = {0};
	struct error why;

	(void)state;
	assert_true(is_believed(&c, 0, &why));
	assert_true(is_believed(&c, CLOSE, &why));
	assert_true(is_believed(&c, -CLOSE, &why));
	is_not_believed(&c, APART,
			"Redis' clock has jumped: it is 310s ahead "
			"of");
	is_not_believed(&c, -APART, "behind");
	/* The clock is compared with the first check, not the last. */
	assert_true(is_believed(&c, 0, &why));
}

static void a_clock_that_is_not_known_is_passed_over(void **state)
{
	struct clock_check c = {0};
	struct error why;

	(void)state;
	assert_int_equal(clock_check_look(&c, 0, &why), 0);
	assert_false(c.begun);
	assert_true(is_believed(&c, 0, &why));
	assert_int_equal(clock_check_look(&c, 0, &why), 0);
}

/* This host's clock may be the wrong one. */
static void this_hosts_clock_alone_denies_nothing(void **state)
{
	static char url[] = "http://127.0.0.1:1", database[] = "default";
	const struct clickhouse_config nobody = {.url = url,
						 .database = database,
						 .connect_timeout = 100,
						 .query_timeout = 100,
						 .response_max = 1 << 20};
	struct clock_check alone = {0}, unanswered = {.clickhouse = &nobody};
	struct error why;

	(void)state;
	assert_true(is_believed(&alone, APART, &why));
	/* The clock must continue from there. */
	assert_true(is_believed(&alone, APART + CLOSE, &why));
	is_not_believed(&alone, 0, "has jumped");
	assert_true(is_believed(&unanswered, -APART, &why));
	is_not_believed(&unanswered, APART, "has jumped");
}

static void two_clocks_that_say_the_same_are_believed(void **state)
{
	struct clickhouse_server server;
	struct clock_check c;
	struct error why;

	(void)state;
	clickhouse_server_start(&server);
	c = (struct clock_check){.clickhouse = &server.config};
	is_not_believed(&c, APART, "ahead of this host's and 310s ahead of");
	c = (struct clock_check){.clickhouse = &server.config};
	is_not_believed(&c, -APART, "behind");
	c = (struct clock_check){.clickhouse = &server.config};
	assert_true(is_believed(&c, CLOSE, &why));
	clickhouse_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_that_jumps_is_not_believed),
		cmocka_unit_test(a_clock_that_is_not_known_is_passed_over),
		cmocka_unit_test(this_hosts_clock_alone_denies_nothing),
		cmocka_unit_test(two_clocks_that_say_the_same_are_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
