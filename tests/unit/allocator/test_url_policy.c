#include "tests/unit/allocator/url_world.h"

static char weixin[] = "weixin", my_app[] = "MyApp",
	    *schemes[] = {weixin, my_app};
static char refuse[] = "refuse";

static const struct url_policy_config plain = {.ip_hosts = allow};

static int set_up(void **state)
{
	make_domains();
	*state = policy_with(&plain);
	return 0;
}

static int tear_down(void **state)
{
	url_policy_free(*state);
	domains_free(domains);
	return 0;
}

static void web_addresses_are_taken(void **state)
{
	assert_taken(*state, "http://example.org");
	assert_taken(*state, "https://example.org/a/b?c=d&e#f");
	assert_taken(*state, "http://192.0.2.7/");
	assert_taken(*state, "http://[2001:db8::7]:81/x");
	assert_taken(*state, "https://example.org/%0d%0a");
	assert_taken(*state, "https://example.org?a=b@c%5Cd");
	assert_taken(*state, "https://example.org#/a");
	assert_taken(*state, "https://example.org/@user/x:y");
}

static void scheme_and_host_are_stored_in_one_form(void **state)
{
	assert_stored(*state, "HTTPS://EXAMPLE.org:8443/A",
		      "https://example.org:8443/A");
	assert_stored(*state, "http://example.org.:/", "http://example.org/");
	assert_stored(*state,
		      "https://M\xc3\xbc"
		      "nchen.example/M\xc3\xbc",
		      "https://xn--mnchen-3ya.example/M%C3%BC");
	assert_stored(*state, "http://0xc0.0x2.7", "http://192.2.0.7");
	assert_stored(*state, "http://3221225991/", "http://192.0.2.7/");
}

static void what_is_stored_is_a_uri(void **state)
{
	assert_stored(*state, "https://example.org/\xe4\xb8\xad\xe6\x96\x87",
		      "https://example.org/%E4%B8%AD%E6%96%87");
	assert_stored(*state, "https://example.org/|\"<{^}>`100%",
		      "https://example.org/%7C%22%3C%7B%5E%7D%3E%60100%25");
	assert_stored(*state, "https://example.org?a=b@c\\d#e#f",
		      "https://example.org?a=b@c%5Cd#e%23f");
	assert_stored(*state, "http://[2001:db8::7]/[x]?y[]=%5b",
		      "http://[2001:db8::7]/%5Bx%5D?y%5B%5D=%5b");
}

/* 18 bytes and 2,724 escapes fit. */
static void the_bound_is_of_the_uri(void **state)
{
	char url[4096] = "https://a.example/";
	struct error err = {0};
	struct buf out = {0};
	size_t from = strlen(url);

	memset(url + from, '|', sizeof(url) - from);
	assert_int_equal(url_policy_check(*state, url, from + 2724, &out, &err),
			 0);
	assert_int_equal(out.len, from + 3 * 2724);
	assert_int_equal(url_policy_check(*state, url, from + 2725, &out, &err),
			 -1);
	assert_non_null(strstr(err.text, "8193 bytes as a URI"));
	buf_free(&out);
}

static void other_schemes_are_refused(void **state)
{
	assert_refused(*state, "ftp://example.org/", "http://");
	assert_refused(*state, "javascript:alert(1)", "http://");
	assert_refused(*state, "data:text/html,x", "http://");
	assert_refused(*state, "file:///etc/passwd", "http://");
	assert_refused(*state, "weixin://dl/business/", "http://");
}

static void relative_addresses_are_refused(void **state)
{
	assert_refused(*state, "example.org/a", "absolute");
	assert_refused(*state, "example.org:80/a", "http://");
	assert_refused(*state, "/a", "absolute");
	assert_refused(*state, "//example.org/a", "absolute");
	assert_refused(*state, ":", "absolute");
}

static void a_missing_host_is_refused(void **state)
{
	assert_refused(*state, "https:", "host");
	assert_refused(*state, "https://", "host");
	assert_refused(*state, "https:///a", "host");
	assert_refused(*state, "https:/example.org", "host");
	assert_refused(*state, "https:example.org", "host");
	assert_refused(*state, "https://?a", "host");
	assert_refused(*state, "https://:80/", "host");
}

static void blanks_and_control_characters_are_refused(void **state)
{
	struct error err = {0};
	struct buf out = {0};

	assert_refused(*state, "https://example.org/a b", "%20");
	assert_refused(*state, "https://example.org/\r\nX-Evil: 1", "%0D");
	assert_refused(*state, "https://example.org/\x7f", "%7F");
	assert_refused(*state, " https://example.org/", "byte 1");
	assert_refused(*state, "ht\ntps://example.org/", "byte 3");
	assert_int_equal(
		url_policy_check(*state, "http://a.b/\0", 12, &out, &err), -1);
}

/* These characters draw nothing, change how others are drawn, or end a line in
 * some programs. */
