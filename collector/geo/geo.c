#include "collector/geo/geo.h"

#include <arpa/inet.h>
#include <errno.h>
#include <maxminddb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/geo/special.h"

struct geo {
	MMDB_s files[GEO_FILES_MAX];
	size_t count;
};

/* MMDB_open itself would take a directory for an empty file. */
static int open_file(MMDB_s *mmdb, const char *path, struct error *err)
{
	struct stat st;
	int status;

	if (stat(path, &st) < 0) {
		error_set_errno(err, "geo file: %s", path);
		err->code = ERROR_CONFIG;
		return -1;
	}
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_CONFIG,
				 "geo file: %s: not a regular file", path);
	status = MMDB_open(path, MMDB_MODE_MMAP, mmdb);
	if (status == MMDB_SUCCESS)
		return 0;
	if (status == MMDB_IO_ERROR && errno)
		return error_set(err, ERROR_CONFIG, "geo file: %s: %s", path,
				 strerror(errno));
	return error_set(err, ERROR_CONFIG, "geo file: %s: %s", path,
			 MMDB_strerror(status));
}

struct geo *geo_open(const struct setting_strings *files, struct error *err)
{
	struct geo *g;

	if (files->count > GEO_FILES_MAX) {
		error_set(err, ERROR_CONFIG,
			  "geo files: expected at most %d, there are %zu",
			  GEO_FILES_MAX, files->count);
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (!g) {
		error_set_nomem(err);
		return NULL;
	}
	for (; g->count < files->count; g->count++) {
		if (open_file(&g->files[g->count], files->items[g->count],
			      err) < 0) {
			geo_close(g);
			return NULL;
		}
	}
	return g;
}

void geo_close(struct geo *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->count; i++)
		MMDB_close(&g->files[i]);
	free(g);
}

