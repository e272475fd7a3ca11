#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/question.h"
#include "common/clock.h"

/* 2026-11-21T10:07:00Z */
#define NOW INT64_C(1795255620000)

static const struct aggregator_settings settings = {
	.buckets_max = 100,
	.groups_max = 50,
	.zoneinfo = (char[]){"/usr/share/zoneinfo"},
};

#define ALL                                                                    \
	(ASK_LINK | ASK_RANGE | ASK_INTERVAL | ASK_GROUP | ASK_BOTS |          \
	 ASK_FORMAT)

static int now(void *arg, int64_t *ret_ms, struct error *err)
{
	(void)arg;
	(void)err;
	*ret_ms = NOW;
	return 0;
}

static int parse(struct question *q, const char *query, unsigned known,
		 struct error *err)
{
	struct http_slice slice = {query, strlen(query)};

	return question_parse(q, slice, known, &settings, now, NULL, err);
}

static void assert_refused(const char *query, const char *says)
{
	struct question q;
	struct error err = {0};

	assert_int_equal(parse(&q, query, ALL, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (strncmp(err.text, says, strlen(says)) != 0)
		fail_msg("%s: %s", query, err.text);
	question_release(&q);
}

static void nothing_said_asks_for_the_last_day_by_hour(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse(&q, "", ALL, &err), 0);
	assert_int_equal(q.to, NOW / 1000 - 7 * 60 + 900);
	assert_int_equal(q.from, NOW / 1000 - 7 * 60 - 86400);
	assert_int_equal(q.interval, BUCKET_HOUR);
	assert_int_equal(q.bots, BOTS_EXCLUDE);
	assert_string_equal(zone_name(q.zone), "UTC");
	question_release(&q);
}

static void a_default_start_is_that_of_a_local_interval(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse(&q, "tz=Asia/Kolkata&interval=day", ALL, &err),
			 0);
	assert_int_equal((q.from + 19800) % 86400, 0);
	question_release(&q);
}

static void a_bare_date_is_local_midnight(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse(&q,
			       "from=2026-11-20&to=2026-11-21&tz=Asia/Kolkata",
			       ALL, &err),
			 0);
	assert_int_equal((q.from + 19800) % 86400, 0);
	assert_int_equal(q.to - q.from, 86400);
	question_release(&q);
}

static void a_bad_value_is_told_by_its_name(void **state)
{
	(void)state;
	assert_refused("from=x", "from: ");
	assert_refused("from=2026-11-21T00:07:00Z", "from: ");
	assert_refused("to=1900-01-01", "to: ");
	assert_refused("from=2026-11-22&to=2026-11-21", "from: ");
	assert_refused("interval=year", "interval: ");
	assert_refused("tz=Nowhere", "tz: ");
	assert_refused("tz=", "tz: ");
	assert_refused("group_by=ip", "group_by: ");
	assert_refused("bots=yes", "bots: ");
	assert_refused("format=xml", "format: ");
	assert_refused("limit=51", "limit: ");
	assert_refused("limit=-1", "limit: ");
	assert_refused("link_id=0", "link_id: ");
	assert_refused("link_id=12x", "link_id: ");
	assert_refused("code=", "code: ");
	assert_refused("code=a%2Fb", "code: ");
	assert_refused("code=a&link_id=1", "code, link_id: ");
}

static void a_parameter_twice_or_unknown_is_refused(void **state)
{
	(void)state;
	assert_refused("tz=UTC&tz=UTC", "tz: given more than once");
	assert_refused("From=2026-11-21", "From: no such parameter");
	assert_refused("%ZZ=1", "query string: a '%'");
}

static void a_parameter_of_another_route_is_refused(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse(&q, "group_by=country", ASK_RANGE, &err), -1);
	assert_non_null(strstr(err.text, "known here: from, to, tz"));
	question_release(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_said_asks_for_the_last_day_by_hour),
		cmocka_unit_test(a_default_start_is_that_of_a_local_interval),
		cmocka_unit_test(a_bare_date_is_local_midnight),
		cmocka_unit_test(a_bad_value_is_told_by_its_name),
		cmocka_unit_test(a_parameter_twice_or_unknown_is_refused),
		cmocka_unit_test(a_parameter_of_another_route_is_refused),
	};

	return cmocka_run_group_tests_name("question", tests, NULL, NULL);
}
