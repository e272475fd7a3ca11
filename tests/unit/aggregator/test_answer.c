#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "aggregator/api/openapi.h"
#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/dimension.h"
#include "aggregator/settle/hour_settlement.h"
#include "common/clock.h"
#include "common/yaml_json.h"

static const struct counts counts = {
	.events = 20,
	.redirected = 10,
	.bots = 3,
	.prefetches = 1,
	.visitors = 5,
	.ips = 4,
	.visitors_known = true,
	.ips_known = true,
};

static void what_bots_leaves_adds_up(void **state)
{
	(void)state;
	assert_int_equal(counts_clicks(&counts, BOTS_INCLUDE), 10);
	assert_int_equal(counts_clicks(&counts, BOTS_EXCLUDE) +
				 counts_clicks(&counts, BOTS_ONLY),
			 10);
}

static void an_estimate_is_no_more_than_its_clicks(void **state)
{
	static const enum bots_mode modes[] = {BOTS_EXCLUDE, BOTS_INCLUDE,
					       BOTS_ONLY};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct counts c = counts;
		uint64_t clicks = counts_clicks(&c, modes[i]);

		c.visitors = clicks + 1;
		c.ips = clicks - 1;
		counts_cap(&c, modes[i]);
		assert_int_equal(c.visitors, clicks);
		assert_int_equal(c.ips, clicks - 1);
		c.ips = 1000;
		counts_cap(&c, modes[i]);
		assert_int_equal(c.ips, clicks);
		assert_int_equal(c.events, counts.events);
	}
}

static void what_is_not_known_is_null_and_empty(void **state)
{
	struct counts unknown = counts;
	struct buf csv = {0};
	json_t *object = json_object();

	(void)state;
	unknown.visitors_known = unknown.ips_known = false;
	assert_int_equal(counts_to_json(&unknown, BOTS_EXCLUDE, object), 0);
	assert_true(json_is_null(json_object_get(object, "visitors")));
	counts_to_csv(&unknown, BOTS_EXCLUDE, &csv);
	assert_string_equal(buf_cstr(&csv), "6,,,6,3,1,20");
	json_decref(object);
	buf_free(&csv);
}

static void a_row_of_nulls_has_no_visitors(void **state)
{
	char nine[] = "9", none[] = "";
	char *fields[COUNTS_FIELDS] = {nine, nine, none, none, none, none};

	(void)state;
	assert_false(counts_read(fields).visitors_known);
	assert_int_equal(counts_read(fields).events, 9);
}

static struct clicks_answer answer_of(struct group *groups, size_t count)
{
	return (struct clicks_answer){
		.groupings = {{.groups = groups, .count = count}},
		.total = counts};
}

static void csv_puts_odd_values_in_quotes(void **state)
{
	struct group group = {(char[]){"a,\"b\""}, (char[]){""}, NULL, counts};
	struct clicks_answer a = answer_of(&group, 1);
	struct question q = {.group_by = {dimension_find("city")},
			     .group_by_count = 1};
	struct buf csv = {0};

	(void)state;
	clicks_to_csv(&q, &a, &csv);
	assert_string_equal(buf_cstr(&csv),
			    "city,clicks,visitors,ips,humans,bots,prefetches,"
			    "events,unique_error\r\n"
			    "\"a,\"\"b\"\"\",6,5,4,6,3,1,20,0\r\n");
	buf_free(&csv);
}

static void csv_has_a_column_for_each_of_two_dimensions(void **state)
{
	struct group group = {(char[]){"DE"}, (char[]){"ann"}, NULL, counts};
	struct clicks_answer a = answer_of(&group, 1);
	struct question q = {.group_by = {dimension_find("country"),
					  dimension_find("owner")},
			     .group_by_count = 2};
	struct buf csv = {0};

	(void)state;
	clicks_to_csv(&q, &a, &csv);
	assert_string_equal(buf_cstr(&csv),
			    "country,owner,clicks,visitors,ips,humans,bots,"
			    "prefetches,events,unique_error\r\nDE,ann,6,5,4,6,"
			    "3,1,20,0\r\n");
	buf_free(&csv);
}

static void csv_without_groups_has_a_row_for_each_interval(void **state)
{
	struct counts data[] = {counts,
				{.visitors_known = true, .ips_known = true}};
	struct clicks_answer a = {.data = data, .total = counts};
	struct error err = {0};
	struct question q = {.zone = zone_load("/nowhere", "UTC", &err)};
	struct buf csv = {0};

	(void)state;
	a.buckets = (struct buckets){(int64_t[]){0, 3600}, 2};
	clicks_to_csv(&q, &a, &csv);
	assert_string_equal(
		buf_cstr(&csv),
		"start,clicks,visitors,ips,humans,bots,prefetches,events\r\n"
		"1970-01-01T00:00:00Z,6,5,4,6,3,1,20\r\n"
		"1970-01-01T01:00:00Z,0,0,0,0,0,0,0\r\n");
	question_release(&q);
	buf_free(&csv);
}

