#include "tests/unit/unit.h"

#include <string.h>

#include "common/http/encoding.h"

#define LONG 100000

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static struct encoding_list list_of(const char *line)
{
	struct encoding_list list = encoding_list_empty;

	encoding_list_add(&list, slice_of(line));
	return list;
}

static void expect_encoding(const char *line, enum encoding expected)
{
	struct encoding_list list = list_of(line);
	enum encoding got;

	if (!encoding_choose(&list, LONG, &got))
		fail_msg("'%s' accepts nothing", line);
	if (got != expected)
		fail_msg("'%s' got %s, not %s", line, encoding_name(got),
			 encoding_name(expected));
}

static void expect_nothing(const char *line)
{
	struct encoding_list list = list_of(line);
	enum encoding got;

	if (encoding_choose(&list, LONG, &got))
		fail_msg("'%s' got %s", line, encoding_name(got));
}

static void who_says_nothing_gets_what_it_is(void **state)
{
	enum encoding got = ENCODING_ZSTD;

	(void)state;
	assert_true(encoding_choose(&encoding_list_empty, LONG, &got));
	assert_int_equal(got, ENCODING_IDENTITY);
	expect_encoding("", ENCODING_IDENTITY);
	expect_encoding(" , ,", ENCODING_IDENTITY);
	expect_encoding("br, deflate", ENCODING_IDENTITY);
}

static void at_equal_weight_zstd_is_first(void **state)
{
	(void)state;
	expect_encoding("gzip, zstd", ENCODING_ZSTD);
	expect_encoding("gzip, deflate, br, zstd", ENCODING_ZSTD);
	expect_encoding("identity, gzip", ENCODING_GZIP);
	expect_encoding("gzip;q=0.5, zstd;q=0.5, identity;q=0.5",
			ENCODING_ZSTD);
	expect_encoding("*", ENCODING_ZSTD);
}

static void the_greater_weight_wins(void **state)
{
	(void)state;
	expect_encoding("zstd;q=0.8, gzip;q=0.801", ENCODING_GZIP);
	expect_encoding("zstd;q=0.8, gzip", ENCODING_GZIP);
	expect_encoding("gzip;q=0.9, identity", ENCODING_IDENTITY);
	expect_encoding("gzip;q=0.001", ENCODING_GZIP);
	expect_encoding("*;q=0.3, gzip;q=0.4", ENCODING_GZIP);
	expect_encoding("zstd;q=1.000, gzip;q=0.999", ENCODING_ZSTD);
}

static void weight_0_refuses(void **state)
{
	(void)state;
	expect_encoding("zstd;q=0, gzip", ENCODING_GZIP);
	expect_encoding("zstd;q=0.000, gzip;q=0", ENCODING_IDENTITY);
	expect_encoding("gzip;q=0, *", ENCODING_ZSTD);
	expect_encoding("*;q=0, gzip", ENCODING_GZIP);
	expect_encoding("*;q=0, identity", ENCODING_IDENTITY);
	expect_nothing("identity;q=0");
	expect_nothing("*;q=0");
	expect_nothing("identity;q=0, br");
	expect_nothing("identity;q=0, gzip;q=0, zstd;q=0");
}

static void names_and_q_have_no_case_and_may_have_space(void **state)
{
	(void)state;
	expect_encoding("GZIP", ENCODING_GZIP);
	expect_encoding("x-gzip", ENCODING_GZIP);
	expect_encoding("\tZstd ;\tQ=0.1 ,gzip ; q=0.2", ENCODING_GZIP);
	expect_encoding(",gzip,", ENCODING_GZIP);
}

