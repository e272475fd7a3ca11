#include "collector/enrich/geo/continent.h"
#include "tests/unit/collector/geo_file.h"
#include "tests/unit/unit.h"

static char *city_file(uint16_t ip_version)
{
	struct mmdb_file *f = city_record();

	f->ip_version = ip_version;
	return one_record(f, ip_version == 4 ? "0.0.0.0/1" : NULL);
}

/* Makes a file in the form of ip-location-db. */
static char *flat_file(const char *country)
{
	struct mmdb_file *f = mmdb_file_new(24, 6);
	struct buf *b = &f->data;

	put_map(b, 8);
	put_pair(b, "city", "Lausanne");
	put_pair(b, "country_code", country);
	put_text(b, "latitude");
	put_uint(b, 15, 4, 0x423a147b); /* a float: 46.52 */
	put_text(b, "longitude");
	put_uint(b, 15, 4, 0x40d47ae1); /* 6.64 */
	put_pair(b, "postcode", "1000");
	put_pair(b, "state1", "Vaud");
	put_pair(b, "state2", "");
	put_pair(b, "timezone", "");
	return one_record(f, NULL);
}

static char *network_file(void)
{
	struct mmdb_file *f = mmdb_file_new(32, 6);
	struct buf *b = &f->data;

	put_map(b, 3);
	put_pair(b, "country_code", "XX");
	put_text(b, "autonomous_system_number");
	put_u32(b, 64496);
	put_pair(b, "autonomous_system_organization", "Example");
	return one_record(f, NULL);
}

static void a_nested_record_is_read(void **state)
{
	struct geo *g = open_files(city_file(6), NULL);
	struct geo_record r = look_up_address(g, "2a02::1");

	(void)state;
	assert_text(r.continent, "EU");
	assert_text(r.country, "CH");
	assert_text(r.city, "Geneva");
	assert_text(r.region, "Geneva");
	assert_text(r.postal_code, "1200");
	assert_text(r.time_zone, "Europe/Zurich");
	assert_true(r.located);
	assert_float_equal(r.latitude, 46.2, 1e-9);
	assert_float_equal(r.longitude, 6.15, 1e-9);
	assert_int_equal(r.accuracy_radius, 20);
	assert_int_equal(r.asn, 0);
	geo_close(g);
}

static void a_flat_record_is_read(void **state)
{
	struct geo *g = open_files(flat_file("CH"), NULL);
	struct geo_record r = look_up_address(g, "2a02::1");

	(void)state;
	assert_text(r.country, "CH");
	assert_text(
		r.continent,
		"EU"); /* the record has no continent; this is the country's */
	assert_text(r.city, "Lausanne");
	assert_text(r.region, "Vaud");
	assert_text(r.postal_code, "1000");
	assert_text(r.time_zone, "");
	assert_float_equal(r.latitude, 46.52, 1e-5);
	assert_float_equal(r.longitude, 6.64, 1e-5);
	assert_int_equal(r.accuracy_radius, 0);
	geo_close(g);
}

static void a_country_that_is_no_code_is_none(void **state)
{
	struct geo *g = open_files(flat_file("-"), city_file(6));

	(void)state;
	assert_text(look_up_address(g, "2a02::1").country, "CH");
	assert_text(look_up_address(g, "2a02::1").city, "Lausanne");
	geo_close(g);
}

static void names_are_in_the_language_asked_for(void **state)
{
	static const char *const languages[][2] = {
		{"de", "Genf"},
		{"fr", "Gen\xc3\xa8ve"},
		{"pt-BR", "Geneva"},
		{"", "Geneva"},
	};

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct geo *g = open_in(languages[i][0], city_file(6), NULL);

		assert_text(look_up_address(g, "2a02::1").city,
			    languages[i][1]);
		assert_text(look_up_address(g, "2a02::1").region,
			    languages[i][1]);
		geo_close(g);
	}
}

