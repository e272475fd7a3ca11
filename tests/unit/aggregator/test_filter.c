#include "tests/unit/unit.h"

#include <string.h>

#include "aggregator/api/statistics/filter.h"

static int add_filter(struct filters *f, const char *name, const char *text,
		      struct error *err)
{
	return filters_add(f, dimension_find_filter(name), text, err);
}

static void a_filter_takes_its_values(void **state)
{
	static const struct {
		const char *text, *value;
		bool takes;
	} cases[] = {
		{"US", "US", true},
		{"US", "", false},
		{"US,BR", "BR", true},
		{"US,BR", "US,BR", false},
		{"US", "USA", false},
		{"USA", "US", false},
		{"", "", true},
		{"", "US", false},
		{"US,", "", true},
		{",US", "", true},
		{"-US", "US", false},
		{"-US", "DE", true},
		{"-", "", false},
		{"-", "US", true},
		{"-US,-BR", "-BR", false},
		{"\\-US", "-US", true},
		{"a\\,b", "a,b", true},
		{"a\\,b", "a", false},
		{"a\\\\", "a\\", true},
		{"US,US", "US", true},
		{"US", "US\nBR", false},
		{"US,BR", "US\nBR", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filters f = {0};
		struct error err = {0};

		assert_int_equal(add_filter(&f, "country", cases[i].text, &err),
				 0);
		if (filter_takes(&f.items[0], cases[i].value) != cases[i].takes)
			fail_msg("%s: %s", cases[i].text, cases[i].value);
		filters_release(&f);
	}
}

static void conditions_name_their_parameters(void **state)
{
	struct filters f = {0};
	struct filter_params params;
	struct clickhouse_param list[FILTERS_MAX];
	struct error err = {0};
	struct buf sql = {0};

	(void)state;
	assert_int_equal(add_filter(&f, "country", "US,\tB", &err), 0);
	assert_int_equal(add_filter(&f, "tag", "-a", &err), 0);
	filters_put_sql(&f, &sql);
	assert_string_equal(
		buf_cstr(&sql),
		" AND has(splitByChar('\\n', {f0:String}), toString(country))"
		" AND NOT arrayExists(x -> has(splitByChar('\\n', "
		"{f1:String}), toString(x)), tags)");
	assert_int_equal(filter_params_fill(&params, &f, list, &err), 0);
	assert_string_equal(list[0].name, "param_f0");
	assert_string_equal(list[0].value, "US\\n\\tB");
	assert_string_equal(list[1].name, "param_f1");
	assert_string_equal(list[1].value, "a");
	filter_params_release(&params);
	buf_free(&sql);
	filters_release(&f);
}

/* printf 'https://example.org/' | sha256sum | cut -c 1-32 */
#define EXAMPLE "8198d1bac40a1033653a78e48800cefc"

static void a_url_becomes_its_digest(void **state)
{
	static const char *const forms[] = {"https://example.org/",
					    "HTTPS://EXAMPLE.org./", EXAMPLE};
	struct filters f = {0};
	struct error err = {0};
	struct buf sql = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(add_filter(&f, "url", forms[i], &err), 0);
		assert_true(filter_takes(&f.items[i], EXAMPLE));
	}
	assert_int_equal(add_filter(&f, "url", "-http://a/\\,," EXAMPLE, &err),
			 0);
	assert_true(filter_takes(&f.items[3], ""));
	assert_int_equal(add_filter(&f, "url", "", &err), 0);
	assert_true(filter_takes(&f.items[4], ""));
	assert_int_equal(add_filter(&f, "url", "example.org/a", &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	f.count = 1;
	filters_put_sql(&f, &sql);
	assert_string_equal(
		buf_cstr(&sql),
		" AND (url_digest IN (SELECT toFixedString(unhex(arrayJoin("
		"splitByChar('\\n', {f0:String}))), 16)))");
	f.count = 6;
	filters_release(&f);
	buf_free(&sql);
}

static void urls_may_be_longer_than_other_values(void **state)
{
	char text[FILTER_URL_MAX + 2] = "https://a/";
	struct filters f = {0};
	struct error err = {0};

	(void)state;
	memset(text + 10, 'x', FILTER_URL_MAX - 10);
	assert_int_equal(add_filter(&f, "url", text, &err), 0);
	text[FILTER_URL_MAX] = 'x';
	assert_int_equal(add_filter(&f, "url", text, &err), -1);
	assert_string_equal(err.text,
			    "url: expected values of up to 2048 bytes");
	filters_release(&f);
}

static void there_are_bounds(void **state)
{
	struct filters f = {0};
	struct error err = {0};
	char text[1000] = "";

	(void)state;
	memset(text, 'x', FILTER_VALUE_MAX);
	assert_int_equal(add_filter(&f, "city", text, &err), 0);
	text[FILTER_VALUE_MAX] = 'x';
	assert_int_equal(add_filter(&f, "city", text, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	memset(text, ',', FILTER_VALUES_MAX);
	text[FILTER_VALUES_MAX - 1] = '\0';
	assert_int_equal(add_filter(&f, "city", text, &err), 0);
	text[FILTER_VALUES_MAX - 1] = ',';
	text[FILTER_VALUES_MAX] = '\0';
	assert_int_equal(add_filter(&f, "city", text, &err), -1);
	assert_string_equal(err.text, "city: expected up to 100 values");
	while (f.count < FILTERS_MAX)
		assert_int_equal(add_filter(&f, "city", "a", &err), 0);
	assert_int_equal(add_filter(&f, "city", "a", &err), -1);
	assert_string_equal(err.text, "city: expected up to 16 filters");
	filters_release(&f);
}

static void what_is_no_filter_is_refused(void **state)
{
	static const char *const cases[][2] = {
		{"city", "a\\"},      {"city", "a\nb"},	      {"city", "a,\\"},
		{"verdict", "robot"}, {"verdict", "-human,"}, {"verdict", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filters f = {0};
		struct error err = {0};

		assert_int_equal(add_filter(&f, cases[i][0], cases[i][1], &err),
				 -1);
		assert_int_equal(err.code, ERROR_INPUT);
		filters_release(&f);
	}
	assert_null(dimension_find_filter("link"));
	assert_null(dimension_find_filter("total"));
	assert_null(dimension_find_filter("nothing"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_takes_its_values),
		cmocka_unit_test(conditions_name_their_parameters),
		cmocka_unit_test(a_url_becomes_its_digest),
		cmocka_unit_test(urls_may_be_longer_than_other_values),
		cmocka_unit_test(there_are_bounds),
		cmocka_unit_test(what_is_no_filter_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