static void characters_that_nobody_sees_are_refused(void **state)
{
	assert_refused(*state, "https://example.org/\xc2\x85", "%C2%85");
	assert_refused(*state, "https://example.org/\xc2\x9b", "%C2%9B");
	assert_refused(*state, "https://example.org/\xe2\x80\xa8x",
		       "%E2%80%A8");
	assert_refused(*state,
		       "https://example.org/\xe2\x80\xae"
		       "gnp.exe\xe2\x80\xac",
		       "%E2%80%AE");
	assert_refused(*state, "https://example.org/\xe2\x81\xa6\xe2\x81\xa9",
		       "byte 21");
	assert_refused(*state, "https://example.org/\xe2\x80\x8f", "byte 21");
	assert_refused(*state, "https://example.org/\xe2\x80\x8b", "byte 21");
	assert_refused(*state, "https://example.org/\xef\xbb\xbf", "byte 21");
	assert_refused(*state, "https://example.org/\xc2\xa0", "%C2%A0");
	assert_refused(*state, "https://exa\xc2\xadmple.org/", "byte 12");
	assert_refused(*state, "https://example.org/\xf3\xa0\x81\x81",
		       "%F3%A0%81%81");
	assert_refused(*state, "https://example.org/\xff", "UTF-8");
	assert_stored(*state, "https://example.org/\xf0\x9f\x98\x80",
		      "https://example.org/%F0%9F%98%80");
}

static void an_address_has_one_form(void **state)
{
	assert_refused(*state, "http://[64:ff9b::7f00:1]/", "IPv4");
	assert_refused(*state, "http://[64:ff9b:1::7f00:1]/", "IPv4");
	assert_refused(*state, "http://[2002:7f00:1::]/", "IPv4");
	assert_refused(*state, "http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/",
		       "IPv4");
	assert_refused(*state, "http://[::ffff:7f00:1]/", "IPv4");
	assert_refused(*state, "http://[::ffff:0:7f00:1]/", "IPv4");
	assert_refused(*state, "http://[::7f00:1]/", "IPv4");
	assert_refused(*state, "http://[2001:db8::5efe:7f00:1]/", "IPv4");
	assert_taken(*state, "http://[2001:4860:4860::8888]/");
	assert_taken(*state, "http://[64:ff9c::7f00:1]/");
}

static void what_browsers_read_otherwise_is_refused(void **state)
{
	assert_refused(*state, "https://evil.example\\@good.example/",
		       "backslash");
	assert_refused(*state, "https:\\\\example.org/", "host");
	assert_refused(*state, "https://\\example.org/", "host");
	assert_refused(*state, "https://example.org\\a", "backslash");
	assert_refused(*state, "https://ex%61mple.org/", "host");
	assert_refused(*state, "https://[::1]x/", "not a port");
	assert_refused(*state, "https://a,b/", "host");
}

static void an_empty_address_is_refused(void **state)
{
	assert_refused(*state, "", "empty");
}

static void a_bad_port_is_refused(void **state)
{
	assert_refused(*state, "https://example.org:99999/", "port");
	assert_refused(*state, "https://example.org:0/", "port");
	assert_refused(*state, "https://example.org:x/", "port");
	assert_refused(*state, "https://example.org:80:80/", "port");
	assert_refused(*state, "https://example.org:4294967376/", "port");
	assert_taken(*state, "https://example.org:65535/");
}

static void the_bound_on_length_is_exact(void **state)
{
	char *url = malloc(LINK_URL_MAX + 2);
	struct error err = {0};
	struct buf out = {0};

	assert_non_null(url);
	memset(url, 'a', LINK_URL_MAX + 1);
	memcpy(url, "https://a.example/", 18);
	assert_int_equal(
		url_policy_check(*state, url, LINK_URL_MAX + 1, &out, &err),
		-1);
	assert_int_equal(
		url_policy_check(*state, url, LINK_URL_MAX, &out, &err), 0);
	assert_int_equal(out.len, LINK_URL_MAX);
	/* Two bytes of UTF-8 become nine of an A-label. */
	memcpy(url, "https://\xc3\xbc.example/", 19);
	assert_int_equal(
		url_policy_check(*state, url, LINK_URL_MAX, &out, &err), -1);
	buf_free(&out);
	free(url);
}

static void our_own_hosts_are_refused_in_every_form(void **state)
{
	assert_refused(*state, "https://sho.rt/abc", "our own");
	assert_refused(*state, "http://SHO.rt:8080/", "our own");
	assert_refused(*state, "https://sho.rt./a/b/c", "our own");
	assert_refused(*state, "https://sho.rt?x", "our own");
	assert_refused(*state,
		       "https://B\xc3\x9c"
		       "CHER.example/x",
		       "our own");
	assert_refused(*state, "https://xn--bcher-kva.example", "our own");
	assert_refused(*state, "http://localhost/x", "our own");
	assert_refused(*state, "http://LOCALHOST:9/x", "our own");
	assert_refused(*state, "https://sho.rt:1/x", "our own");
	assert_refused(*state, "https://sho.rt:08443/x", "our own");
	assert_refused(*state, "http://xn--bcher-kva.example:65535", "our own");
	/* These are other names of this machine, which is the host of our
	 * base_url. */
	assert_refused(*state, "http://127.0.0.1:8080/x", "our own");
	assert_refused(*state, "http://127.9.9.9/x", "our own");
	assert_refused(*state, "http://[::1]:8080/x", "our own");
	assert_refused(*state, "http://0/x", "our own");
	assert_refused(*state, "http://[::]:1/x", "our own");
	assert_refused(*state, "http://a.localhost/x", "our own");
	assert_taken(*state, "http://128.0.0.1/x");
	assert_taken(*state, "http://notlocalhost/x");
	assert_taken(*state, "https://www.sho.rt.example/");
	assert_taken(*state, "https://notsho.rt/");
}

