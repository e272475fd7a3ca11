#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "common/http/cors.h"

static int check_origin(const char *item, struct error *err)
{
	char copy[128];
	char *items[] = {copy};
	struct setting_strings origins = {items, 1};

	snprintf(copy, sizeof(copy), "%s", item);
	*err = (struct error){0};
	return cors_check(&origins, "x.cors_origins", err);
}

static void what_a_browser_sends_is_an_origin(void **state)
{
	static const char *const good[] = {"*",
					   "https://a.example",
					   "http://localhost:3000",
					   "https://a.example:8443",
					   "http://a.example:443",
					   "https://xn--bcher-kva.example",
					   "http://127.0.0.1:65535",
					   "http://[::1]:8080",
					   "https://[2001:db8::1]",
					   "app+x.y-1://host_name"};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		if (check_origin(good[i], &err) < 0)
			fail_msg("%s: %s", good[i], err.text);
	}
}

static void what_none_sends_is_named(void **state)
{
	static const char *const bad[] = {"",
					  "null",
					  "a.example",
					  "//a.example",
					  "https://",
					  "https://a.example/",
					  "https://a.example/page",
					  "https://A.example",
					  "HTTPS://a.example",
					  "https://a.example:443",
					  "http://a.example:80",
					  "http://a.example:",
					  "http://a.example:0",
					  "http://a.example:080",
					  "http://a.example:65536",
					  "http://a.example:123456",
					  "http://a.example:8o",
					  "https://*.a.example",
					  "https://user@a.example",
					  "https://b\xc3\xbc.example",
					  "https://[::1",
					  "https://[]",
					  "https://[::1]x",
					  " https://a.example",
					  "1http://a.example"};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (check_origin(bad[i], &err) == 0)
			fail_msg("%s is taken", bad[i]);
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_non_null(strstr(err.text, "x.cors_origins: "));
		assert_non_null(strstr(err.text, bad[i]));
	}
	/* This origin would add a header of its own; a message does not contain
	 * line ends. */
	assert_int_equal(check_origin("https://a.example\r\nX: y", &err), -1);
}

static void everyone_stands_alone(void **state)
{
	char one[] = "https://a.example", star[] = "*";
	char *items[] = {one, star};
	struct setting_strings origins = {items, 2};
	struct error err = {0};

	(void)state;
	assert_int_equal(cors_check(&origins, "x.cors_origins", &err), -1);
	assert_non_null(strstr(err.text, "stands alone"));
	origins.count = 1;
	assert_int_equal(cors_check(&origins, "x.cors_origins", &err), 0);
	origins.count = 0;
	assert_int_equal(cors_check(&origins, "x.cors_origins", &err), 0);
}

static struct http_slice make_slice(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static void only_what_is_listed_is_allowed(void **state)
{
	char one[] = "https://a.example", two[] = "http://b.example:81";
	char *items[] = {one, two};
	struct setting_strings origins = {items, 2};

	(void)state;
	assert_string_equal(cors_allowed(&origins, make_slice(one)), one);
	assert_string_equal(cors_allowed(&origins, make_slice(two)), two);
	assert_null(
		cors_allowed(&origins, make_slice("https://a.example.evil")));
	assert_null(cors_allowed(&origins, make_slice("https://a.exampl")));
	assert_null(cors_allowed(&origins, make_slice("http://a.example")));
	assert_null(cors_allowed(&origins, make_slice("null")));
	assert_null(cors_allowed(&origins, (struct http_slice){NULL, 0}));
	origins.count = 0;
	assert_null(cors_allowed(&origins, make_slice(one)));
}

static void everyone_is_everyone(void **state)
{
	char star[] = "*";
	char *items[] = {star};
	struct setting_strings origins = {items, 1};

	(void)state;
	assert_string_equal(cors_allowed(&origins, make_slice("null")), "*");
	assert_string_equal(cors_allowed(&origins, (struct http_slice){0}),
			    "*");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_browser_sends_is_an_origin),
		cmocka_unit_test(what_none_sends_is_named),
		cmocka_unit_test(everyone_stands_alone),
		cmocka_unit_test(only_what_is_listed_is_allowed),
		cmocka_unit_test(everyone_is_everyone),
	};

	return cmocka_run_group_tests_name("cors", tests, NULL, NULL);
}
