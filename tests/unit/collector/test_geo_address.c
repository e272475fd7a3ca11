#include "collector/enrich/geo/special.h"
#include "tests/unit/collector/geo_file.h"

/* The file has only 1.0.0.0/8. */
static void an_address_within_another_is_where_that_one_is(void **state)
{
	struct geo *g =
		open_files(one_record(city_record(), "1.0.0.0/8"), NULL);

	(void)state;
	assert_text(look_up_address(g, "1.2.3.4").country, "CH");
	assert_text(look_up_address(g, "2.2.3.4").country, "");
	assert_text(look_up_address(g, "2002:0102:0304::1").country, "CH");
	assert_text(look_up_address(g, "2002:0202:0304::1").country, "");
	assert_text(look_up_address(g, "2002:0a00:0001::1").country, "private");
	/* The bits of a Teredo client's address are inverted. */
	assert_text(look_up_address(g, "2001:0:0202:0202:8000:63bf:fefd:fcfb")
			    .country,
		    "CH");
	assert_text(look_up_address(g, "2001:0:0102:0304:8000:63bf:fdfd:fcfb")
			    .country,
		    "");
	assert_text(look_up_address(g, "64:ff9b::1.2.3.4").country, "CH");
	assert_text(look_up_address(g, "64:ff9b::192.168.0.1").country,
		    "private");
	assert_text(look_up_address(g, "64:ff9b:1::1.2.3.4").country,
		    "private");
	geo_close(g);
}

static unsigned find_prefix_length(const struct geo *g, const char *address)
{
	struct geo_place place;
	uint8_t ip[16];

	parse_ip(address, ip);
	return geo_find(g, ip, &place);
}

static void places_are_the_same_under_the_prefix_that_is_told(void **state)
{
	struct mmdb_file *f = city_record();
	struct geo *g;

	(void)state;
	mmdb_file_add(f, "::/1", 0);
	mmdb_file_add(f, "1.2.3.0/26", 0);
	g = open_files(one_record(f, "2a00:1:2:3::/64"), NULL);
	assert_int_equal(find_prefix_length(g, "1.2.3.4"), 96 + 26);
	assert_int_equal(find_prefix_length(g, "2002:0102:0304::"), 16 + 26);
	assert_int_equal(find_prefix_length(g, "5.2.3.4"), 96 + 24);
	assert_int_equal(find_prefix_length(g, "10.2.3.4"), 96 + 24);
	assert_int_equal(find_prefix_length(g, "2a00:1:2:3::4"), 64);
	assert_int_equal(find_prefix_length(g, "2b00::1"), 48);
	assert_int_equal(find_prefix_length(g, "::1"), 128);
	geo_close(g);
}

static void an_address_that_is_nowhere_says_what_it_is(void **state)
{
	struct geo *g = open_files(one_record(city_record(), NULL), NULL);

	(void)state;
	assert_text(look_up_address(g, "10.1.2.3").country, "private");
	assert_text(look_up_address(g, "10.1.2.3").city, "");
	assert_text(look_up_address(g, "127.0.0.1").country, "loopback");
	assert_text(look_up_address(g, "::1").country, "loopback");
	assert_text(look_up_address(g, "::").country, "reserved");
	assert_text(look_up_address(g, "fd00::1").country, "private");
	assert_text(look_up_address(g, "fd00::1").continent, "");
	assert_text(look_up_address(g, "4000::1").country, "reserved");
	geo_close(g);
}

static void assert_special(const char *address, const char *name)
{
	uint8_t ip[16];
	unsigned bits;

	parse_ip(address, ip);
	assert_string_equal(special_name(special_kind(ip, &bits)), name);
}

static void special_ranges_end_where_they_end(void **state)
{
	(void)state;
	assert_special("9.255.255.255", "");
	assert_special("11.0.0.0", "");
	assert_special("172.15.255.255", "");
	assert_special("172.31.255.255", "private");
	assert_special("172.32.0.0", "");
	assert_special("100.127.255.255", "shared");
	assert_special("100.128.0.0", "");
	assert_special("223.255.255.255", "");
	assert_special("224.0.0.1", "multicast");
	assert_special("255.255.255.255", "reserved");
	assert_special("fbff::", "reserved");
	assert_special("fe00::", "reserved");
	assert_special("febf::1", "link-local");
	assert_special("2001:db7::", "");
	assert_special("2001:db8::", "documentation");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_address_within_another_is_where_that_one_is),
		cmocka_unit_test(
			places_are_the_same_under_the_prefix_that_is_told),
		cmocka_unit_test(an_address_that_is_nowhere_says_what_it_is),
		cmocka_unit_test(special_ranges_end_where_they_end),
	};

	return cmocka_run_group_tests_name("geo_address", tests, NULL, NULL);
}
