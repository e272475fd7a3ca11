#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/statistics/question.h"
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

static int read_fixed_clock(void *arg, int64_t *ret_ms, struct error *err)
{
	(void)arg;
	(void)err;
	*ret_ms = NOW;
	return 0;
}

static int parse_question(struct question *q, const char *query, unsigned known,
			  struct error *err)
{
	struct http_slice slice = {query, strlen(query)};

	return question_parse(q, slice, known, &settings, read_fixed_clock,
			      NULL, err);
}

static void assert_refused(const char *query, const char *says)
{
	struct question q;
	struct error err = {0};

	assert_int_equal(parse_question(&q, query, ALL, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (strncmp(err.text, says, strlen(says)) != 0)
		fail_msg("%s: %s", query, err.text);
	if (!*err.field || !strstr(query, err.field))
		fail_msg("%s: field '%s'", query, err.field);
	question_release(&q);
}

static void nothing_said_asks_for_the_last_day_by_hour(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_question(&q, "", ALL, &err), 0);
	assert_int_equal(q.to, NOW / 1000 - 7 * 60 + 900);
	assert_int_equal(q.from, NOW / 1000 - 7 * 60 - 86400);
	assert_int_equal(q.interval, BUCKET_HOUR);
	assert_int_equal(q.bots, BOTS_EXCLUDE);
	assert_string_equal(zone_name(q.zone), "UTC");
	question_release(&q);
	/* One day before the start of an interval is the start of an interval,
	 * too. */
	assert_int_equal(
		parse_question(&q, "to=2026-11-21T10:00:00Z", ALL, &err), 0);
	assert_int_equal(q.to - q.from, 86400);
	question_release(&q);
}

static void a_default_start_is_that_of_a_local_interval(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_question(&q, "tz=Asia/Kolkata&interval=day", ALL, &err),
		0);
	assert_int_equal((q.from + 19800) % 86400, 0);
	question_release(&q);
}