/* An answer is filled again after it was cleared, and then released. */
static void groups_can_be_cleared_more_than_once(void **state)
{
	struct clicks_answer a = {.groupings = {{.count = 0}}};
	struct grouping *last = &a.groupings[BREAKDOWNS_MAX - 1];

	(void)state;
	last->groups = calloc(1, sizeof(*last->groups));
	assert_non_null(last->groups);
	last->groups[last->count++] =
		(struct group){strdup("DE"), strdup("ann"), NULL, counts};
	clicks_answer_clear_groups(&a);
	assert_int_equal(last->count, 0);
	assert_null(last->groups);
	clicks_answer_release(&a);
}

static void assert_csv_value(const char *value, const char *expected)
{
	char copy[64], row[128];
	struct group group = {copy, (char[]){""}, NULL, counts};
	struct clicks_answer a = answer_of(&group, 1);
	struct question q = {.group_by = {dimension_find("tag")},
			     .group_by_count = 1};
	struct buf csv = {0};

	snprintf(copy, sizeof(copy), "%s", value);
	snprintf(row, sizeof(row), "%s,6,5,4,6,3,1,20,0\r\n", expected);
	clicks_to_csv(&q, &a, &csv);
	assert_string_equal(strstr(buf_cstr(&csv), "\r\n") + 2, row);
	buf_free(&csv);
}

static void csv_holds_no_formula(void **state)
{
	(void)state;
	assert_csv_value("=1+1", "\"'=1+1\"");
	assert_csv_value("+1", "\"'+1\"");
	assert_csv_value("-1", "\"'-1\"");
	assert_csv_value("@SUM(A1)", "\"'@SUM(A1)\"");
	assert_csv_value("\t=1", "\"'\t=1\"");
	assert_csv_value("\r=1", "\"'\r=1\"");
	assert_csv_value("\n=1", "\"'\n=1\"");
	assert_csv_value("=\"a\"", "\"'=\"\"a\"\"\"");
	/* These values are behind a character that some programs take for the
	 * end of a field. */
	assert_csv_value("a;=1", "\"a;=1\"");
	assert_csv_value("a\t=1", "\"a\t=1\"");
	assert_csv_value("a=b-c", "a=b-c");
	assert_csv_value("'=1", "'=1");
	assert_csv_value("", "");
}

static json_t *rest_of(struct clicks_answer *a, const char *dimension)
{
	struct error err = {0};
	struct question q = {.group_by = {dimension_find(dimension)},
			     .group_by_count = 1};
	json_t *json, *rest;

	q.zone = zone_load("/nowhere", "UTC", &err);
	json = clicks_to_json(&q, a);
	assert_non_null(json);
	rest = json_incref(json_object_get(json, "rest"));
	json_decref(json);
	question_release(&q);
	return rest;
}

static void the_rest_is_what_the_groups_leave(void **state)
{
	struct group group = {(char[]){"DE"},
			      (char[]){""},
			      NULL,
			      {.events = 15, .redirected = 8, .bots = 3}};
	struct clicks_answer a = answer_of(&group, 1);
	json_t *rest = rest_of(&a, "country");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(rest, "events")),
			 5);
	assert_int_equal(json_integer_value(json_object_get(rest, "clicks")),
			 1);
	assert_true(json_is_null(json_object_get(rest, "visitors")));
	json_decref(rest);
	assert_null(rest_of(&a, "tag"));
}

static void the_api_is_described_in_json(void **state)
{
	struct buf out = {0};
	struct error err = {0};
	json_t *api;

	(void)state;
	assert_int_equal(yaml_to_json(openapi_yaml, &out, &err), 0);
	api = json_loadb(out.data, out.len, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(api, "openapi")),
			    "3.1.0");
	json_decref(api);
	buf_free(&out);
}

static void attempts_grow_and_follow_the_clock(void **state)
{
	static const int64_t now = INT64_C(1790000000000);
	uint64_t first = settling_attempt_next(now, 0);
	uint64_t second = settling_attempt_next(now, first);

	(void)state;
	assert_true(second > first);
	assert_true(first >= settling_attempt_at(now));
	assert_true(settling_attempt_at(now + 1) > first);
	assert_true(settling_attempt_at(now + 2) > second);
	/* also after the clock was set back */
	assert_true(settling_attempt_next(now, UINT64_MAX / 2) >
		    UINT64_MAX / 2);
}

