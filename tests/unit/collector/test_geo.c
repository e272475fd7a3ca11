#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/geo/geo.h"
#include "collector/geo/special.h"
#include "common/buf.h"

/*
 * A MaxMind DB with one record for every address: a tree of one node, both
 * sides of which lead to the data.  https://maxmind.github.io/MaxMind-DB/
 */
static void put_text(struct buf *b, const char *text)
{
	size_t len = strlen(text);

	buf_putc(b, (char)(2 << 5 | (len < 29 ? len : 29)));
	if (len >= 29) /* one more byte has the rest of the length */
		buf_putc(b, (char)(len - 29));
	buf_puts(b, text);
}

static void put_map(struct buf *b, unsigned pairs)
{
	buf_putc(b, (char)(7 << 5 | pairs));
}

static void put_u32(struct buf *b, uint32_t v)
{
	uint32_t big = htonl(v);

	buf_putc(b, (char)(6 << 5 | 4));
	buf_append(b, &big, 4);
}

static void put_u16(struct buf *b, uint16_t v)
{
	uint16_t big = htons(v);

	buf_putc(b, (char)(5 << 5 | 2));
	buf_append(b, &big, 2);
}

static void put_metadata(struct buf *b, uint16_t ip_version)
{
	buf_append(b, "\xab\xcd\xefMaxMind.com", 14);
	put_map(b, 9);
	put_text(b, "node_count");
	put_u32(b, 1);
	put_text(b, "record_size");
	put_u16(b, 24);
	put_text(b, "ip_version");
	put_u16(b, ip_version);
	put_text(b, "database_type");
	put_text(b, "test");
	put_text(b, "binary_format_major_version");
	put_u16(b, 2);
	put_text(b, "binary_format_minor_version");
	put_u16(b, 0);
	put_text(b, "build_epoch");
	buf_append(b, "\x01\x02\x01", 3); /* an extended type: uint64 of 1 */
	put_text(b, "description");
	put_map(b, 0);
	put_text(b, "languages");
	buf_append(b, "\x00\x04", 2); /* an empty array */
}

/* Writes the file and returns its path, to be unlinked and freed. */
static char *write_file(const struct buf *record, uint16_t ip_version)
{
	static const char tree[] = "\0\0\x11\0\0\x11"; /* 1 node + 16 + 0 */
	char *path = strdup("/tmp/shortloop-geo-XXXXXX");
	struct buf b = {0};
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	buf_append(&b, tree, 6);
	buf_append(&b, (char[16]){0}, 16);
	buf_append(&b, record->data, record->len);
	put_metadata(&b, ip_version);
	assert_int_equal(write(fd, b.data, b.len), b.len);
	close(fd);
	buf_free(&b);
	return path;
}

static char *city_file(uint16_t ip_version)
{
	struct buf b = {0};
	char *path;

	put_map(&b, 3);
	put_text(&b, "continent");
	put_map(&b, 1);
	put_text(&b, "code");
	put_text(&b, "EU");
	put_text(&b, "country");
	put_map(&b, 1);
	put_text(&b, "iso_code");
	put_text(&b, "GB");
	put_text(&b, "city");
	put_map(&b, 1);
	put_text(&b, "names");
	put_map(&b, 1);
	put_text(&b, "en");
	put_text(&b, "London");
	path = write_file(&b, ip_version);
	buf_free(&b);
	return path;
}

static char *network_file(void)
{
	struct buf b = {0};
	char *path;

	put_map(&b, 3);
	put_text(&b, "country_code");
	put_text(&b, "XX");
	put_text(&b, "autonomous_system_number");
	put_u32(&b, 64496);
	put_text(&b, "autonomous_system_organization");
	put_text(&b, "Example");
	path = write_file(&b, 6);
	buf_free(&b);
	return path;
}

static void parse_ip(const char *text, uint8_t ip[16])
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "%s%s",
		 strchr(text, ':') ? "" : "::ffff:", text);
	assert_int_equal(inet_pton(AF_INET6, mapped, ip), 1);
}

static void assert_text(struct geo_text t, const char *expected)
{
	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.data, expected, t.len);
}

static struct geo_record lookup(const struct geo *g, const char *address)
{
	struct geo_record r;
	struct geo_place place;
	uint8_t ip[16];

