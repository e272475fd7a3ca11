#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "common/client_address.h"

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static struct network_list *make_proxy_list(const char *a, const char *b)
{
	char one[64], two[64];
	char *items[] = {one, two};
	struct setting_strings s = {items, b ? 2 : 1};
	struct error err;

	strcpy(one, a);
	strcpy(two, b ? b : "");
	return network_list_new(&s, "redirector.trusted_proxies", &err);
}

static struct address address_of(const char *text)
{
	struct address a = {0};

	assert_true(address_parse(slice_of(text), &a));
	return a;
}

static void is_refused(const char *text)
{
	struct address a;

	if (address_parse(slice_of(text), &a))
		fail_msg("'%s' was taken for an address", text);
}

static void expect_client(const char *peer, enum forwarded_style style,
			  const char *first, const char *second,
			  const char *want)
{
	struct network_list *list = make_proxy_list("10.0.0.0/8", "fd00::/8");
	struct http_slice values[2] = {slice_of(first),
				       slice_of(second ? second : "")};
	struct address from = address_of(peer);
	struct address want_address = address_of(want);
	struct address got;

	got = client_address(list, style, &from, values, second ? 2 : 1);
	assert_int_equal(got.len, want_address.len);
	assert_memory_equal(got.bytes, want_address.bytes, got.len);
	network_list_free(list);
}

static void addresses_are_read_with_and_without_port(void **state)
{
	(void)state;
	assert_int_equal(address_of("192.0.2.1").len, 4);
	assert_int_equal(address_of("192.0.2.1:8080").len, 4);
	assert_int_equal(address_of("2001:db8::1").len, 16);
	assert_int_equal(address_of("[2001:db8::1]").len, 16);
	assert_int_equal(address_of("[2001:db8::1]:443").len, 16);
}

static void mapped_addresses_are_ipv4(void **state)
{
	struct address a = address_of("::ffff:192.0.2.1");

	(void)state;
	assert_int_equal(a.len, 4);
	assert_memory_equal(a.bytes, "\xc0\x00\x02\x01", 4);
}

static void what_is_no_address_is_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"unknown",
		"_hidden",
		"192.0.2",
		"192.0.2.256",
		"192.0.2.1:",
		"192.0.2.1:65536",
		"192.0.2.1:x",
		"[192.0.2.1]",
		"[2001:db8::1",
		"2001:db8::1]",
		"[2001:db8::1]x",
		"[2001:db8::1]:",
		"fe80::1%eth0",
		"192.0.2.1 192.0.2.2",
		"0x7f.1",
		"192.0.2.1\xff",
		"[]",
		":",
		"[]:1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_refused(bad[i]);
}

static void an_embedded_nul_is_refused(void **state)
{
	struct http_slice text = {"192.0.2.1\0x", 11};
	struct address a;

	(void)state;
	assert_false(address_parse(text, &a));
}

static void a_stranger_cannot_choose_its_address(void **state)
{
	(void)state;
	expect_client("198.51.100.7", FORWARDED_LIST, "192.0.2.1", NULL,
		      "198.51.100.7");
}

static void the_rightmost_untrusted_address_is_the_client(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_LIST,
		      "1.1.1.1, 192.0.2.1, 10.0.0.2", NULL, "192.0.2.1");
}

static void several_header_lines_are_one_list(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_LIST, "1.1.1.1,192.0.2.1",
		      "10.0.0.2", "192.0.2.1");
}

static void a_malformed_value_ends_the_walk(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_LIST,
		      "192.0.2.1, unknown, 10.0.0.2", NULL, "10.0.0.2");
	expect_client("10.0.0.1", FORWARDED_LIST, "192.0.2.1,,", NULL,
		      "10.0.0.1");
	expect_client("10.0.0.1", FORWARDED_LIST, "", NULL, "10.0.0.1");
}

static void a_chain_of_proxies_alone_gives_its_far_end(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_LIST, "10.0.0.3, 10.0.0.2", NULL,
		      "10.0.0.3");
}

static void ipv6_and_mapped_proxies_are_trusted(void **state)
{
	(void)state;
	expect_client("fd00::1", FORWARDED_LIST, "2001:db8::5, ::ffff:10.9.9.9",
		      NULL, "2001:db8::5");
}