static void listed_app_schemes_are_taken(void **state)
{
	const struct url_policy_config config = {.schemes = {schemes, 2},
						 .ip_hosts = allow};
	struct url_policy *policy = policy_with(&config);

	(void)state;
	assert_taken(policy, "weixin://dl/business/?t=Ab");
	assert_stored(policy, "MYAPP:Open?x", "myapp:Open?x");
	assert_refused(policy, "weixin:", "nothing behind");
	assert_refused(policy, "otherapp://x", "weixin:, MyApp:");
	url_policy_free(policy);
}

static void credentials_need_to_be_allowed(void **state)
{
	const struct url_policy_config config = {.credentials = true,
						 .ip_hosts = allow};
	struct url_policy *policy = policy_with(&config);

	assert_refused(*state, "https://u:p@example.org/", "password");
	assert_refused(*state, "https://sho.rt@example.org/", "user");
	assert_taken(policy, "https://u:p@example.org/");
	assert_refused(policy, "https://u@p@example.org/", "'@'");
	assert_refused(policy, "https://example.org@sho.rt/", "our own");
	assert_refused(policy, "https://u:p@", "host");
	url_policy_free(policy);
}

static void addresses_for_hosts_can_be_refused(void **state)
{
	const struct url_policy_config config = {.ip_hosts = refuse};
	struct url_policy *policy = policy_with(&config);

	(void)state;
	assert_refused(policy, "http://192.0.2.7/", "domain name");
	assert_refused(policy, "http://0300.0.2.7/", "domain name");
	assert_refused(policy, "http://0xC0000207/", "domain name");
	assert_refused(policy, "http://[::1]/", "domain name");
	assert_taken(policy, "http://a.192.example/");
	url_policy_free(policy);
}

static void assert_config_refused(const char *scheme, const char *says)
{
	char copy[64], *items[] = {copy};
	const struct url_policy_config config = {.schemes = {items, 1}};
	struct error err = {0};

	snprintf(copy, sizeof(copy), "%s", scheme);
	assert_int_equal(url_policy_config_check(&config, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void dangerous_schemes_cannot_be_configured(void **state)
{
	const struct url_policy_config good = {.schemes = {schemes, 2}};
	struct error err = {0};

	(void)state;
	assert_int_equal(url_policy_config_check(&good, &err), 0);
	assert_config_refused("javascript", "never allowed");
	assert_config_refused("JavaScript", "never allowed");
	assert_config_refused("data", "never allowed");
	assert_config_refused("vbscript", "never allowed");
	assert_config_refused("file", "never allowed");
	assert_config_refused("blob", "never allowed");
	assert_config_refused("https", "always");
	assert_config_refused("weixin:", "without colon");
	assert_config_refused("weixin://", "without colon");
	assert_config_refused("1app", "not a scheme");
	assert_config_refused("", "not a scheme");
	assert_config_refused("abcdefghijklmnopqrstuvwxyzabcdefghi",
			      "not a scheme");
}

#define WITH_POLICY(test)                                                      \
	cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_POLICY(web_addresses_are_taken),
		WITH_POLICY(scheme_and_host_are_stored_in_one_form),
		WITH_POLICY(what_is_stored_is_a_uri),
		WITH_POLICY(the_bound_is_of_the_uri),
		WITH_POLICY(other_schemes_are_refused),
		WITH_POLICY(relative_addresses_are_refused),
		WITH_POLICY(a_missing_host_is_refused),
		WITH_POLICY(blanks_and_control_characters_are_refused),
		WITH_POLICY(characters_that_nobody_sees_are_refused),
		WITH_POLICY(an_address_has_one_form),
		WITH_POLICY(what_browsers_read_otherwise_is_refused),
		WITH_POLICY(an_empty_address_is_refused),
		WITH_POLICY(a_bad_port_is_refused),
		WITH_POLICY(the_bound_on_length_is_exact),
		WITH_POLICY(our_own_hosts_are_refused_in_every_form),
		WITH_POLICY(listed_app_schemes_are_taken),
		WITH_POLICY(credentials_need_to_be_allowed),
		WITH_POLICY(addresses_for_hosts_can_be_refused),
		cmocka_unit_test(dangerous_schemes_cannot_be_configured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