static void the_registered_country_stands_in_for_none(void **state)
{
	struct mmdb_file *f = mmdb_file_new(24, 6);
	struct geo *g;

	(void)state;
	put_map(&f->data, 2);
	put_country(&f->data, "represented_country", "GB");
	put_country(&f->data, "registered_country", "US");
	g = open_files(one_record(f, NULL), NULL);
	assert_text(look_up_address(g, "2a02::1").country, "US");
	assert_text(look_up_address(g, "2a02::1").continent, "NA");
	geo_close(g);

	f = mmdb_file_new(24, 6);
	put_map(&f->data, 1);
	put_country(&f->data, "represented_country", "GB");
	g = open_files(one_record(f, NULL), NULL);
	assert_text(look_up_address(g, "2a02::1").country, "GB");
	geo_close(g);
}

static void an_enterprise_record_has_its_network_under_traits(void **state)
{
	struct mmdb_file *f = mmdb_file_new(24, 6);
	struct geo_record r;
	struct geo *g;

	(void)state;
	put_map(&f->data, 2);
	put_country(&f->data, "country", "SE");
	put_text(&f->data, "traits");
	put_map(&f->data, 3);
	put_text(&f->data, "autonomous_system_number");
	put_u32(&f->data, 64500);
	put_pair(&f->data, "autonomous_system_organization", "Bredband");
	put_pair(&f->data, "isp", "Somebody");
	g = open_files(one_record(f, NULL), NULL);
	r = look_up_address(g, "2a02::1");
	assert_int_equal(r.asn, 64500);
	assert_text(r.as_org, "Bredband");
	geo_close(g);
}

/* ISP, Anonymous-IP, Connection-Type, Domain: the records have other fields. */
static void a_file_that_knows_no_places_is_no_error(void **state)
{
	struct mmdb_file *f = mmdb_file_new(24, 6);
	struct geo *g;

	(void)state;
	put_map(&f->data, 3);
	put_pair(&f->data, "connection_type", "Cable/DSL");
	put_text(&f->data, "is_anonymous");
	put_control(&f->data, 14, 1);
	put_pair(&f->data, "domain", "example.org");
	g = open_files(one_record(f, NULL), city_file(6));
	assert_text(look_up_address(g, "2a02::1").country, "CH");
	geo_close(g);
}

static bool is_located_at(double latitude, double longitude)
{
	struct mmdb_file *f = mmdb_file_new(24, 6);
	struct geo *g;
	bool located;

	put_map(&f->data, 2);
	put_text(&f->data, "latitude");
	put_double(&f->data, latitude);
	put_text(&f->data, "longitude");
	put_double(&f->data, longitude);
	g = open_files(one_record(f, NULL), NULL);
	located = look_up_address(g, "2a02::1").located;
	geo_close(g);
	return located;
}

static void a_position_that_is_none_is_not_taken(void **state)
{
	(void)state;
	assert_true(is_located_at(90, 180));
	assert_true(is_located_at(-90, -180));
	assert_false(is_located_at(0, 0));
	assert_false(is_located_at(91, 0));
	assert_false(is_located_at(0, -181));
	assert_false(is_located_at(1e300, 1));
}

static void every_country_is_on_a_continent(void **state)
{
	unsigned known = 0;

	(void)state;
	for (char a = 'A'; a <= 'Z'; a++)
		for (char b = 'A'; b <= 'Z'; b++)
			known += continent_of(
					 (struct geo_text){(char[]){a, b}, 2})
					 .len == 2;
	assert_int_equal(known, 250); /* those of ISO 3166-1, and Kosovo */
	assert_text(continent_of((struct geo_text){"JP", 2}), "AS");
	assert_text(continent_of((struct geo_text){"ZA", 2}), "AF");
	assert_text(continent_of((struct geo_text){"BR", 2}), "SA");
	assert_text(continent_of((struct geo_text){"NZ", 2}), "OC");
	assert_text(continent_of((struct geo_text){"AQ", 2}), "AN");
	assert_text(continent_of((struct geo_text){"XX", 2}), "");
	assert_text(continent_of((struct geo_text){"private", 7}), "");
	assert_text(continent_of((struct geo_text){"\xff\x00", 2}), "");
	assert_text(continent_of((struct geo_text){"", 0}), "");
}