static void a_bare_date_is_local_midnight(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_question(&q,
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
	assert_refused("bots=%ZZ", "query string: bots: a '%'");
}

static void a_parameter_of_another_route_is_refused(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(
		parse_question(&q, "group_by=country", ASK_RANGE, &err), -1);
	assert_non_null(strstr(err.text, "known here: from, to, tz"));
	question_release(&q);
}

/* Parses a query that must be accepted; the caller releases it. */
static struct question parse_valid_question(const char *query, unsigned known)
{
	struct question q;
	struct error err = {0};

	if (parse_question(&q, query, known, &err) < 0)
		fail_msg("%s: %s", query, err.text);
	return q;
}

static void a_range_has_a_slot_at_least(void **state)
{
	struct question q = parse_valid_question(
		"from=2026-11-20T10:00:00Z&to=2026-11-20T10:15:00Z", ALL);

	(void)state;
	assert_int_equal(q.to - q.from, 900);
	question_release(&q);
	assert_refused("from=2026-11-20T10:00:00Z&to=2026-11-20T10:00:00Z",
		       "from: expected a time before `to`");
	assert_refused("from=2026-11-20T10:15:00Z&to=2026-11-20T10:00:00Z",
		       "from: expected a time before `to`");
	assert_refused("from=2026-11-20T10:14:00Z",
		       "from: expected a multiple");
	assert_refused("from=2026-11-20T10:01:30Z",
		       "from: expected a multiple");
}

static void times_lie_between_1970_and_2106(void **state)
{
	struct question q =
		parse_valid_question("from=1970-01-01&to=2106-02-07", ALL);

	(void)state;
	assert_int_equal(q.from, 0);
	assert_true(q.has_from);
	assert_int_equal(q.to, INT64_C(4294944000));
	question_release(&q);
	assert_refused("to=2106-02-07T00:15:00Z", "to: expected a time from");
	assert_refused("from=1969-12-31T23:45:00Z",
		       "from: expected a time from");
	/* The default start is not before 1970. */
	q = parse_valid_question("to=1970-01-01T00:15:00Z", ALL);
	assert_int_equal(q.from, 0);
	assert_false(q.has_from);
	assert_true(q.has_to);
	question_release(&q);
	q = parse_valid_question("from=2026-11-20", ALL);
	assert_true(q.has_from);
	assert_false(q.has_to);
	question_release(&q);
}

static void numbers_are_taken_up_to_their_bounds(void **state)
{
	struct question q = parse_valid_question(
		"limit=50&link_id=18446744073709551615", ALL);

	(void)state;
	assert_int_equal(q.limit, 50);
	assert_true(q.link_id == UINT64_MAX);
	question_release(&q);
	q = parse_valid_question("limit=1&link_id=1", ALL);
	assert_int_equal(q.limit, 1);
	assert_int_equal(q.link_id, 1);
	question_release(&q);
	q = parse_valid_question("", ALL);
	assert_int_equal(q.limit, 50);
	question_release(&q);
	assert_refused("limit=0", "limit: ");
	assert_refused("limit=5x", "limit: ");
	assert_refused("limit=99999999999999999999", "limit: ");
	assert_refused("link_id=18446744073709551616", "link_id: ");
	assert_refused("link_id=+1", "link_id: ");
}

static void codes_have_up_to_64_of_their_letters(void **state)
{
	static const char longest[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz-_";
	char longer[sizeof(longest) + 1];

	(void)state;
	assert_int_equal(strlen(longest), 64);
	assert_true(code_is_valid(longest));
	assert_true(code_is_valid("a"));
	snprintf(longer, sizeof(longer), "%sa", longest);
	assert_false(code_is_valid(longer));
	assert_false(code_is_valid(""));
	assert_false(code_is_valid("a.b"));
}

static void groups_are_by_one_or_two_dimensions(void **state)
{
	struct question q = parse_valid_question("group_by=country,owner", ALL);

	(void)state;
	assert_int_equal(q.group_by_count, 2);
	assert_string_equal(q.group_by[0]->name, "country");
	assert_string_equal(q.group_by[1]->name, "owner");
	assert_false(question_groups_daily(&q));
	assert_false(question_groups_many(&q));
	question_release(&q);
	q = parse_valid_question("group_by=owner,tag", ALL);
	assert_true(question_groups_many(&q));
	question_release(&q);
	q = parse_valid_question("group_by=region", ALL);
	assert_true(question_groups_daily(&q));
	question_release(&q);
	q = parse_valid_question("group_by=region,owner", ALL);
	assert_false(question_groups_daily(&q));
	question_release(&q);
	assert_refused("group_by=country,owner,city", "group_by: expected at");
	assert_refused("group_by=country,country", "group_by: expected two");
	assert_refused("group_by=", "group_by: ");
	assert_refused("group_by=total", "group_by: ");
}

static void breakdowns_are_by_some_dimensions_each_by_itself(void **state)
{
	struct question q = parse_valid_question(
		"breakdowns=country,tag,region&limit=3", ALL | ASK_PAGE);
	const struct dimension *const *singles;
	size_t count;

	(void)state;
	assert_int_equal(q.breakdown_count, 3);
	assert_int_equal(q.group_by_count, 0);
	assert_true(question_has_groups(&q));
	assert_true(question_groups_many(&q) && question_groups_daily(&q));
	singles = question_singles(&q, &count);
	assert_int_equal(count, 3);
	assert_string_equal(singles[2]->name, "region");
	question_release(&q);
	q = parse_valid_question("group_by=city", ALL | ASK_PAGE);
	singles = question_singles(&q, &count);
	assert_int_equal(count, 1);
	assert_string_equal(singles[0]->name, "city");
	question_release(&q);
	q = parse_valid_question("", ALL | ASK_PAGE);
	assert_false(question_has_groups(&q));
	question_release(&q);
}

static void refuse_page(const char *query, const char *says)
{
	struct question q;
	struct error err = {0};

	assert_int_equal(
		parse_question(&q, query, ALL | ASK_PAGE | ASK_PERIOD, &err),
		-1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("%s: %s", query, err.text);
	question_release(&q);
}

static void breakdowns_that_cannot_be_are_refused(void **state)
{
	(void)state;
	refuse_page("breakdowns=", "breakdowns: expected some of country");
	refuse_page("breakdowns=country,", "breakdowns: expected some of");
	refuse_page("breakdowns=country,ip", "breakdowns: expected some of");
	refuse_page("breakdowns=total", "breakdowns: expected some of");
	refuse_page("breakdowns=city,tag,city", "and found city twice");
	refuse_page("breakdowns=city&group_by=tag",
		    "breakdowns, group_by: give one of them");
	refuse_page("breakdowns=city&format=csv", "format: a CSV has no");
	refuse_page("breakdowns=country,device_class,verdict,outcome,channel,"
		    "city,os_family,ua_family,language,domain,edge,tag,link",
		    "breakdowns: expected at most 12 dimensions");
	/* Another route has none. */
	assert_refused("breakdowns=city", "breakdowns: no such parameter");
}

static void a_period_ends_with_this_quarter_of_an_hour(void **state)
{
	static const unsigned known = ALL | ASK_PAGE | ASK_PERIOD;
	struct question q = parse_valid_question(
		"period=7d&tz=Asia/Kolkata&compare=year", known);

	(void)state;
	assert_int_equal(q.to, NOW / 1000 - 7 * 60 + 900);
	assert_int_equal((q.from + 19800) % 86400, 0);
	assert_int_equal((q.to - q.from) / 86400, 6);
	assert_int_equal(q.interval, BUCKET_HOUR);
	assert_int_equal(q.compare, COMPARE_YEAR);
	assert_true(q.earliest > 0 && q.earliest <= q.from);
	question_release(&q);
	q = parse_valid_question("period=year", known);
	assert_int_equal(q.interval, BUCKET_DAY);
	question_release(&q);
	q = parse_valid_question("period=year&interval=week", known);
	assert_int_equal(q.interval, BUCKET_WEEK);
	question_release(&q);
	q = parse_valid_question("period=all", known);
	assert_int_equal(q.period, PERIOD_ALL);
	question_begin(&q, &settings, q.to - 86400);
	assert_int_equal(q.interval, BUCKET_HOUR);
	question_release(&q);
	refuse_page("period=week", "period: expected today, 7d");
	refuse_page("period=", "period: expected today, 7d");
	refuse_page("period=7d&from=2026-11-20", "period: give it, or from");
	refuse_page("period=7d&to=2026-11-20", "period: give it, or from");
	refuse_page("compare=month", "compare: expected previous or year");
	refuse_page("compare=year&period=all", "compare: nothing is before");
	refuse_page("compare=year&format=csv", "format: a CSV has no comp");
	assert_refused("compare=year", "compare: no such parameter");
	assert_refused("period=7d", "period: no such parameter");
}

static void a_refusal_names_every_dimension(void **state)
{
	struct question q;
	struct error err = {0};
	const char *at;

	(void)state;
	assert_int_equal(parse_question(&q, "group_by=total", ALL, &err), -1);
	at = strstr(err.text, " of ");
	assert_non_null(at);
	at += strlen(" of ");
	for (size_t i = 1; i < dimension_count; i++) {
		size_t len = strcspn(at, ",");

		assert_int_equal(len, strlen(dimensions[i].name));
		assert_memory_equal(at, dimensions[i].name, len);
		at += len + (at[len] ? strlen(", ") : 0);
	}
	assert_string_equal(at, "");
	question_release(&q);
}

static void what_is_counted_is_said_by_name(void **state)
{
	static const char *const names[] = {"exclude", "include", "only"};
	char query[32];

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct question q;

		snprintf(query, sizeof(query), "bots=%s", names[i]);
		q = parse_valid_question(query, ALL);
		assert_int_equal(q.bots, i);
		assert_string_equal(bots_mode_name(q.bots), names[i]);
		question_release(&q);
	}
}

static void a_verdict_leaves_no_choice_of_robots(void **state)
{
	struct question q = parse_valid_question("verdict=bot&country=-DE",
						 ALL | ASK_FILTER);
	struct error err = {0};

	(void)state;
	assert_int_equal(q.bots, BOTS_INCLUDE);
	assert_int_equal(q.filters.count, 2);
	question_release(&q);
	assert_int_equal(parse_question(&q, "verdict=bot&bots=only",
					ALL | ASK_FILTER, &err),
			 -1);
	assert_non_null(strstr(err.text, "bots, verdict: give one of them"));
	question_release(&q);
	q = parse_valid_question("country=DE&bots=only", ALL | ASK_FILTER);
	assert_int_equal(q.bots, BOTS_ONLY);
	question_release(&q);
	assert_int_equal(parse_question(&q, "country=DE", ALL, &err), -1);
	question_release(&q);
	/* A link is what the question is about, not a filter. */
	assert_int_equal(parse_question(&q, "link=1", ALL | ASK_FILTER, &err),
			 -1);
	question_release(&q);
}

static void formats_and_orders_are_said_by_name(void **state)
{
	struct question q =
		parse_valid_question("format=csv&sort=growth", ALL | ASK_SORT);

	(void)state;
	assert_true(q.csv && q.by_growth);
	question_release(&q);
	q = parse_valid_question("format=json&sort=clicks", ALL | ASK_SORT);
	assert_false(q.csv || q.by_growth);
	question_release(&q);
	q = parse_valid_question("", ALL | ASK_SORT);
	assert_false(q.csv || q.by_growth);
	question_release(&q);
}

static int take_whole(struct question *q, int64_t from, int64_t to,
		      struct error *err)
{
	*q = (struct question){.has_from = from >= 0,
			       .has_to = to % 3600 != 900,
			       .from = from,
			       .to = to};
	return question_take_whole(q, 3600, 24, err);
}

static void whole_hours_are_taken(void **state)
{
	struct question q;
	struct error err = {0};

	(void)state;
	assert_int_equal(take_whole(&q, 7200, 14400, &err), 0);
	assert_int_equal(q.from, 7200);
	assert_int_equal(q.to, 14400);
	assert_int_equal(take_whole(&q, 7200, 16200, &err), -1);
	assert_non_null(strstr(err.text, "to: expected the start of an hour"));
	assert_int_equal(take_whole(&q, 9000, 14400, &err), -1);
	assert_non_null(strstr(err.text, "from: expected the start of an"));
	/* The default end is the end of the present hour. */
	assert_int_equal(take_whole(&q, 7200, 14400 + 900, &err), 0);
	assert_int_equal(q.to, 18000);
	/* The start is rounded to whole hours as well, and is not before 1970.
	 */
	assert_int_equal(take_whole(&q, -1, 25 * 3600, &err), 0);
	assert_int_equal(q.from, 3600);
	assert_int_equal(take_whole(&q, -1, 24 * 3600, &err), 0);
	assert_int_equal(q.from, 0);
	assert_int_equal(take_whole(&q, -1, 3600, &err), 0);
	assert_int_equal(q.from, 0);
	q = (struct question){.has_from = true, .has_to = true, .to = 3600};
	assert_int_equal(question_take_whole(&q, 86400, 7, &err), -1);
	assert_non_null(strstr(err.text, "to: expected the start of a day"));
}

#define CREATIONS                                                              \
	(ASK_RANGE | ASK_INTERVAL | ASK_GROUP | ASK_FORMAT | ASK_FILTER |      \
	 ASK_CREATIONS)

static void refuse_creations(const char *query, const char *says)
{
	struct question q;
	struct error err = {0};

	assert_int_equal(parse_question(&q, query, CREATIONS, &err), -1);
	if (strncmp(err.text, says, strlen(says)) != 0)
		fail_msg("%s: %s", query, err.text);
	question_release(&q);
}

/* Links created have other dimensions than clicks, and one group. */
static void creations_have_dimensions_of_their_own(void **state)
{
	struct question q = parse_valid_question(
		"group_by=strategy&space=s7,s8&owner=-ann", CREATIONS);

	(void)state;
	assert_ptr_equal(q.group_by[0], creation_dimension_find("strategy"));
	assert_int_equal(q.filters.count, 2);
	assert_non_null(filters_find(&q.filters, "space"));
	assert_false(q.whole);
	question_release(&q);
	refuse_creations("group_by=country", "group_by: expected one of space");
	refuse_creations("group_by=space,ttl",
			 "group_by: expected one of space");
	refuse_creations("country=DE", "country: no such parameter");
	refuse_creations("code=a", "code: no such parameter");
	assert_refused("group_by=space", "group_by: expected one or two");
}

static void a_range_of_creations_can_be_one_interval(void **state)
{
	struct question q = parse_valid_question("interval=total", CREATIONS);

	(void)state;
	assert_true(q.whole);
	question_release(&q);
	refuse_creations("interval=year", "interval: expected 15m, hour, day, "
					  "week, month or total");
	assert_refused("interval=total",
		       "interval: expected 15m, hour, day, week or month");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_has_a_slot_at_least),
		cmocka_unit_test(times_lie_between_1970_and_2106),
		cmocka_unit_test(numbers_are_taken_up_to_their_bounds),
		cmocka_unit_test(codes_have_up_to_64_of_their_letters),
		cmocka_unit_test(groups_are_by_one_or_two_dimensions),
		cmocka_unit_test(
			breakdowns_are_by_some_dimensions_each_by_itself),
		cmocka_unit_test(breakdowns_that_cannot_be_are_refused),
		cmocka_unit_test(a_period_ends_with_this_quarter_of_an_hour),
		cmocka_unit_test(a_refusal_names_every_dimension),
		cmocka_unit_test(what_is_counted_is_said_by_name),
		cmocka_unit_test(a_verdict_leaves_no_choice_of_robots),
		cmocka_unit_test(formats_and_orders_are_said_by_name),
		cmocka_unit_test(whole_hours_are_taken),
		cmocka_unit_test(nothing_said_asks_for_the_last_day_by_hour),
		cmocka_unit_test(a_default_start_is_that_of_a_local_interval),
		cmocka_unit_test(a_bare_date_is_local_midnight),
		cmocka_unit_test(creations_have_dimensions_of_their_own),
		cmocka_unit_test(a_range_of_creations_can_be_one_interval),
		cmocka_unit_test(a_bad_value_is_told_by_its_name),
		cmocka_unit_test(a_parameter_twice_or_unknown_is_refused),
		cmocka_unit_test(a_parameter_of_another_route_is_refused),
	};

	return cmocka_run_group_tests_name("question", tests, NULL, NULL);
}
