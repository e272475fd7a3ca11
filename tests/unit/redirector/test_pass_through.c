#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "redirector/pages/pass_through.h"

static const struct pass_through none = {SHORTLOOP__QUERY_PASS__QUERY_DROPPED,
					 false};
static const struct pass_through add = {SHORTLOOP__QUERY_PASS__QUERY_ADDED,
					false};
static const struct pass_through override = {
	SHORTLOOP__QUERY_PASS__QUERY_OVERRIDES, false};
static const struct pass_through path = {SHORTLOOP__QUERY_PASS__QUERY_ADDED,
					 true};

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void leads_to(const struct pass_through *pass, const char *url,
		     const char *rest, const char *query, const char *want)
{
	struct buf out = {0};

	pass_through_url(&out, slice_of(url), pass, slice_of(rest),
			 slice_of(query));
	assert_string_equal(buf_cstr(&out), want);
	buf_free(&out);
}

static void nothing_goes_on_unless_it_is_asked_for(void **state)
{
	(void)state;
	leads_to(&none, "https://a/b?c=d#e", "/f", "g=h", "https://a/b?c=d#e");
	leads_to(&add, "https://a/b?c=d#e", "/f", "", "https://a/b?c=d#e");
	leads_to(&path, "https://a/b?c=d#e", "", "", "https://a/b?c=d#e");
	leads_to(&add, "https://a/b?&c&&#e", "", "", "https://a/b?&c&&#e");
}

static void parameters_are_added_before_the_fragment(void **state)
{
	(void)state;
	leads_to(&add, "https://a/", "", "b=c", "https://a/?b=c");
	leads_to(&add, "https://a/?", "", "b=c", "https://a/?b=c");
	leads_to(&add, "https://a/?d", "", "b=c&e", "https://a/?d&b=c&e");
	leads_to(&add, "https://a/?d#f?g", "", "b=c", "https://a/?d&b=c#f?g");
	leads_to(&add, "https://a/#f", "", "b=c&&b=c&", "https://a/?b=c&b=c#f");
}

static void those_of_the_url_stay(void **state)
{
	(void)state;
	leads_to(&add, "https://a/?b=1&c=2", "", "c=9&d=3",
		 "https://a/?b=1&c=2&d=3");
	leads_to(&add, "https://a/?b%5b=1&c+d=2", "", "b[=9&c%20d=9&%63+d=9",
		 "https://a/?b%5b=1&c+d=2");
	leads_to(&add, "https://a/?b", "", "b=9&B=9", "https://a/?b&B=9");
}

static void those_of_the_visit_take_their_place(void **state)
{
	(void)state;
	leads_to(&override, "https://a/?b=1&c=2&b=3", "", "b=9&d=4",
		 "https://a/?c=2&b=9&d=4");
	leads_to(&override, "https://a/?b=1", "", "%62=9", "https://a/?%62=9");
}

static void what_counts_campaigns_stays_in_any_case(void **state)
{
	(void)state;
	leads_to(&override, "https://a/?utm_source=own&b=1", "",
		 "utm_source=x&utm%5Fsource=y&utm_medium=z&b=2",
		 "https://a/?utm_source=own&utm_medium=z&b=2");
	leads_to(&add, "https://a/", "", "utm_source=x",
		 "https://a/?utm_source=x");
}

static void what_no_url_may_have_is_encoded(void **state)
{
	(void)state;
	leads_to(&add, "https://a/", "", "b=\xc3\xa4\"<>\\^`{|}%zz%41",
		 "https://a/?b=%C3%A4%22%3C%3E%5C%5E%60%7B%7C%7D%25zz%41");
	leads_to(&path, "https://a", "/\\b\xff", "", "https://a/%5Cb%FF");
	leads_to(&path, "https://a", "/100%", "c[]=%&d=5%2",
		 "https://a/100%25?c%5B%5D=%25&d=5%252");
}

static void a_path_goes_behind_the_path(void **state)
{
	(void)state;
	leads_to(&path, "https://a/", "/b/c", "", "https://a/b/c");
	leads_to(&path, "https://a/b", "/c", "", "https://a/b/c");
	leads_to(&path, "https://a/b/?d#e", "/c/", "f", "https://a/b/c/?d&f#e");
	leads_to(&path, "https://a", "//b", "", "https://a//b");
}

static void no_path_becomes_the_host(void **state)
{
	(void)state;
	leads_to(&path, "app://", "/evil.example/b", "", "app://");
	leads_to(&path, "app://", "/evil.example", "c", "app://?c");
	leads_to(&path, "app:", "//evil.example/b", "", "app:");
	leads_to(&path, "app:/", "//evil.example", "", "app:/");
	leads_to(&path, "mailto:a@b.example", "/c", "", "mailto:a@b.example");
	leads_to(&path, "app://item", "/7", "", "app://item/7");
	leads_to(&path, "app:///item/", "/7", "", "app:///item/7");
	leads_to(&path, "https://a.example", "/@evil.example", "",
		 "https://a.example/@evil.example");
	leads_to(&path, "https://a.example", "/.evil.example", "",
		 "https://a.example/.evil.example");
}

static void too_many_parameters_are_none(void **state)
{
	char query[4 * PASS_THROUGH_PARAMETERS_MAX + 8] = "", want[512];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < PASS_THROUGH_PARAMETERS_MAX; i++)
		len += (size_t)sprintf(query + len, "&a=1");
	snprintf(want, sizeof(want), "https://a/?%s", query + 1);
	leads_to(&add, "https://a/", "", query, want);
	strcat(query, "&b");
	leads_to(&add, "https://a/", "", query, "https://a/");
	leads_to(&add, "https://a/?c", "", query, "https://a/?c");
}

static void no_path_leads_above(void **state)
{
	static const char *const bad[] = {
		"/.",	     "/..",	 "/a/../b",	 "/%2e%2E/b",
		"/a/.%2e",   "/a/%2e/b", "/a%2f..%2f",	 "/a\\..\\b",
		"/a%5c..",   "/../",	 "/..;",	 "/..;/",
		"/a/..;b=c", "/.;/",	 "/a/%2e.%3b/b", "/..%3Ba"};
	static const char *const good[] = {
		"/",	 "/...",  "/a..b",   "/.a",    "/%252e", "/a/b", "//",
		"/..a/", "/a;..", "/a;../b", "/...;/", "/;..",	 "/;/",	 "/a;"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pass_through_may_follow(slice_of(bad[i])));
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(pass_through_may_follow(slice_of(good[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_goes_on_unless_it_is_asked_for),
		cmocka_unit_test(parameters_are_added_before_the_fragment),
		cmocka_unit_test(those_of_the_url_stay),
		cmocka_unit_test(those_of_the_visit_take_their_place),
		cmocka_unit_test(what_counts_campaigns_stays_in_any_case),
		cmocka_unit_test(what_no_url_may_have_is_encoded),
		cmocka_unit_test(a_path_goes_behind_the_path),
		cmocka_unit_test(no_path_becomes_the_host),
		cmocka_unit_test(too_many_parameters_are_none),
		cmocka_unit_test(no_path_leads_above),
	};

	return cmocka_run_group_tests_name("pass_through", tests, NULL, NULL);
}