static void what_is_malformed_is_not_there(void **state)
{
	static const char *const lines[] = {
		"gzip;q=2",	 "gzip;q=1.001", "gzip;q=.5", "gzip;q=-1",
		"gzip;q=0.1234", "gzip;q=",	 "gzip;",     "gzip;level=1",
		"gzip;q=1;q=1",	 "gzip;q = 1",	 "gzip zstd", "gzip;q=1e0",
		"gzip;q=00",	 "gzipped",	 "gzi",	      "gzip;q=\xff"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect_encoding(lines[i], ENCODING_IDENTITY);
	expect_encoding("gzip;q=1., zstd;q=0.", ENCODING_GZIP);
	expect_encoding("zstd;q=x, gzip", ENCODING_GZIP);
	expect_encoding("identity;q=x", ENCODING_IDENTITY);
}

static void a_short_body_is_left_alone_where_it_may(void **state)
{
	struct encoding_list both = list_of("gzip, zstd");
	struct encoding_list coded = list_of("gzip, identity;q=0");
	enum encoding got;

	(void)state;
	assert_true(encoding_choose(&both, 1399, &got));
	assert_int_equal(got, ENCODING_IDENTITY);
	assert_true(encoding_choose(&both, 1400, &got));
	assert_int_equal(got, ENCODING_ZSTD);
	assert_true(encoding_choose(&coded, 1, &got));
	assert_int_equal(got, ENCODING_GZIP);
}

static void lines_are_one_list(void **state)
{
	struct encoding_list list = list_of("gzip");
	enum encoding got;

	(void)state;
	encoding_list_add(&list, slice_of("identity;q=0"));
	encoding_list_add(&list, slice_of("gzip;q=0.5"));
	assert_false(encoding_accepted(&list, ENCODING_IDENTITY));
	assert_false(encoding_accepted(&list, ENCODING_ZSTD));
	assert_int_equal(list.weights[ENCODING_GZIP], 500);
	assert_true(encoding_choose(&list, LONG, &got));
	assert_int_equal(got, ENCODING_GZIP);
}

static void each_form_has_its_tag(void **state)
{
	char text[ENCODING_ETAG_MAX];

	(void)state;
	assert_string_equal(encoding_etag(ENCODING_IDENTITY, "\"a\"", text),
			    "\"a\"");
	assert_string_equal(encoding_etag(ENCODING_GZIP, "\"a\"", text),
			    "\"a-gzip\"");
	assert_string_equal(encoding_etag(ENCODING_ZSTD, "\"a\"", text),
			    "\"a-zstd\"");
}

static void any_form_is_known_again(void **state)
{
	static const char *const same[] = {
		"\"a\"", "\"a-gzip\"",	 "W/\"a-zstd\"",   "*",
		" * ",	 "\"b\", \"a\"", "\"b\" ,W/\"a\"", "\"b,c\",,\t\"a\""};
	static const char *const others[] = {
		"",	     "a",	"\"\"",	    "\"",	"W/",
		"W/\"",	     "\"b\"",	"\"a-br\"", "\"a-gzip", "\"aa\"",
		"\"b,\"a\"", "w/\"a\"", "\"b\", *", "\"A\""};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (!encoding_etag_matches(slice_of(same[i]), "\"a\""))
			fail_msg("%s is another", same[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (encoding_etag_matches(slice_of(others[i]), "\"a\""))
			fail_msg("%s is the same", others[i]);
	}
	assert_false(
		encoding_etag_matches((struct http_slice){NULL, 0}, "\"a\""));
}

static void a_tag_to_match_is_that_very_one(void **state)
{
	static const char *const same[] = {"\"a\"", " * ", "\"b\", \"a\"",
					   "W/\"a\",\"a\"", "\"b,c\",,\t\"a\""};
	static const char *const others[] = {
		"",	     "a",	 "W/\"a\"", "\"a-gzip\"",
		"\"b,\"a\"", "\"b\", *", "\"A\"",   "\"b\",W/\"a\""};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		if (!encoding_etag_is_one_of(slice_of(same[i]), "\"a\""))
			fail_msg("%s is another", same[i]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (encoding_etag_is_one_of(slice_of(others[i]), "\"a\""))
			fail_msg("%s is the same", others[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_says_nothing_gets_what_it_is),
		cmocka_unit_test(at_equal_weight_zstd_is_first),
		cmocka_unit_test(the_greater_weight_wins),
		cmocka_unit_test(weight_0_refuses),
		cmocka_unit_test(names_and_q_have_no_case_and_may_have_space),
		cmocka_unit_test(what_is_malformed_is_not_there),
		cmocka_unit_test(a_short_body_is_left_alone_where_it_may),
		cmocka_unit_test(lines_are_one_list),
		cmocka_unit_test(each_form_has_its_tag),
		cmocka_unit_test(any_form_is_known_again),
		cmocka_unit_test(a_tag_to_match_is_that_very_one),
	};

	return cmocka_run_group_tests_name("encoding", tests, NULL, NULL);
}
