#include "tests/unit/unit.h"

#include <string.h>

#include "common/host.h"

static void assert_read(const char *text, const char *want, enum host_kind kind)
{
	struct host host;
	struct error err = {0};

	if (host_parse(text, strlen(text), &host, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(host.text, want);
	assert_int_equal(host.len, strlen(want));
	assert_int_equal(host.kind, kind);
}

static void assert_refused(const char *text, const char *says)
{
	struct host host;
	struct error err = {0};

	if (host_parse(text, strlen(text), &host, &err) == 0)
		fail_msg("'%s' was taken as '%s'", text, host.text);
	assert_int_equal(err.code, ERROR_INPUT);
	if (!strstr(err.text, says))
		fail_msg("'%s' does not say '%s'", err.text, says);
}

static void names_are_lower_cased_and_lose_their_last_dot(void **state)
{
	(void)state;
	assert_read("Example.ORG", "example.org", HOST_NAME);
	assert_read("example.org.", "example.org", HOST_NAME);
	assert_read("localhost", "localhost", HOST_NAME);
	assert_read("my_shop.r3---sn-a.example", "my_shop.r3---sn-a.example",
		    HOST_NAME);
	assert_read("-a.example", "-a.example", HOST_NAME);
	assert_read("123.example", "123.example", HOST_NAME);
}

static void international_names_become_a_labels(void **state)
{
	(void)state;
	assert_read("b\xc3\xbc"
		    "cher.example",
		    "xn--bcher-kva.example", HOST_NAME);
	assert_read("B\xc3\x9c"
		    "CHER.Example",
		    "xn--bcher-kva.example", HOST_NAME);
	/* A decomposed letter: u and a combining diaeresis. */
	assert_read("bu\xcc\x88"
		    "cher.example",
		    "xn--bcher-kva.example", HOST_NAME);
	/* The mapping is not transitional: sharp s is kept. */
	assert_read("fa\xc3\x9f.example", "xn--fa-hia.example", HOST_NAME);
	/* An ideographic full stop, full-width letters. */
	assert_read("\xe4\xb8\xad\xe6\x96\x87\xe3\x80\x82"
		    "example",
		    "xn--fiq228c.example", HOST_NAME);
	assert_read("\xef\xbd\x81.example", "a.example", HOST_NAME);
	assert_read("XN--BCHER-KVA.example", "xn--bcher-kva.example",
		    HOST_NAME);
}

static void what_is_no_domain_name_is_refused(void **state)
{
	(void)state;
	assert_refused("", "missing");
	assert_refused(".", "empty label");
	assert_refused("a..b", "empty label");
	assert_refused(".a", "empty label");
	assert_refused("a.b..", "empty label");
	assert_refused("ex%61mple.org", "byte 3");
	assert_refused("a b", "not allowed");
	assert_refused("a,b", "not allowed");
	assert_refused("a\\b", "not allowed");
	assert_refused("\xff\xfe.example", "international");
	/* These map to a slash and a percent sign. */
	assert_refused("a\xef\xbc\x8f.example", "host");
	assert_refused("a\xef\xbc\x85.example", "host");
	assert_refused("xn--example-.org", "only looks");
	assert_refused("xn--.org", "only looks");
}

static void the_bounds_of_labels_and_names_are_exact(void **state)
{
	char name[300];

	(void)state;
	memset(name, 'a', sizeof(name));
	name[63] = '\0';
	assert_read(name, name, HOST_NAME);
	name[63] = 'a';
	name[64] = '\0';
	assert_refused(name, "at most 63");
	for (size_t i = 0; i < sizeof(name); i++)
		name[i] = i % 2 ? '.' : 'a';
	name[253] = '\0';
	assert_read(name, name, HOST_NAME);
	name[253] = '.';
	name[254] = '\0';
	name[253] = 'a';
	assert_refused(name, "at most 253");
	memset(name, 'a', sizeof(name));
	name[299] = '\0';
	assert_refused(name, "at most");
}

static void addresses_are_read_as_browsers_do(void **state)
{
	(void)state;
	assert_read("192.0.2.7", "192.0.2.7", HOST_IPV4);
	assert_read("192.0.2.7.", "192.0.2.7", HOST_IPV4);
	assert_read("127.1", "127.0.0.1", HOST_IPV4);
	assert_read("2130706433", "127.0.0.1", HOST_IPV4);
	assert_read("0x7F000001", "127.0.0.1", HOST_IPV4);
	assert_read("0x7f.1", "127.0.0.1", HOST_IPV4);
	assert_read("0177.0.0.01", "127.0.0.1", HOST_IPV4);
	assert_read("017700000001", "127.0.0.1", HOST_IPV4);
	assert_read("1.2.65535", "1.2.255.255", HOST_IPV4);
	assert_read("0x", "0.0.0.0", HOST_IPV4);
	/* Full-width digits. */
	assert_read("\xef\xbc\x91"
		    "27.0.0.1",
		    "127.0.0.1", HOST_IPV4);
	assert_read("[2001:DB8:0::7]", "[2001:db8::7]", HOST_IPV6);
	assert_read("[::1]", "[::1]", HOST_IPV6);
}

static void what_is_nearly_an_address_is_refused(void **state)
{
	(void)state;
	assert_refused("256.0.0.1", "IPv4");
	assert_refused("1.2.3.4.5", "IPv4");
	assert_refused("4294967296", "IPv4");
	assert_refused("99999999999999999999999", "IPv4");
	assert_refused("1.2.3.256", "IPv4");
	assert_refused("1.2.65536", "IPv4");
	assert_refused("08.0.0.1", "IPv4");
	assert_refused("example.7", "IPv4");
	assert_refused("example.0x7", "IPv4");
	assert_refused("[::1", "IPv6");
	assert_refused("[]", "IPv6");
	assert_refused("[fe80::1%25eth0]", "IPv6");
	assert_refused("[::ffff:192.0.2.7]", "IPv4 address in brackets");
	assert_refused("[::192.0.2.7]", "IPv4 address in brackets");
	assert_refused("[64:ff9b::192.0.2.7]", "IPv4 address in brackets");
	assert_refused("[2002:c000:207::1]", "IPv4 address in brackets");
	assert_refused("[2001:0:1::]", "IPv4 address in brackets");
	assert_read("[2001:1::]", "[2001:1::]", HOST_IPV6);
	assert_read("[2003::]", "[2003::]", HOST_IPV6);
}

static void a_failure_leaves_the_result_alone(void **state)
{
	struct host host = {.len = 7};
	struct error err = {0};

	(void)state;
	assert_int_equal(host_parse("a..b", 4, &host, &err), -1);
	assert_int_equal(host.len, 7);
}

static void the_port_is_cut_off(void **state)
{
	(void)state;
	assert_int_equal(host_length("a.example:80", 12), 9);
	assert_int_equal(host_length("a.example", 9), 9);
	assert_int_equal(host_length("[::1]:80", 8), 5);
	assert_int_equal(host_length("[::1", 4), 4);
	assert_int_equal(host_length("", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_lower_cased_and_lose_their_last_dot),
		cmocka_unit_test(international_names_become_a_labels),
		cmocka_unit_test(what_is_no_domain_name_is_refused),
		cmocka_unit_test(the_bounds_of_labels_and_names_are_exact),
		cmocka_unit_test(addresses_are_read_as_browsers_do),
		cmocka_unit_test(what_is_nearly_an_address_is_refused),
		cmocka_unit_test(a_failure_leaves_the_result_alone),
		cmocka_unit_test(the_port_is_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