	parse_ip(address, ip);
	geo_find(g, ip, &place);
	geo_read(g, &place, &r);
	return r;
}

static struct geo *open_files(char *first, char *second)
{
	char *items[] = {first, second};
	struct setting_strings files = {items, second ? 2 : 1};
	struct error err = {0};
	struct geo *g = geo_open(&files, "en", &err);

	if (!g)
		fail_msg("%s", err.text);
	unlink(first);
	free(first);
	if (second) {
		unlink(second);
		free(second);
	}
	return g;
}

static void a_nested_record_is_read(void **state)
{
	struct geo *g = open_files(city_file(6), NULL);
	struct geo_record r = lookup(g, "2a02::1");

	(void)state;
	assert_text(r.continent, "EU");
	assert_text(r.country, "GB");
	assert_text(r.city, "London");
	assert_text(r.region, "");
	geo_close(g);
}

static void a_value_comes_from_the_first_file_that_has_it(void **state)
{
	struct geo *g = open_files(city_file(6), network_file());
	struct geo_record r = lookup(g, "2a02::1");

	(void)state;
	assert_text(r.country, "GB");
	assert_int_equal(r.asn, 64496);
	assert_text(r.as_org, "Example");
	geo_close(g);
}

static void a_file_of_v4_answers_for_v4_only(void **state)
{
	struct geo *g = open_files(city_file(4), NULL);

	(void)state;
	assert_text(lookup(g, "2a02::1").country, "");
	assert_text(lookup(g, "8.8.8.8").country, "GB");
	geo_close(g);
}

static void an_address_that_is_nowhere_says_what_it_is(void **state)
{
	struct geo *g = open_files(city_file(6), NULL);

	(void)state;
	assert_text(lookup(g, "10.1.2.3").country, "private");
	assert_text(lookup(g, "10.1.2.3").city, "");
	assert_text(lookup(g, "127.0.0.1").country, "loopback");
	assert_text(lookup(g, "::1").country, "loopback");
	assert_text(lookup(g, "::").country, "reserved");
	assert_text(lookup(g, "fd00::1").country, "private");
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

static void assert_refused(char *path, const char *reason)
{
	struct setting_strings files = {&path, 1};
	struct error err = {0};

	assert_null(geo_open(&files, "en", &err));
	assert_int_equal(err.code, ERROR_CONFIG);
	if (!strstr(err.text, path) || !strstr(err.text, reason))
		fail_msg("%s", err.text);
}

static void a_missing_or_broken_file_is_named(void **state)
{
	char path[] = "/tmp/shortloop-geo-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_refused((char[]){"/nowhere/x.mmdb"}, "No such file");
	assert_refused((char[]){"/tmp"}, "not a regular file");
	assert_int_equal(write(fd, "some text", 9), 9);
	close(fd);
	assert_refused(path, "MaxMind DB");
	unlink(path);
}

/* The files that tools/deps.sh installs, when they are there. */
static void the_installed_files_know_a_public_resolver(void **state)
{
	char v4[] = ".deps/geo/city-ipv4.mmdb";
	char v6[] = ".deps/geo/city-ipv6.mmdb";
	char *items[] = {v4, v6};
	struct setting_strings files = {items, 2};
	struct error err = {0};
	struct geo *g;

	(void)state;
	if (access(items[0], R_OK) < 0)
		skip();
	g = geo_open(&files, "en", &err);
	assert_non_null(g);
	assert_text(lookup(g, "8.8.8.8").country, "US");
	assert_true(lookup(g, "8.8.8.8").latitude > 20);
	assert_true(lookup(g, "2001:4860:4860::8888").country.len == 2);
	geo_close(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nested_record_is_read),
		cmocka_unit_test(a_value_comes_from_the_first_file_that_has_it),
		cmocka_unit_test(a_file_of_v4_answers_for_v4_only),
		cmocka_unit_test(an_address_that_is_nowhere_says_what_it_is),
		cmocka_unit_test(special_ranges_end_where_they_end),
		cmocka_unit_test(a_missing_or_broken_file_is_named),
		cmocka_unit_test(the_installed_files_know_a_public_resolver),
	};

	return cmocka_run_group_tests_name("geo", tests, NULL, NULL);
}
