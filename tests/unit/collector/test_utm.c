#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/utm.h"

static struct utm parse_utm_query(const char *query)
{
	struct utm utm;

	utm_parse(query, strlen(query), &utm);
	return utm;
}

static void the_five_fields_are_found_among_others(void **state)
{
	struct utm u = parse_utm_query(
		"a=1&utm_source=news&utm_medium=email&"
		"utm_campaign=spring&utm_term=shoes&"
		"utm_content=top&utm_sourcex=no&xutm_source=no");

	(void)state;
	assert_string_equal(u.text[UTM_SOURCE], "news");
	assert_string_equal(u.text[UTM_MEDIUM], "email");
	assert_string_equal(u.text[UTM_CAMPAIGN], "spring");
	assert_string_equal(u.text[UTM_TERM], "shoes");
	assert_string_equal(u.text[UTM_CONTENT], "top");
}

static void values_are_percent_decoded(void **state)
{
	struct utm u =
		parse_utm_query("utm_source=a+b%20c%2B%C3%A9&utm_medium=100%&"
				"utm_term=%zz%4&utm_content=a%00b");

	(void)state;
	assert_string_equal(u.text[UTM_SOURCE], "a b c+\xc3\xa9");
	assert_string_equal(u.text[UTM_MEDIUM], "100%");
	assert_string_equal(u.text[UTM_TERM], "%zz%4");
	assert_int_equal(u.len[UTM_CONTENT], 3);
	assert_memory_equal(u.text[UTM_CONTENT], "a\0b", 3);
	u = parse_utm_query("utm_term=%4z%z4");
	assert_string_equal(u.text[UTM_TERM], "%4z%z4");
}

static void the_first_value_that_is_not_empty_counts(void **state)
{
	struct utm u = parse_utm_query("utm_source&utm_source=&utm_source=x&"
				       "utm_source=y");

	(void)state;
	assert_string_equal(u.text[UTM_SOURCE], "x");
}

static void names_have_any_case_and_may_be_escaped_html(void **state)
{
	struct utm u = parse_utm_query("UTM_Source=X&amp;utm_medium=y");

	(void)state;
	assert_string_equal(u.text[UTM_SOURCE], "X");
	assert_string_equal(u.text[UTM_MEDIUM], "y");
}

static void names_are_decoded_as_values_are(void **state)
{
	struct utm u = parse_utm_query("utm%5Fcampaign=x&%75tm_source=a&"
				       "UTM%5fMEDIUM=b&amp%3Butm_term=c&"
				       "utm%255Fcontent=no");

	(void)state;
	assert_string_equal(u.text[UTM_CAMPAIGN], "x");
	assert_string_equal(u.text[UTM_SOURCE], "a");
	assert_string_equal(u.text[UTM_MEDIUM], "b");
	assert_string_equal(u.text[UTM_TERM], "c");
	assert_string_equal(u.text[UTM_CONTENT], "");
	assert_int_equal(parse_utm_query("gcl%69d=1").mark, UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("li%5Ffat%5Fid=1").mark,
			 UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("f%62clid=1").mark, UTM_MARK_SOCIAL);
	/* No name contains a blank, and a NUL does not end a name. */
	assert_int_equal(parse_utm_query("+gclid=1&gclid+=1&gclid%00=1").mark,
			 UTM_MARK_NONE);
	assert_int_equal(parse_utm_query("gclid%=1&gclid%4=1&%=1").mark,
			 UTM_MARK_NONE);
	assert_int_equal(
		parse_utm_query("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxgclid=1")
			.mark,
		UTM_MARK_NONE);
}

static void a_query_without_any_has_none(void **state)
{
	static const char *const queries[] = {
		"", "&", "=", "&&=&", "utm_source", "=utm_source", "amp;=x"};

	(void)state;
	for (size_t i = 0; i < sizeof(queries) / sizeof(*queries); i++) {
		struct utm u = parse_utm_query(queries[i]);

		for (int f = 0; f < UTM_FIELDS; f++)
			assert_int_equal(u.len[f], 0);
		assert_int_equal(u.mark, UTM_MARK_NONE);
	}
	utm_parse(NULL, 0, &(struct utm){0});
}

static void a_long_value_is_cut_between_characters(void **state)
{
	char query[2000] = "utm_term=";
	struct utm u;

	(void)state;
	memset(query + 9, 'a', 254);
	strcpy(query + 9 + 254, "%C3%A9%C3%A9");
	u = parse_utm_query(query);
	assert_int_equal(u.len[UTM_TERM], 254);
	strcpy(query + 9 + 253, "\xc3\xa9\xc3\xa9");
	u = parse_utm_query(query);
	assert_int_equal(u.len[UTM_TERM], 255);
	memset(query + 9, '\x80', 900); /* no UTF-8: cut at the limit */
	u = parse_utm_query(query);
	assert_int_equal(u.len[UTM_TERM], 255);
	/* No character has more than three bytes after its first. */
	memset(query + 9, 'a', 252);
	u = parse_utm_query(query);
	assert_int_equal(u.len[UTM_TERM], 255);
}

static void a_value_that_just_fits_is_whole(void **state)
{
	char query[9 + 255 + 1] = "utm_term=";
	struct utm u;

	(void)state;
	memset(query + 9, 'a', 255);
	/* The bytes after the text belong to no character. */
	memset(&u, '\x80', sizeof(u));
	utm_parse(query, 9 + 255, &u);
	assert_int_equal(u.len[UTM_TERM], 255);
}

static void marks_of_advertisers_are_seen(void **state)
{
	(void)state;
	assert_int_equal(parse_utm_query("gclid=x").mark, UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("a=b&msclkid=x").mark, UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("fbclid=x").mark, UTM_MARK_SOCIAL);
	assert_int_equal(parse_utm_query("fbclid=x&gclid=y").mark,
			 UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("gclid=x&fbclid=y").mark,
			 UTM_MARK_PAID);
	assert_int_equal(parse_utm_query("gclid=").mark, UTM_MARK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_five_fields_are_found_among_others),
		cmocka_unit_test(values_are_percent_decoded),
		cmocka_unit_test(the_first_value_that_is_not_empty_counts),
		cmocka_unit_test(names_have_any_case_and_may_be_escaped_html),
		cmocka_unit_test(names_are_decoded_as_values_are),
		cmocka_unit_test(a_query_without_any_has_none),
		cmocka_unit_test(a_long_value_is_cut_between_characters),
		cmocka_unit_test(a_value_that_just_fits_is_whole),
		cmocka_unit_test(marks_of_advertisers_are_seen),
	};

	return cmocka_run_group_tests_name("utm", tests, NULL, NULL);
}