static void forwarded_is_read_by_its_for_parameter(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_RFC7239,
		      "for=1.1.1.1, "
		      "For=\"[2001:db8::1]:4711\";proto=http;by=10.0.0.9",
		      "proto=https;for=10.0.0.2", "2001:db8::1");
	expect_client("10.0.0.1", FORWARDED_RFC7239,
		      "for=192.0.2.1;for=1.1.1.1", NULL, "10.0.0.1");
	expect_client("10.0.0.1", FORWARDED_RFC7239, "for=_secret", NULL,
		      "10.0.0.1");
	expect_client("10.0.0.1", FORWARDED_RFC7239, "for=\"1.1.1.1, 2.2.2.2\"",
		      NULL, "10.0.0.1");
}

/* The `host` of a proxy's element contains what the visitor sent. */
static void what_is_quoted_separates_nothing(void **state)
{
	static const char *const elements[] = {
		"for=192.0.2.1;host=\"x,for=6.6.6.6;a=\"",
		"for=192.0.2.1;host=\"x,y\"",
		"host=\";for=6.6.6.6;\";for=192.0.2.1",
		"for=192.0.2.1;host=\"a\\\",for=6.6.6.6;b=\\\\\";proto=http",
		"for=\"x, for=192.0.2.1", /* a visitor's quote that is not
					     closed */
		"host=\"x\\, for=192.0.2.1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++)
		expect_client("10.0.0.1", FORWARDED_RFC7239, elements[i], NULL,
			      "192.0.2.1");
}

static void a_quote_that_never_opens_ends_the_walk(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_RFC7239, "for=192.0.2.1;host=x\"",
		      NULL, "10.0.0.1");
	expect_client("10.0.0.1", FORWARDED_RFC7239, "x, for=192.0.2.1\"", NULL,
		      "10.0.0.1");
	expect_client("10.0.0.1", FORWARDED_RFC7239, "\"", NULL, "10.0.0.1");
}

static void x_real_ip_is_one_address(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_ADDRESS, "192.0.2.7", NULL,
		      "192.0.2.7");
	expect_client("10.0.0.1", FORWARDED_ADDRESS, " 2001:db8::7\t", NULL,
		      "2001:db8::7");
	expect_client("10.0.0.1", FORWARDED_ADDRESS, "10.0.0.9", NULL,
		      "10.0.0.9");
}

static void x_real_ip_is_believed_of_proxies_alone(void **state)
{
	(void)state;
	expect_client("198.51.100.7", FORWARDED_ADDRESS, "192.0.2.7", NULL,
		      "198.51.100.7");
}

static void of_two_x_real_ips_neither_is_believed(void **state)
{
	(void)state;
	expect_client("10.0.0.1", FORWARDED_ADDRESS, "192.0.2.7", "192.0.2.7",
		      "10.0.0.1");
}

static void x_real_ip_that_is_no_address_is_not_believed(void **state)
{
	static const char *const none[] = {"", "unknown", "192.0.2.7, 1.1.1.1",
					   "for=192.0.2.7", "192.0.2.7 x"};

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		expect_client("10.0.0.1", FORWARDED_ADDRESS, none[i], NULL,
			      "10.0.0.1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read_with_and_without_port),
		cmocka_unit_test(mapped_addresses_are_ipv4),
		cmocka_unit_test(what_is_no_address_is_refused),
		cmocka_unit_test(an_embedded_nul_is_refused),
		cmocka_unit_test(a_stranger_cannot_choose_its_address),
		cmocka_unit_test(the_rightmost_untrusted_address_is_the_client),
		cmocka_unit_test(several_header_lines_are_one_list),
		cmocka_unit_test(a_malformed_value_ends_the_walk),
		cmocka_unit_test(a_chain_of_proxies_alone_gives_its_far_end),
		cmocka_unit_test(ipv6_and_mapped_proxies_are_trusted),
		cmocka_unit_test(forwarded_is_read_by_its_for_parameter),
		cmocka_unit_test(what_is_quoted_separates_nothing),
		cmocka_unit_test(a_quote_that_never_opens_ends_the_walk),
		cmocka_unit_test(x_real_ip_is_one_address),
		cmocka_unit_test(x_real_ip_is_believed_of_proxies_alone),
		cmocka_unit_test(of_two_x_real_ips_neither_is_believed),
		cmocka_unit_test(x_real_ip_that_is_no_address_is_not_believed),
	};

	return cmocka_run_group_tests_name("client_address", tests, NULL, NULL);
}
