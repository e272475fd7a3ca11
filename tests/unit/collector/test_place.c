#include "collector/enrich/place.h"
#include "tests/unit/collector/geo_file.h"

/* Makes networks of several sizes around 1.2.3.0/24 and 2a00:1:2::/48. */
static struct geo *some_places(void)
{
	static const char *const networks[] = {
		"1.0.0.0/8",	 "1.2.3.0/24",	   "1.2.3.64/26",
		"1.2.3.77/32",	 "1.2.4.0/23",	   "2a00:1::/32",
		"2a00:1:2::/48", "2a00:1:2:3::/64"};
	struct mmdb_file *f = mmdb_file_new(28, 6);
	char *path;

	for (size_t i = 0; i < sizeof(networks) / sizeof(*networks); i++) {
		uint32_t offset = (uint32_t)f->data.len;

		put_map(&f->data, 2);
		put_pair(&f->data, "country_code", "DE");
		put_pair(&f->data, "city", networks[i]);
		mmdb_file_add(f, networks[i], offset);
	}
	path = mmdb_file_write(f);
	mmdb_file_free(f);
	return open_files(path, NULL);
}

static struct place_lookup *lookup_of(const struct geo *g, size_t cache)
{
	struct error err = {0};
	struct place_lookup *l = place_lookup_new(g, cache, &err);

	assert_non_null(l);
	return l;
}

static void make_ip(int i, uint8_t ip[16])
{
	/* An address, and the number of its byte that varies. */
	static const struct {
		const char *text;
		int byte;
	} addresses[] = {
		{"1.2.3.0", 15},	  {"1.2.4.0", 15},
		{"1.2.5.0", 15},	  {"9.9.9.0", 15},
		{"10.0.0.0", 15},	  {"2a00:1:2::", 7},
		{"2a00:1:3::", 7},	  {"2002:0102:0300::", 5},
		{"2002:0102:0300::1", 5}, {"::", 15},
	};
	size_t kinds = sizeof(addresses) / sizeof(*addresses);

	parse_ip(addresses[(size_t)i % kinds].text, ip);
	ip[addresses[(size_t)i % kinds].byte] = (uint8_t)(i / (int)kinds);
}

static void what_is_kept_is_what_would_be_read(void **state)
{
	static const size_t caches[] = {0, 300, 4096, 1 << 20};
	struct geo *g = some_places();

	(void)state;
	for (size_t c = 0; c < sizeof(caches) / sizeof(*caches); c++) {
		struct place_lookup *l = lookup_of(g, caches[c]);

		for (int i = 0; i < 5000; i++) {
			struct place_lookup *fresh = lookup_of(g, 0);
			struct buf kept = {0}, read = {0};
			uint8_t ip[16];

			make_ip(i * 7919 % 1000, ip);
			place_append(l, ip, &kept);
			place_append(fresh, ip, &read);
			assert_int_equal(kept.len, read.len);
			assert_memory_equal(kept.data, read.data, read.len);
			buf_free(&kept);
			buf_free(&read);
			place_lookup_free(fresh);
		}
		place_lookup_free(l);
	}
	geo_close(g);
}

static void a_network_is_looked_up_once(void **state)
{
	struct geo *g = some_places();
	struct place_lookup *l = lookup_of(g, 1 << 20);
	struct buf row = {0};
	uint8_t ip[16];

	(void)state;
	for (int i = 0; i < 100; i++) {
		parse_ip("9.9.9.0", ip);
		ip[15] = (uint8_t)i;
		place_append(l, ip, &row);
	}
	assert_int_equal(place_stats(l).misses, 1);
	assert_int_equal(place_stats(l).hits, 99);
	assert_true(place_stats(l).bytes <= 1 << 20);
	buf_free(&row);
	place_lookup_free(l);
	geo_close(g);
}

/* Two unknown networks share one record. */
static void networks_are_counted_rather_than_records(void **state)
{
	struct geo *g = some_places();
	struct place_lookup *l = lookup_of(g, 1 << 20);
	struct buf row = {0};
	uint8_t ip[16];

	(void)state;
	parse_ip("9.9.9.0", ip);
	place_append(l, ip, &row);
	parse_ip("9.9.10.0", ip);
	place_append(l, ip, &row);
	place_append(l, ip, &row);
	assert_int_equal(place_stats(l).misses, 2);
	assert_int_equal(place_stats(l).hits, 1);
	buf_free(&row);
	place_lookup_free(l);
	geo_close(g);
}

static void networks_that_differ_in_any_byte_are_others(void **state)
{
	static const char *const addresses[] = {
		"9.9.9.1",     "8.9.9.1",	"9.8.9.1",     "9.9.8.1",
		"2a00:1:2::1", "2b00:1:2::1",	"2a01:1:2::1", "2a00:101:2::1",
		"2a00:2:2::1", "2a00:1:102::1", "2a00:1:3::1"};
	size_t count = sizeof(addresses) / sizeof(*addresses);
	struct mmdb_file *f = mmdb_file_new(28, 6);
	struct geo *g;
	struct place_lookup *l;
	struct buf row = {0};
	uint8_t ip[16];

	(void)state;
	put_map(&f->data, 0);
	g = open_files(one_record(f, NULL), NULL);
	l = lookup_of(g, 1 << 20);
	for (size_t i = 0; i < count; i++) {
		parse_ip(addresses[i], ip);
		place_append(l, ip, &row);
	}
	assert_int_equal(place_stats(l).misses, count);
	buf_free(&row);
	place_lookup_free(l);
	geo_close(g);
}

static void the_operator_is_the_same_before_and_after_it_is_kept(void **state)
{
	struct mmdb_file *f = mmdb_file_new(28, 6);
	struct geo *g;
	struct place_lookup *l;
	struct buf row = {0};
	uint8_t ip[16];

	(void)state;
	put_map(&f->data, 1);
	put_text(&f->data, "autonomous_system_number");
	put_u32(&f->data, 0x01020304);
	g = open_files(one_record(f, "1.0.0.0/8"), NULL);
	l = lookup_of(g, 1 << 20);
	parse_ip("1.2.3.4", ip);
	assert_int_equal(place_asn(l, ip), 0x01020304);
	place_append(l, ip, &row);
	assert_int_equal(place_asn(l, ip), 0x01020304);
	parse_ip("2.2.3.4", ip);
	assert_int_equal(place_asn(l, ip), 0);
	buf_free(&row);
	place_lookup_free(l);
	geo_close(g);
}

static void without_an_address_there_is_no_place(void **state)
{
	struct geo *g = some_places();
	struct place_lookup *l = lookup_of(g, 1 << 20);
	struct buf row = {0};

	(void)state;
	place_append(l, NULL, &row);
	assert_true(row.len > 0);
	for (size_t i = 0; i < row.len; i++)
		assert_int_equal(row.data[i], 0);
	buf_free(&row);
	place_lookup_free(l);
	geo_close(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_what_would_be_read),
		cmocka_unit_test(a_network_is_looked_up_once),
		cmocka_unit_test(networks_are_counted_rather_than_records),
		cmocka_unit_test(networks_that_differ_in_any_byte_are_others),
		cmocka_unit_test(
			the_operator_is_the_same_before_and_after_it_is_kept),
		cmocka_unit_test(without_an_address_there_is_no_place),
	};

	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
