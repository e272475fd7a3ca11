#include "tests/unit/unit.h"

#include <string.h>

#include "common/network_list.h"

#define SETTING "redirector.some_networks"

static struct network_list *list_of(const char *network, struct error *err)
{
	char text[64];
	char *item = text;
	struct setting_strings s = {&item, 1};

	snprintf(text, sizeof(text), "%s", network);
	return network_list_new(&s, SETTING, err);
}

static bool network_has_address(const char *network, const char *ip)
{
	struct error err = {0};
	struct network_list *list = list_of(network, &err);
	struct address address = {0};
	bool found;

	assert_non_null(list);
	address.len = (uint8_t)ip_parse(ip, address.bytes);
	assert_true(address.len > 0);
	found = network_list_has(list, &address);
	network_list_free(list);
	return found;
}

static void a_network_ends_at_its_prefix(void **state)
{
	(void)state;
	assert_true(network_has_address("192.0.2.128/25", "192.0.2.129"));
	assert_false(network_has_address("192.0.2.128/25", "192.0.2.127"));
	assert_true(
		network_has_address("2001:db8:8000::/33", "2001:db8:8000::1"));
	assert_false(
		network_has_address("2001:db8:8000::/33", "2001:db8:7fff::1"));
	assert_true(network_has_address("0.0.0.0/0", "255.255.255.255"));
}

static void an_address_alone_is_a_network_of_one(void **state)
{
	(void)state;
	assert_true(network_has_address("192.0.2.1", "192.0.2.1"));
	assert_false(network_has_address("192.0.2.1", "192.0.2.0"));
}

static void a_mapped_network_is_one_of_ipv4(void **state)
{
	(void)state;
	assert_true(network_has_address("::ffff:8.0.0.0/104", "8.1.2.3"));
	assert_false(network_has_address("::/0", "8.1.2.3"));
}

static void an_unknown_address_is_in_no_network(void **state)
{
	struct error err = {0};
	struct network_list *list = list_of("0.0.0.0/0", &err);
	struct address unknown = {0};

	(void)state;
	assert_non_null(list);
	assert_false(network_list_has(list, &unknown));
	network_list_free(list);
}

static void the_peers_of_a_unix_socket_are_listed_by_name(void **state)
{
	char one[] = "10.0.0.0/8", two[] = "unix";
	char *items[] = {one, two};
	struct setting_strings s = {items, 2};
	struct error err = {0};
	struct network_list *list =
		network_list_new_of_peers(&s, SETTING, &err);
	struct address unknown = {0}, ten = {4, {10}}, eleven = {4, {11}};

	(void)state;
	assert_non_null(list);
	assert_true(network_list_has(list, &unknown));
	assert_true(network_list_has(list, &ten));
	assert_false(network_list_has(list, &eleven));
	network_list_free(list);
	assert_null(network_list_new(&s, SETTING, &err));
	snprintf(two, sizeof(two), "unx");
	assert_null(network_list_new_of_peers(&s, SETTING, &err));
}

static void wrong_networks_are_config_errors(void **state)
{
	static const char *const bad[] = {
		"10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/",   "10.0.0/8",
		"fd00::/129",  "proxy",	     "10.0.0.0/8x", "",
		"10.0.0.0/-1", "fd00::1/8",  "10.0.0.0/ 8",
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct error){0};
		assert_null(list_of(bad[i], &err));
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_memory_equal(err.text, SETTING, strlen(SETTING));
		assert_non_null(strstr(err.text, bad[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_network_ends_at_its_prefix),
		cmocka_unit_test(an_address_alone_is_a_network_of_one),
		cmocka_unit_test(a_mapped_network_is_one_of_ipv4),
		cmocka_unit_test(an_unknown_address_is_in_no_network),
		cmocka_unit_test(the_peers_of_a_unix_socket_are_listed_by_name),
		cmocka_unit_test(wrong_networks_are_config_errors),
	};

	return cmocka_run_group_tests_name("network_list", tests, NULL, NULL);
}