/* The address in the form that a file wants to be asked with. */
union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static union address make_address(const uint8_t ip[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	union address a;

	memset(&a, 0, sizeof(a));
	if (!memcmp(ip, mapped, sizeof(mapped))) {
		a.v4.sin_family = AF_INET;
		memcpy(&a.v4.sin_addr, ip + 12, 4);
	} else {
		a.v6.sin6_family = AF_INET6;
		memcpy(&a.v6.sin6_addr, ip, 16);
	}
	return a;
}

void geo_find(const struct geo *g, const uint8_t ip[16],
	      struct geo_place *ret_place)
{
	union address a = make_address(ip);

	memset(ret_place, 0, sizeof(*ret_place));
	ret_place->kind = geo_special_kind(ip);
	if (ret_place->kind)
		return;
	for (size_t i = 0; i < g->count; i++) {
		MMDB_lookup_result_s r;
		int status = MMDB_SUCCESS;

		if (a.any.sa_family == AF_INET6 &&
		    g->files[i].metadata.ip_version == 4)
			continue;
		r = MMDB_lookup_sockaddr(&g->files[i], &a.any, &status);
		/* + 1: offset 0 is a record too. */
		if (status == MMDB_SUCCESS && r.found_entry)
			ret_place->records[i] = r.entry.offset + 1;
	}
}

/* --- reading a record -------------------------------------------------- */

#define PATH(...) ((const char *const[]){__VA_ARGS__, NULL})

static bool get(MMDB_entry_s *entry, const char *const *path, uint32_t type,
		MMDB_entry_data_s *ret_data)
{
	return MMDB_aget_value(entry, ret_data, path) == MMDB_SUCCESS &&
	       ret_data->has_data && ret_data->type == type;
}

/* Takes the text unless it is empty or an earlier file had it. */
static void take_text(MMDB_entry_s *entry, const char *const *path,
		      struct geo_text *text)
{
	MMDB_entry_data_s d;

	if (!text->len && get(entry, path, MMDB_DATA_TYPE_UTF8_STRING, &d))
		*text = (struct geo_text){d.utf8_string, d.data_size};
}

static bool take_number(MMDB_entry_s *entry, const char *const *path,
			double *number)
{
	MMDB_entry_data_s d;

	if (get(entry, path, MMDB_DATA_TYPE_FLOAT, &d))
		*number = d.float_value;
	else if (get(entry, path, MMDB_DATA_TYPE_DOUBLE, &d))
		*number = d.double_value;
	else
		return false;
	return true;
}

static void take_flat(MMDB_entry_s *e, struct geo_record *r)
{
	take_text(e, PATH("country_code"), &r->country);
	take_text(e, PATH("state1"), &r->region);
	take_text(e, PATH("city"), &r->city);
	take_text(e, PATH("postcode"), &r->postal_code);
	take_text(e, PATH("timezone"), &r->time_zone);
}

static void take_nested(MMDB_entry_s *e, struct geo_record *r)
{
	take_text(e, PATH("continent", "code"), &r->continent);
	take_text(e, PATH("country", "iso_code"), &r->country);
	take_text(e, PATH("subdivisions", "0", "names", "en"), &r->region);
	take_text(e, PATH("city", "names", "en"), &r->city);
	take_text(e, PATH("postal", "code"), &r->postal_code);
	take_text(e, PATH("location", "time_zone"), &r->time_zone);
}

static void take_accuracy(MMDB_entry_s *e, struct geo_record *r)
{
	MMDB_entry_data_s d;

	if (get(e, PATH("location", "accuracy_radius"), MMDB_DATA_TYPE_UINT16,
		&d))
		r->accuracy_radius = d.uint16;
}

static void take_location(MMDB_entry_s *e, struct geo_record *r)
{
	if (r->latitude != 0 || r->longitude != 0)
		return;
	if (take_number(e, PATH("latitude"), &r->latitude))
		take_number(e, PATH("longitude"), &r->longitude);
	else if (take_number(e, PATH("location", "latitude"), &r->latitude) &&
		 take_number(e, PATH("location", "longitude"), &r->longitude))
		take_accuracy(e, r);
}

static void take_network(MMDB_entry_s *e, struct geo_record *r)
{
	MMDB_entry_data_s d;

	if (!r->asn &&
	    get(e, PATH("autonomous_system_number"), MMDB_DATA_TYPE_UINT32, &d))
		r->asn = d.uint32;
	take_text(e, PATH("autonomous_system_organization"), &r->as_org);
}

/* Does the record hold a map under "country" or "city"? */
static bool is_nested(MMDB_entry_s *e)
{
	MMDB_entry_data_s d;

	return get(e, PATH("country"), MMDB_DATA_TYPE_MAP, &d) ||
	       get(e, PATH("city"), MMDB_DATA_TYPE_MAP, &d) ||
	       get(e, PATH("continent"), MMDB_DATA_TYPE_MAP, &d);
}

void geo_read(const struct geo *g, const struct geo_place *place,
	      struct geo_record *ret_record)
{
	const char *special = geo_special_name(place->kind);

	*ret_record = (struct geo_record){0};
	ret_record->country = (struct geo_text){special, strlen(special)};
	for (size_t i = 0; i < g->count; i++) {
		MMDB_entry_s e;

		if (!place->records[i])
			continue;
		e = (MMDB_entry_s){&g->files[i], place->records[i] - 1};
		if (is_nested(&e))
			take_nested(&e, ret_record);
		else
			take_flat(&e, ret_record);
		take_location(&e, ret_record);
		take_network(&e, ret_record);
	}
}

/* --- where a value came from --------------------------------------------- */

const char *geo_file(const struct geo *g, size_t file)
{
	return g->files[file].filename;
}

const char *geo_network(const struct geo *g, size_t file, const uint8_t ip[16],
			char ret_text[GEO_NETWORK_MAX])
{
	union address a = make_address(ip);
	bool v4 = a.any.sa_family == AF_INET;
	const MMDB_s *mmdb = &g->files[file];
	int status = MMDB_SUCCESS;
	unsigned bits = MMDB_lookup_sockaddr(mmdb, &a.any, &status).netmask;
	uint8_t bytes[16];
	size_t len = v4 ? 4 : 16;
	char text[INET6_ADDRSTRLEN];

	/* In a tree of IPv6, IPv4 lies below ::/96. */
	if (v4 && mmdb->metadata.ip_version == 6)
		bits = bits > 96 ? bits - 96 : 0;
	memcpy(bytes, ip + 16 - len, len);
	for (unsigned i = bits; i < 8 * len; i++)
		bytes[i / 8] &= (uint8_t) ~(0x80U >> i % 8);
	inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text, sizeof(text));
	snprintf(ret_text, GEO_NETWORK_MAX, "%s/%u", text, bits);
	return ret_text;
}
