/* Which parts of a URL's text are a URI, and how the rest is encoded. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/uri.h"

static void expect_uri(const char *url, const char *want)
{
	struct buf out = {0}, again = {0};

	uri_put(&out, url, strlen(url));
	assert_string_equal(buf_cstr(&out), want);
	uri_put(&again, out.data, out.len);
	assert_string_equal(buf_cstr(&again), want);
	buf_free(&out);
	buf_free(&again);
}

static void expect_unchanged(const char *url)
{
	expect_uri(url, url);
}

static void a_uri_stays_as_it_is(void **state)
{
	(void)state;
	expect_unchanged("https://example.org");
	expect_unchanged(
		"HTTPS://Ann:pw@Example.ORG:443/a/../b;c=1?d=e&f#g?/h");
	expect_unchanged("http://a.example/%e8%B7%af%2f%25");
	expect_unchanged(
		"http://a.example/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?");
	expect_unchanged("http://[2001:DB8::7]:81/");
	expect_unchanged("mailto:ann@example.org?subject=a%20b");
	expect_unchanged("myapp://item_7/x#y");
	expect_unchanged("myapp:");
}

static void what_no_uri_has_is_encoded(void **state)
{
	(void)state;
	expect_uri("http://x.example/\xe8\xb7\xaf\xe5\xbe\x84",
		   "http://x.example/%E8%B7%AF%E5%BE%84");
	expect_uri("http://x.example/a b\"<>\\^`{|}\x01\x7f",
		   "http://x.example/a%20b%22%3C%3E%5C%5E%60%7B%7C%7D%01%7F");
	expect_uri("http://x.example/?\xc3\xa4=\xff#\xc3\xb6",
		   "http://x.example/?%C3%A4=%FF#%C3%B6");
	expect_uri("myapp://it\xc3\xa4m/{7}", "myapp://it%C3%A4m/%7B7%7D");
	expect_uri("tel:+1 2", "tel:+1%202");
}

static void only_a_percent_sign_that_escapes_nothing_is_encoded(void **state)
{
	(void)state;
	expect_uri("http://x.example/100%", "http://x.example/100%25");
	expect_uri("http://x.example/%2", "http://x.example/%252");
	expect_uri("http://x.example/%%41%", "http://x.example/%25%41%25");
	expect_uri("http://x.example/?a=%zz&b=%u8DEF",
		   "http://x.example/?a=%25zz&b=%25u8DEF");
	expect_unchanged("http://x.example/%2541");
}

static void brackets_are_an_ipv6_address(void **state)
{
	(void)state;
	expect_uri("http://[::1]/[a]?b[]=1#[c]",
		   "http://[::1]/%5Ba%5D?b%5B%5D=1#%5Bc%5D");
	expect_uri("myapp://[x]/", "myapp://%5Bx%5D/");
	expect_uri("myapp://[::1/", "myapp://%5B::1/");
}

static void only_one_hash_begins_a_fragment(void **state)
{
	(void)state;
	expect_uri("http://x.example/#a#b", "http://x.example/#a%23b");
	expect_uri("http://x.example?a#?#", "http://x.example?a#?%23");
}

static void the_last_at_stands_before_the_host(void **state)
{
	(void)state;
	expect_uri("http://a@b@c.example/d@e", "http://a%40b@c.example/d@e");
	expect_uri("http://good.example\\@evil.example/",
		   "http://good.example%5C@evil.example/");
}

static void a_host_of_the_web_is_written_in_labels(void **state)
{
	(void)state;
	expect_uri("http://M\xc3\xbcnchen.example:80/",
		   "http://xn--mnchen-3ya.example:80/");
	expect_uri("https://\xe8\xb7\xaf.example", "https://xn--rt3a.example");
	expect_uri("http://\xff.example/", "http://%FF.example/");
	expect_uri("http://a b/", "http://a%20b/");
	expect_uri("myapp://M\xc3\xbcnchen/", "myapp://M%C3%BCnchen/");
}

static void a_nul_is_in_no_scheme(void **state)
{
	struct buf out = {0};

	(void)state;
	uri_put(&out, "a\0b://c", 7);
	assert_string_equal(buf_cstr(&out), "a%00b://c");
	buf_free(&out);
}

static void a_part_begins_no_fragment(void **state)
{
	static const char text[] = "/a#b%c%41[?";
	struct buf out = {0};

	(void)state;
	uri_put_part(&out, text, strlen(text));
	assert_string_equal(buf_cstr(&out), "/a%23b%25c%41%5B?");
	buf_free(&out);
}

static bool is_web(const char *url)
{
	return uri_is_web(url, strlen(url));
}

static void a_web_address_has_a_host(void **state)
{
	(void)state;
	assert_true(is_web("https://example.org"));
	assert_true(is_web("HTTP://ann@example.org:8443/a"));
	assert_true(is_web("http://\xe8\xb7\xaf.example/\xe5\xbe\x84"));
	assert_true(is_web("http://[::1]:80"));
	assert_false(is_web("http://"));
	assert_false(is_web("http:///a"));
	assert_false(is_web("http://?a"));
	assert_false(is_web("http://:80/"));
	assert_false(is_web("http://a..b/"));
	assert_false(is_web("http://a b/"));
	assert_false(is_web("http://a.example:0/"));
	assert_false(is_web("http://a.example:99999999999/"));
	assert_false(is_web("http://a.example:8x/"));
	assert_false(is_web("http:a.example"));
	assert_false(is_web("ftp://a.example/"));
	assert_false(is_web("/a"));
}

static bool takes_path(const char *url)
{
	return uri_takes_path(url, strlen(url));
}

static void a_path_goes_behind_a_host_or_a_path(void **state)
{
	(void)state;
	assert_true(takes_path("https://example.org"));
	assert_true(takes_path("https://example.org?a=b"));
	assert_true(takes_path("myapp://item"));
	assert_true(takes_path("myapp://item/7"));
	assert_true(takes_path("myapp:///item"));
	assert_true(takes_path("myapp:/item"));
}

static void a_path_never_becomes_the_host(void **state)
{
	(void)state;
	assert_false(takes_path("app://"));
	assert_false(takes_path("app:///"));
	assert_false(takes_path("app:"));
	assert_false(takes_path("app:/"));
	assert_false(takes_path("app://?a=b/c"));
	assert_false(takes_path("app://#a/b"));
	assert_false(takes_path("app://ann@"));
	assert_false(takes_path("app://:80"));
	assert_false(takes_path("app:?a=/b"));
}

static void what_has_no_segments_takes_no_path(void **state)
{
	(void)state;
	assert_false(takes_path("mailto:ann@example.org"));
	assert_false(takes_path("tel:+4912345"));
	assert_false(takes_path("myapp:item"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_uri_stays_as_it_is),
		cmocka_unit_test(what_no_uri_has_is_encoded),
		cmocka_unit_test(
			only_a_percent_sign_that_escapes_nothing_is_encoded),
		cmocka_unit_test(brackets_are_an_ipv6_address),
		cmocka_unit_test(only_one_hash_begins_a_fragment),
		cmocka_unit_test(the_last_at_stands_before_the_host),
		cmocka_unit_test(a_host_of_the_web_is_written_in_labels),
		cmocka_unit_test(a_nul_is_in_no_scheme),
		cmocka_unit_test(a_part_begins_no_fragment),
		cmocka_unit_test(a_web_address_has_a_host),
		cmocka_unit_test(a_path_goes_behind_a_host_or_a_path),
		cmocka_unit_test(a_path_never_becomes_the_host),
		cmocka_unit_test(what_has_no_segments_takes_no_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
