#include "collector/enrich/geo/geo_record.h"

#include <math.h>
#include <string.h>

#include "collector/enrich/geo/continent.h"
#include "collector/enrich/geo/mmdb_value.h"

/* A record in work.  Values that belong together (the location) come from one
 * file or not at all, so they are collected here first. */
struct geo_reading {
	const MMDB_s *mmdb;
	const char *language;
	struct geo_record *record;
	struct geo_text registered, represented;
	double latitude, longitude; /* NAN: unknown */
	uint64_t radius;
};

struct record_name {
	const char *text;
	size_t len;
	void (*take)(struct geo_reading *r, const MMDB_entry_data_s *value);
};

/* `literal` must be a string literal. */
#define NAME(literal, function)                                                \
	{                                                                      \
		literal, sizeof(literal) - 1, function                         \
	}
#define COUNT(names) (sizeof(names) / sizeof(*(names)))

static struct geo_text text_of(const MMDB_entry_data_s *v)
{
	return v->type == MMDB_DATA_TYPE_UTF8_STRING
		       ? (struct geo_text){v->utf8_string, v->data_size}
		       : (struct geo_text){"", 0};
}

/* Keeps a text unless it is empty or an earlier file had one. */
static void keep_first_text(struct geo_text *text, struct geo_text found)
{
	if (!text->len && found.len)
		*text = found;
}

/* Codes have two letters; some files write "-" for none. */
static void keep_code(struct geo_text *text, struct geo_text found)
{
	if (found.len == 2)
		keep_first_text(text, found);
}

static const struct record_name *find_name(const MMDB_entry_data_s *key,
					   const struct record_name *names,
					   size_t count)
{
	struct geo_text text = text_of(key);

	for (size_t i = 0; i < count; i++)
		if (names[i].len == text.len && *names[i].text == *text.data &&
		    !memcmp(names[i].text, text.data, text.len))
			return &names[i];
	return NULL;
}

/* Calls the matching function for each of a map's values. */
static void take_map(struct geo_reading *r, const MMDB_entry_data_s *map,
		     const struct record_name *names, size_t count)
{
	uint32_t at = map->offset_to_next;

	if (map->type != MMDB_DATA_TYPE_MAP)
		return;
	for (uint32_t i = 0; i < map->data_size; i++) {
		MMDB_entry_data_s key, value;
		const struct record_name *name;

		if (!mmdb_value_take(r->mmdb, &at, &key) ||
		    !mmdb_value_take(r->mmdb, &at, &value))
			return;
		name = find_name(&key, names, count);
		if (name)
			name->take(r, &value);
	}
}

/* --- names ------------------------------------------------------------- */

static bool is_language(const MMDB_entry_data_s *key, const char *language)
{
	struct geo_text text = text_of(key);

	return strlen(language) == text.len &&
	       !memcmp(text.data, language, text.len);
}

/* Chooses from {de: ..., en: ...}: the wanted language, else English, else
 * any. */
static struct geo_text best_name(const struct geo_reading *r,
				 const MMDB_entry_data_s *names)
{
	struct geo_text best = {"", 0};
	bool english = false;
	uint32_t at = names->offset_to_next;

	for (uint32_t i = 0; i < names->data_size; i++) {
		MMDB_entry_data_s key, value;
		bool right;

		if (!mmdb_value_take(r->mmdb, &at, &key) ||
		    !mmdb_value_take(r->mmdb, &at, &value))
			break;
		if (!text_of(&value).len)
			continue;
		right = is_language(&key, r->language);
		if (right || !best.len || (!english && is_language(&key, "en")))
			best = text_of(&value);
		english = is_language(&key, "en") || english;
		if (right)
			break;
	}
	return best;
}

/* Keeps the best of the names that `path` leads to from a value. */
static void keep_name(const struct geo_reading *r, const MMDB_entry_data_s *v,
		      const char *const path[], struct geo_text *text)
{
	MMDB_entry_data_s names;

	if (!text->len && mmdb_value_of(r->mmdb, v, path, &names) &&
	    names.type == MMDB_DATA_TYPE_MAP)
		keep_first_text(text, best_name(r, &names));
}

/* --- values ------------------------------------------------------------ */

/* Reads any unsigned number up to 64 bits; returns false for other types. */
static bool number_of(const MMDB_entry_data_s *v, uint64_t *ret_number)
{
	switch (v->type) {
	case MMDB_DATA_TYPE_UINT16:
		*ret_number = v->uint16;
		return true;
	case MMDB_DATA_TYPE_UINT32:
		*ret_number = v->uint32;
		return true;
	case MMDB_DATA_TYPE_UINT64:
		*ret_number = v->uint64;
		return true;
	default:
		return false;
	}
}

/* Returns NAN for other types. */
static double real_of(const MMDB_entry_data_s *v)
{
	switch (v->type) {
	case MMDB_DATA_TYPE_FLOAT:
		return (double)v->float_value;
	case MMDB_DATA_TYPE_DOUBLE:
		return v->double_value;
	default:
		return NAN;
	}
}

