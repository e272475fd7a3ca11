#include "tests/unit/unit.h"

#include <arpa/inet.h>
#include <string.h>

#include "common/ip.h"

static void an_address_is_its_bytes(void **state)
{
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	uint8_t ip[16];

	(void)state;
	assert_int_equal(ip_parse("192.0.2.7", ip), 4);
	assert_memory_equal(ip, "\xc0\x00\x02\x07", 4);
	assert_int_equal(ip_parse("2001:db8::1", ip), 16);
	assert_memory_equal(ip, v6, sizeof(v6));
	assert_false(ip_is_mapped(ip));
}

static void a_mapped_address_is_that_of_ipv4(void **state)
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, 10,
					   1,		2,	     3};
	uint8_t ip[16];

	(void)state;
	assert_true(ip_is_mapped(mapped));
	assert_int_equal(ip_parse("::ffff:10.1.2.3", ip), 4);
	assert_memory_equal(ip, mapped + 12, 4);
}

static void what_is_more_or_less_than_an_address_is_none(void **state)
{
	static const char *const none[] = {
		"",	 " ",	   "10.1.2",	"10.1.2.3 ", "10.1.2.3:80",
		"[::1]", "::1%lo", "1.2.3.256", "example",   "10.1.2.3/8",
	};
	uint8_t ip[16];

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(ip_parse(none[i], ip), 0);
}

static void the_peer_of_an_ipv6_socket_may_be_ipv4(void **state)
{
	struct sockaddr_storage peer = {0};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

	(void)state;
	inet_pton(AF_INET6, "::ffff:10.1.2.3", &in6.sin6_addr);
	memcpy(&peer, &in6, sizeof(in6));
	assert_int_equal(address_of_peer(&peer).len, 4);
}

static void unmapping_keeps_the_port(void **state)
{
	struct sockaddr_storage peer = {0};
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6,
				   .sin6_port = htons(4711)};
	struct sockaddr_in in;

	(void)state;
	inet_pton(AF_INET6, "::ffff:10.1.2.3", &in6.sin6_addr);
	memcpy(&peer, &in6, sizeof(in6));
	ip_unmap_peer(&peer);
	memcpy(&in, &peer, sizeof(in));
	assert_int_equal(in.sin_family, AF_INET);
	assert_int_equal(in.sin_port, htons(4711));
	assert_memory_equal(&in.sin_addr, "\x0a\x01\x02\x03", 4);
}

static void what_is_not_mapped_stays(void **state)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNIX}, before = peer;
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};

	(void)state;
	ip_unmap_peer(&peer);
	assert_memory_equal(&peer, &before, sizeof(peer));
	inet_pton(AF_INET6, "::a01:203", &in6.sin6_addr);
	memcpy(&peer, &in6, sizeof(in6));
	before = peer;
	ip_unmap_peer(&peer);
	assert_memory_equal(&peer, &before, sizeof(peer));
}

static void an_address_has_one_text(void **state)
{
	const struct address v4 = {4, {192, 0, 2, 7}},
			     v6 = {16, {0x20, 1, 0x0d, 0xb8, [15] = 1}},
			     none = {0};
	char text[INET6_ADDRSTRLEN];

	(void)state;
	assert_string_equal(address_text(&v4, text), "192.0.2.7");
	assert_string_equal(address_text(&v6, text), "2001:db8::1");
	assert_null(address_text(&none, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_its_bytes),
		cmocka_unit_test(a_mapped_address_is_that_of_ipv4),
		cmocka_unit_test(what_is_more_or_less_than_an_address_is_none),
		cmocka_unit_test(the_peer_of_an_ipv6_socket_may_be_ipv4),
		cmocka_unit_test(unmapping_keeps_the_port),
		cmocka_unit_test(what_is_not_mapped_stays),
		cmocka_unit_test(an_address_has_one_text),
	};

	return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
