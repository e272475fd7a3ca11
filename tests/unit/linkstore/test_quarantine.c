/* A block waits until no process has its former owner in memory. */
#include "tests/unit/unit.h"

#include <string.h>

#include "linkstore/quarantine.h"

static const struct quarantine_bounds none = {0};

static void expect_quarantine_refused(int64_t quarantine,
				      struct quarantine_bounds bounds,
				      const char *text)
{
	struct error err = {0};

	assert_int_equal(quarantine_check(quarantine, &bounds, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, text))
		fail_msg("%s", err.text);
}

static void quarantine_is_longer_than_every_cache(void **state)
{
	struct quarantine_bounds b = none;

	(void)state;
	b.cache_ttl = 5000;
	expect_quarantine_refused(5000, b,
				  "links.quarantine (5s) must be longer than "
				  "redirector.cache_ttl (5s)");
	b = none;
	b.cache_negative_ttl = 5000;
	expect_quarantine_refused(5000, b,
				  "redirector.cache_negative_ttl (5s)");
	b = none;
	b.cache_stale = 3600000;
	expect_quarantine_refused(5000, b, "redirector.cache_stale (1h)");
}

static void quarantine_is_longer_than_browsers_keep_a_redirect(void **state)
{
	struct quarantine_bounds b = none;

	(void)state;
	b.permanent_max_age = 86400000;
	expect_quarantine_refused(86400000, b,
				  "redirector.permanent_max_age (1d)");
}

static void quarantine_is_longer_than_the_collectors_worst_lag(void **state)
{
	struct quarantine_bounds b = none;

	(void)state;
	b.max_lag = 7200000;
	expect_quarantine_refused(7200000, b, "collector.max_lag (2h)");
}

static void what_is_longer_than_all_is_accepted(void **state)
{
	struct quarantine_bounds b = {4999, 4999, 4999, 4999, 4999};
	struct error err;

	(void)state;
	assert_int_equal(quarantine_check(5000, &b, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quarantine_is_longer_than_every_cache),
		cmocka_unit_test(
			quarantine_is_longer_than_browsers_keep_a_redirect),
		cmocka_unit_test(
			quarantine_is_longer_than_the_collectors_worst_lag),
		cmocka_unit_test(what_is_longer_than_all_is_accepted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
