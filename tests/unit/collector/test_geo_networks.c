#include "tests/unit/collector/geo_file.h"

static uint64_t state = 88172645463325252;

static uint32_t random_number(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % below;
}

enum {
	NETWORKS_MAX = 64
};

/* The networks of a file, narrower ones last; the city of a record is its
 * network. */
struct networks {
	struct {
		char text[64];
		uint8_t ip[16];
		unsigned bits;
	} items[NETWORKS_MAX];
	size_t count;
};

static void add_network(struct networks *n, struct mmdb_file *f,
			const char *address, unsigned bits)
{
	uint32_t offset = (uint32_t)f->data.len;
	char *text = n->items[n->count].text;

	snprintf(text, sizeof(n->items[0].text), "%s/%u", address, bits);
	parse_ip(address, n->items[n->count].ip);
	n->items[n->count++].bits = strchr(address, ':') ? bits : 96 + bits;
	put_map(&f->data, 1);
	put_pair(&f->data, "city", text);
	mmdb_file_add(f, text, offset);
}

static char *random_file(uint32_t record_bits, uint16_t version,
			 struct networks *ret)
{
	struct mmdb_file *f = mmdb_file_new(record_bits, version);
	char text[40], *path;

	ret->count = 0;
	for (unsigned bits = 4; bits <= 32 && f->node_count < 1800; bits++) {
		snprintf(text, sizeof(text), "%u.%u.%u.%u", random_number(8),
			 random_number(256), random_number(256),
			 random_number(256));
		add_network(ret, f, text, bits);
		if (version == 4)
			continue;
		snprintf(text, sizeof(text), "2a0%x:%x:%x::%x",
			 random_number(3), random_number(4),
			 random_number(65536), random_number(65536));
		add_network(ret, f, text, 3 * bits);
	}
	path = mmdb_file_write(f);
	mmdb_file_free(f);
	return path;
}

static bool is_within(const uint8_t ip[16], const uint8_t network[16],
		      unsigned bits)
{
	for (unsigned i = 0; i < bits; i++)
		if ((ip[i / 8] ^ network[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

static const char *expected_city(const struct networks *n, const uint8_t ip[16])
{
	for (size_t i = n->count; i-- > 0;)
		if (is_within(ip, n->items[i].ip, n->items[i].bits))
			return n->items[i].text;
	return "";
}

/* Half of the addresses are next to the start of a network. */
static void random_address(const struct networks *n, bool v4, uint8_t ip[16])
{
	size_t near = random_number((uint32_t)n->count);
	uint32_t bit = random_number(128);

	for (int i = 0; i < 16; i++)
		ip[i] = (uint8_t)random_number(256);
	if (random_number(2)) {
		memcpy(ip, n->items[near].ip, 16);
		ip[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
	}
	if (v4) {
		memcpy(ip, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
		ip[12] = (uint8_t)(1 + ip[12] % 7);
		return;
	}
	ip[0] = 0x2a;
	ip[1] %= 3;
	ip[2] = 0;
	ip[3] %= 4;
}

static void check_addresses(const struct geo *g, const struct networks *n,
			    bool v4)
{
	for (int i = 0; i < 20000; i++) {
		struct geo_place place, other;
		struct geo_record r;
		unsigned bits, bit;
		uint8_t ip[16];

		random_address(n, v4, ip);
		bits = geo_find(g, ip, &place);
		geo_read(g, &place, &r);
		assert_text(r.city, expected_city(n, ip));
		assert_in_range(bits, v4 ? 120 : 48, 128);
		if (bits == 128)
			continue;
		/* Takes any other address under the prefix. */
		bit = bits + random_number(128 - bits);
		ip[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
		geo_find(g, ip, &other);
		assert_memory_equal(&place, &other, sizeof(place));
	}
}

static void an_address_is_in_the_narrowest_network_that_has_it(void **unused)
{
	static const uint32_t record_bits[] = {24, 28, 32};
	struct networks n;

	(void)unused;
	for (int i = 0; i < 6; i++) {
		uint16_t version = i < 3 ? 4 : 6;
		char *path = random_file(record_bits[i % 3], version, &n);
		struct geo *g = open_files(path, NULL);

		check_addresses(g, &n, true);
		if (version == 6)
			check_addresses(g, &n, false);
		geo_close(g);
	}
}

static void assert_network(const struct geo *g, const char *address,
			   const char *expected)
{
	char text[GEO_NETWORK_MAX];
	uint8_t ip[16];

	parse_ip(address, ip);
	assert_string_equal(geo_network(g, 0, ip, text), expected);
}

static void a_network_is_told_as_the_tree_has_it(void **unused)
{
	struct geo *g =
		open_files(one_record(city_record(), "1.2.3.0/26"), NULL);
	struct mmdb_file *f = city_record();

	(void)unused;
	assert_network(g, "1.2.3.63", "1.2.3.0/26");
	assert_network(g, "1.2.3.64", "1.2.3.64/26");
	assert_network(g, "2002:0102:0301::1", "1.2.3.0/26");
	assert_network(g, "9.9.9.9", "8.0.0.0/5");
	assert_network(g, "8000::1", "8000::/1");
	geo_close(g);

	f->ip_version = 4;
	g = open_files(one_record(f, "1.2.0.0/15"), NULL);
	assert_network(g, "1.3.4.5", "1.2.0.0/15");
	assert_network(g, "2a00::1", "::/0");
	geo_close(g);

	/* All of IPv4 is below a single record. */
	g = open_files(one_record(city_record(), NULL), NULL);
	assert_network(g, "8.8.8.8", "0.0.0.0/0");
	assert_text(look_up_address(g, "8.8.8.8").country, "CH");
	geo_close(g);
}

/* libmaxminddb limits a record's offset by the size of the data, without the
 * separator before the data. */
static void a_record_may_be_as_small_as_it_likes(void **unused)
{
	struct mmdb_file *f = mmdb_file_new(24, 4);
	struct geo *g;

	(void)unused;
	put_map(&f->data, 1);
	put_text(&f->data, "asn");
	put_uint(&f->data, 5, 1, 7);
	g = open_files(one_record(f, "1.0.0.0/8"), NULL);
	assert_int_equal(look_up_address(g, "1.2.3.4").asn, 7);
	assert_int_equal(look_up_address(g, "2.2.3.4").asn, 0);
	geo_close(g);
}

static void what_is_written_over_an_open_file_changes_nothing(void **unused)
{
	char *path = one_record(city_record(), "3.0.0.0/8");
	struct setting_strings files = {&path, 1};
	struct error err = {0};
	struct geo *g = geo_open(&files, "en", &err);

	(void)unused;
	assert_non_null(g);
	assert_text(look_up_address(g, "3.4.5.6").city, "Geneva");
	assert_int_equal(truncate(path, 0), 0);
	assert_text(look_up_address(g, "3.4.5.6").city, "Geneva");
	assert_text(look_up_address(g, "3.255.0.1").city, "Geneva");
	geo_close(g);
	unlink(path);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_address_is_in_the_narrowest_network_that_has_it),
		cmocka_unit_test(a_network_is_told_as_the_tree_has_it),
		cmocka_unit_test(a_record_may_be_as_small_as_it_likes),
		cmocka_unit_test(
			what_is_written_over_an_open_file_changes_nothing),
	};

	return cmocka_run_group_tests_name("geo_networks", tests, NULL, NULL);
}
