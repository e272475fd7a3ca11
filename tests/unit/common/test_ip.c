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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_is_its_bytes),
		cmocka_unit_test(a_mapped_address_is_that_of_ipv4),
		cmocka_unit_test(what_is_more_or_less_than_an_address_is_none),
		cmocka_unit_test(the_peer_of_an_ipv6_socket_may_be_ipv4),
	};

	return cmocka_run_group_tests_name("ip", tests, NULL, NULL);
}
