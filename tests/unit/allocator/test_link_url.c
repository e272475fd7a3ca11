#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "allocator/api/link_url.h"

static int check(const char *url, struct error *err)
{
	return link_url_check(url, strlen(url), err);
}

static void assert_taken(const char *url)
{
	struct error err = {0};

	if (check(url, &err) < 0)
		fail_msg("%s: %s", url, err.text);
}

static void assert_refused(const char *url, const char *says)
{
	struct error err = {0};

	assert_int_equal(check(url, &err), -1);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void web_addresses_are_taken(void **state)
{
	(void)state;
	assert_taken("http://example.org");
	assert_taken("https://example.org/a/b?c=d&e#f");
	assert_taken("HTTPS://EXAMPLE.org:8443/");
	assert_taken("http://192.0.2.7/");
	assert_taken("http://[2001:db8::7]:81/x");
	assert_taken("https://example.org/\xe4\xb8\xad\xe6\x96\x87");
	assert_taken("https://example.org/%0d%0a");
}

static void other_schemes_are_refused(void **state)
{
	(void)state;
	assert_refused("ftp://example.org/", "http://");
	assert_refused("javascript:alert(1)", "url");
	assert_refused("data:text/html,x", "url");
	assert_refused("file:///etc/passwd", "url");
}

static void relative_addresses_are_refused(void **state)
{
	(void)state;
	assert_refused("example.org/a", "url");
	assert_refused("/a", "url");
	assert_refused("//example.org/a", "url");
}

static void a_missing_host_is_refused(void **state)
{
	(void)state;
	assert_refused("https://", "url");
	assert_refused("https:///a", "host");
	assert_refused("https:/example.org", "host");
	assert_refused("https://?a", "url");
}

static void blanks_and_control_characters_are_refused(void **state)
{
	(void)state;
	assert_refused("https://example.org/a b", "%20");
	assert_refused("https://example.org/\r\nX-Evil: 1", "%0D");
	assert_refused("https://example.org/\x7f", "%7F");
	assert_refused(" https://example.org/", "byte 1");
}

static void an_empty_address_is_refused(void **state)
{
	(void)state;
	assert_refused("", "empty");
}

static void a_bad_port_is_refused(void **state)
{
	(void)state;
	assert_refused("https://example.org:99999/", "url");
	assert_refused("https://example.org:x/", "url");
}

static void the_bound_on_length_is_exact(void **state)
{
	char *url = malloc(LINK_URL_MAX + 2);
	struct error err = {0};

	(void)state;
	assert_non_null(url);
	memset(url, 'a', LINK_URL_MAX + 1);
	memcpy(url, "https://a.example/", 18);
	url[LINK_URL_MAX + 1] = '\0';
	assert_int_equal(link_url_check(url, LINK_URL_MAX + 1, &err), -1);
	url[LINK_URL_MAX] = '\0';
	assert_int_equal(link_url_check(url, LINK_URL_MAX, &err), 0);
	free(url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(web_addresses_are_taken),
		cmocka_unit_test(other_schemes_are_refused),
		cmocka_unit_test(relative_addresses_are_refused),
		cmocka_unit_test(a_missing_host_is_refused),
		cmocka_unit_test(blanks_and_control_characters_are_refused),
		cmocka_unit_test(an_empty_address_is_refused),
		cmocka_unit_test(a_bad_port_is_refused),
		cmocka_unit_test(the_bound_on_length_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