/* Returns a code that is the value itself, or the value's member `key`. */
static struct geo_text code_of(const struct geo_reading *r,
			       const MMDB_entry_data_s *v, const char *key)
{
	const char *const path[] = {key, NULL};
	MMDB_entry_data_s inner;

	if (v->type == MMDB_DATA_TYPE_MAP)
		return mmdb_value_of(r->mmdb, v, path, &inner)
			       ? text_of(&inner)
			       : (struct geo_text){"", 0};
	return text_of(v);
}

static void take_continent(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_code(&r->record->continent, code_of(r, v, "code"));
}

static void take_country(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_code(&r->record->country, code_of(r, v, "iso_code"));
}

static void take_registered(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_code(&r->registered, code_of(r, v, "iso_code"));
}

static void take_represented(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_code(&r->represented, code_of(r, v, "iso_code"));
}

static void take_region(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	static const char *const path[] = {"0", "names", NULL};

	keep_first_text(&r->record->region, text_of(v));
	keep_name(r, v, path, &r->record->region);
}

static void take_city(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	static const char *const path[] = {"names", NULL};

	keep_first_text(&r->record->city, text_of(v));
	keep_name(r, v, path, &r->record->city);
}

static void take_postal(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_first_text(&r->record->postal_code, code_of(r, v, "code"));
}

static void take_time_zone(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_first_text(&r->record->time_zone, text_of(v));
}

static void take_latitude(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	r->latitude = real_of(v);
}

static void take_longitude(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	r->longitude = real_of(v);
}

static void take_radius(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	number_of(v, &r->radius);
}

/* Accepts a number, or "AS64496". */
static void take_asn(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	struct geo_text t = text_of(v);
	uint64_t asn = 0;

	if (!number_of(v, &asn) && t.len > 2 && t.len <= 12 &&
	    !memcmp(t.data, "AS", 2))
		for (size_t i = 2; i < t.len; i++) {
			if (t.data[i] < '0' || t.data[i] > '9')
				return;
			asn = asn * 10 + (uint64_t)(t.data[i] - '0');
		}
	if (!r->record->asn && asn <= UINT32_MAX)
		r->record->asn = (uint32_t)asn;
}

static void take_as_org(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	keep_first_text(&r->record->as_org, text_of(v));
}

static void take_location(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	static const struct record_name names[] = {
		NAME("latitude", take_latitude),
		NAME("longitude", take_longitude),
		NAME("accuracy_radius", take_radius),
		NAME("time_zone", take_time_zone),
	};

	take_map(r, v, names, COUNT(names));
}

/* Enterprise files have the network here. */
static void take_traits(struct geo_reading *r, const MMDB_entry_data_s *v)
{
	static const struct record_name names[] = {
		NAME("autonomous_system_number", take_asn),
		NAME("autonomous_system_organization", take_as_org),
	};

	take_map(r, v, names, COUNT(names));
}

/* --- the record -------------------------------------------------------- */

/* MaxMind's names, and the equivalent names of flat files. */
static const struct record_name top_names[] = {
	NAME("city", take_city),
	NAME("continent", take_continent),
	NAME("country", take_country),
	NAME("location", take_location),
	NAME("postal", take_postal),
	NAME("registered_country", take_registered),
	NAME("represented_country", take_represented),
	NAME("subdivisions", take_region),
	NAME("traits", take_traits),
	NAME("autonomous_system_number", take_asn),
	NAME("autonomous_system_organization", take_as_org),
	NAME("country_code", take_country),
	NAME("state1", take_region),
	NAME("postcode", take_postal),
	NAME("latitude", take_latitude),
	NAME("longitude", take_longitude),
	NAME("timezone", take_time_zone),
	NAME("continent_code", take_continent),
	NAME("region", take_region),
	NAME("postal_code", take_postal),
	NAME("time_zone", take_time_zone),
	NAME("asn", take_asn),
	NAME("as_name", take_as_org),
};

/* 0 N 0 E is in the sea: files use it for an unknown location. */
static void keep_location(struct geo_reading *r)
{
	if (r->record->located || !(fabs(r->latitude) <= 90) ||
	    !(fabs(r->longitude) <= 180) ||
	    (fabs(r->latitude) + fabs(r->longitude) <= 0))
		return;
	r->record->located = true;
	r->record->latitude = r->latitude;
	r->record->longitude = r->longitude;
	r->record->accuracy_radius =
		r->radius < UINT16_MAX ? (uint16_t)r->radius : UINT16_MAX;
}

void geo_record_take(const MMDB_s *mmdb, uint32_t offset, const char *language,
		     struct geo_record *record)
{
	struct geo_reading r = {.mmdb = mmdb,
				.language = language,
				.record = record,
				.registered = {"", 0},
				.represented = {"", 0},
				.latitude = NAN,
				.longitude = NAN};
	MMDB_entry_data_s map;

	if (!mmdb_value_step(mmdb, &offset, &map))
		return;
	take_map(&r, &map, top_names, COUNT(top_names));
	keep_first_text(&record->country, r.registered);
	keep_first_text(&record->country, r.represented);
	if (!record->continent.len)
		record->continent = continent_of(record->country);
	keep_location(&r);
}