static void a_value_comes_from_the_first_file_that_has_it(void **state)
{
	struct geo *g = open_files(city_file(6), network_file());
	struct geo_record r = look_up_address(g, "2a02::1");

	(void)state;
	assert_text(r.country, "CH");
	assert_int_equal(r.asn, 64496);
	assert_text(r.as_org, "Example");
	geo_close(g);
}

static void a_file_of_v4_answers_for_v4_only(void **state)
{
	struct geo *g = open_files(city_file(4), NULL);

	(void)state;
	assert_text(look_up_address(g, "2a02::1").country, "");
	assert_text(look_up_address(g, "8.8.8.8").country, "CH");
	geo_close(g);
}

/* The files that tools/deps.sh installs are used if they exist. */
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
		unit_skip("there are no geo files in .deps/geo");
	g = geo_open(&files, "en", &err);
	assert_non_null(g);
	/* The place is in the next file. */
	assert_true(look_up_address(g, "8.8.8.8").country.len == 2);
	assert_true(look_up_address(g, "8.8.8.8").latitude != 0);
	assert_true(look_up_address(g, "2001:4860:4860::8888").country.len ==
		    2);
	geo_close(g);
}

static uint32_t asn_of(const char *text)
{
	struct mmdb_file *f = mmdb_file_new(28, 6);
	struct geo *g;
	uint32_t asn;

	put_map(&f->data, 1);
	put_pair(&f->data, "asn", text);
	g = open_files(one_record(f, NULL), NULL);
	asn = look_up_address(g, "1.2.3.4").asn;
	geo_close(g);
	return asn;
}

static void an_operator_is_a_number_or_its_text(void **state)
{
	(void)state;
	assert_int_equal(asn_of("AS0"), 0);
	assert_int_equal(asn_of("AS9"), 9);
	assert_int_equal(asn_of("AS64496"), 64496);
	assert_int_equal(asn_of("AS4294967295"), UINT32_MAX);
	assert_int_equal(asn_of("AS0000000007"), 7);
	assert_int_equal(asn_of("AS00000000007"), 0);
	assert_int_equal(asn_of("AS4294967296"), 0);
	assert_int_equal(asn_of("AS"), 0);
	assert_int_equal(asn_of("AX1"), 0);
	assert_int_equal(asn_of("64496"), 0);
	assert_int_equal(asn_of("AS1/"), 0);
	assert_int_equal(asn_of("AS1:"), 0);
	assert_int_equal(asn_of("AS/1"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nested_record_is_read),
		cmocka_unit_test(a_flat_record_is_read),
		cmocka_unit_test(a_country_that_is_no_code_is_none),
		cmocka_unit_test(names_are_in_the_language_asked_for),
		cmocka_unit_test(the_registered_country_stands_in_for_none),
		cmocka_unit_test(
			an_enterprise_record_has_its_network_under_traits),
		cmocka_unit_test(a_file_that_knows_no_places_is_no_error),
		cmocka_unit_test(a_position_that_is_none_is_not_taken),
		cmocka_unit_test(every_country_is_on_a_continent),
		cmocka_unit_test(a_value_comes_from_the_first_file_that_has_it),
		cmocka_unit_test(a_file_of_v4_answers_for_v4_only),
		cmocka_unit_test(the_installed_files_know_a_public_resolver),
		cmocka_unit_test(an_operator_is_a_number_or_its_text),
	};

	return cmocka_run_group_tests_name("geo", tests, NULL, NULL);
}