static void each_figure_is_read_from_its_column(void **state)
{
	char text[COUNTS_FIELDS][3] = {"20", "10", "3", "1", "5", "4"};
	char *fields[COUNTS_FIELDS];
	struct counts c;

	(void)state;
	for (size_t i = 0; i < COUNTS_FIELDS; i++)
		fields[i] = text[i];
	c = counts_read(fields);
	assert_int_equal(c.events, 20);
	assert_int_equal(c.redirected, 10);
	assert_int_equal(c.bots, 3);
	assert_int_equal(c.prefetches, 1);
	assert_int_equal(c.visitors, 5);
	assert_int_equal(c.ips, 4);
	assert_true(c.visitors_known && c.ips_known);
}

static void each_figure_is_told_by_its_name(void **state)
{
	static const char *const expected[] = {
		[BOTS_EXCLUDE] = "6,5,4,6,3,1,20",
		[BOTS_INCLUDE] = "10,5,4,6,3,1,20",
		[BOTS_ONLY] = "4,5,4,6,3,1,20",
	};

	(void)state;
	for (int mode = 0; mode < 3; mode++) {
		char names[64], *rest = names, *name, *number;
		struct buf csv = {0};
		json_t *object = json_object();

		counts_to_csv(&counts, (enum bots_mode)mode, &csv);
		assert_string_equal(buf_cstr(&csv), expected[mode]);
		assert_int_equal(
			counts_to_json(&counts, (enum bots_mode)mode, object),
			0);
		assert_int_equal(json_object_size(object), 7);
		snprintf(names, sizeof(names), "%s", counts_csv_header);
		number = csv.data;
		while ((name = strsep(&rest, ",")))
			assert_int_equal(
				json_integer_value(
					json_object_get(object, name)),
				strtol(strsep(&number, ","), NULL, 10));
		json_decref(object);
		buf_free(&csv);
	}
}

static void counts_are_added_and_taken_away_one_by_one(void **state)
{
	const struct counts some = {
		.events = 7, .redirected = 4, .bots = 2, .prefetches = 1};
	struct counts sum = some, less = counts_less(&counts, &some);

	(void)state;
	assert_int_equal(less.events, 13);
	assert_int_equal(less.redirected, 6);
	assert_int_equal(less.bots, 1);
	assert_int_equal(less.prefetches, 0);
	assert_false(less.visitors_known || less.ips_known);
	counts_add(&sum, &counts);
	assert_int_equal(sum.events, 27);
	assert_int_equal(sum.redirected, 14);
	assert_int_equal(sum.bots, 5);
	assert_int_equal(sum.prefetches, 2);
}

/* The bias lies between 2.5 and 3.5 times the number of registers. */
static void estimates_are_biased_in_their_middle(void **state)
{
	static const struct {
		uint64_t n;
		bool biased;
	} cases[] = {{0, false},    {40960, false}, {40961, true},
		     {57343, true}, {57344, false}, {UINT64_C(1) << 40, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct counts visitors = {.visitors = cases[i].n};
		struct counts ips = {.ips = cases[i].n};

		assert_int_equal(counts_are_biased(&visitors), cases[i].biased);
		assert_int_equal(counts_are_biased(&ips), cases[i].biased);
	}
}

static void where_groups_have_all_there_is_no_rest(void **state)
{
	struct group group = {(char[]){"DE"}, (char[]){""}, NULL, counts};
	struct clicks_answer a = answer_of(&group, 1);
	json_t *rest;

	(void)state;
	assert_null(rest_of(&a, "country"));
	group.counts.events++;
	assert_null(rest_of(&a, "country"));
	group.counts.events -= 2;
	rest = rest_of(&a, "country");
	assert_int_equal(json_integer_value(json_object_get(rest, "events")),
			 1);
	json_decref(rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_figure_is_read_from_its_column),
		cmocka_unit_test(each_figure_is_told_by_its_name),
		cmocka_unit_test(counts_are_added_and_taken_away_one_by_one),
		cmocka_unit_test(estimates_are_biased_in_their_middle),
		cmocka_unit_test(where_groups_have_all_there_is_no_rest),
		cmocka_unit_test(what_bots_leaves_adds_up),
		cmocka_unit_test(an_estimate_is_no_more_than_its_clicks),
		cmocka_unit_test(what_is_not_known_is_null_and_empty),
		cmocka_unit_test(a_row_of_nulls_has_no_visitors),
		cmocka_unit_test(csv_puts_odd_values_in_quotes),
		cmocka_unit_test(csv_has_a_column_for_each_of_two_dimensions),
		cmocka_unit_test(
			csv_without_groups_has_a_row_for_each_interval),
		cmocka_unit_test(groups_can_be_cleared_more_than_once),
		cmocka_unit_test(csv_holds_no_formula),
		cmocka_unit_test(the_rest_is_what_the_groups_leave),
		cmocka_unit_test(the_api_is_described_in_json),
		cmocka_unit_test(attempts_grow_and_follow_the_clock),
	};

	return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
