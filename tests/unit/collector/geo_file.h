/* geo_file.h - geo files for tests, and look-ups in them. */
#ifndef TESTS_UNIT_COLLECTOR_GEO_FILE_H
#define TESTS_UNIT_COLLECTOR_GEO_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collector/enrich/geo/geo.h"
#include "tests/unit/collector/mmdb_file.h"

/* Makes a file with one record for all addresses, or for 1.0.0.0/8 only. */
static inline char *one_record(struct mmdb_file *f, const char *network)
{
	char *path;

	mmdb_file_add(f, network ? network : "::/1", 0);
	if (!network)
		mmdb_file_add(f, "8000::/1", 0);
	path = mmdb_file_write(f);
	mmdb_file_free(f);
	return path;
}

static inline void put_country(struct buf *b, const char *key, const char *code)
{
	put_text(b, key);
	put_map(b, 1);
	put_pair(b, "iso_code", code);
}

static inline void put_names(struct buf *b)
{
	put_map(b, 1);
	put_text(b, "names");
	put_map(b, 3);
	put_pair(b, "de", "Genf");
	put_pair(b, "en", "Geneva");
	put_pair(b, "fr", "Gen\xc3\xa8ve");
}

/* Makes a record in the form of MaxMind's City. */
static inline struct mmdb_file *city_record(void)
{
	struct mmdb_file *f = mmdb_file_new(28, 6);
	struct buf *b = &f->data;

	put_map(b, 8);
	put_text(b, "city");
	put_names(b);
	put_text(b, "continent");
	put_map(b, 2);
	put_pair(b, "code", "EU");
	put_text(b, "geoname_id");
	put_u32(b, 6255148);
	put_country(b, "country", "CH");
	put_country(b, "registered_country", "US");
	put_country(b, "represented_country", "GB");
	put_text(b, "postal");
	put_map(b, 1);
	put_pair(b, "code", "1200");
	put_text(b, "subdivisions");
	put_array(b, 2);
	put_names(b);
	put_map(b, 0);
	put_text(b, "location");
	put_map(b, 4);
	put_text(b, "accuracy_radius");
	put_u16(b, 20);
	put_text(b, "latitude");
	put_double(b, 46.2);
	put_text(b, "longitude");
	put_double(b, 6.15);
	put_pair(b, "time_zone", "Europe/Zurich");
	return f;
}

static inline void parse_ip(const char *text, uint8_t ip[16])
{
	char mapped[64];

	snprintf(mapped, sizeof(mapped), "%s%s",
		 strchr(text, ':') ? "" : "::ffff:", text);
	assert_int_equal(inet_pton(AF_INET6, mapped, ip), 1);
}

static inline void assert_text(struct geo_text t, const char *expected)
{
	assert_int_equal(t.len, strlen(expected));
	assert_memory_equal(t.data, expected, t.len);
}

static inline struct geo_record look_up_address(const struct geo *g,
						const char *address)
{
	struct geo_record r;
	struct geo_place place;
	uint8_t ip[16];

	parse_ip(address, ip);
	geo_find(g, ip, &place);
	geo_read(g, &place, &r);
	return r;
}

static inline struct geo *open_in(const char *language, char *first,
				  char *second)
{
	char *items[] = {first, second};
	struct setting_strings files = {items, second ? 2 : 1};
	struct error err = {0};
	struct geo *g = geo_open(&files, language, &err);

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

static inline struct geo *open_files(char *first, char *second)
{
	return open_in("en", first, second);
}

#endif
