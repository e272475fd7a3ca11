#include "collector/enrich/geo/geo.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/geo/mmdb.h"
#include "collector/enrich/geo/special.h"

struct geo {
	struct mmdb *files[GEO_FILES_MAX];
	size_t count;
	char *language;
};

struct geo *geo_open(const struct setting_strings *files, const char *language,
		     struct error *err)
{
	struct geo *g;

	if (files->count > GEO_FILES_MAX) {
		error_set(err, ERROR_CONFIG,
			  "geo files: expected at most %d, there are %zu",
			  GEO_FILES_MAX, files->count);
		return NULL;
	}
	g = calloc(1, sizeof(*g));
	if (g)
		g->language = strdup(language);
	if (!g || !g->language) {
		error_set_nomem(err);
		geo_close(g);
		return NULL;
	}
	for (; g->count < files->count; g->count++) {
		g->files[g->count] = mmdb_open(files->items[g->count], err);
		if (!g->files[g->count]) {
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
		mmdb_close(g->files[i]);
	free(g->language);
	free(g);
}

size_t geo_count(const struct geo *g)
{
	return g->count;
}

size_t geo_bytes(const struct geo *g)
{
	size_t bytes = 0;

	for (size_t i = 0; i < g->count; i++)
		bytes += mmdb_bytes(g->files[i]);
	return bytes;
}

unsigned geo_find(const struct geo *g, const uint8_t ip[16],
		  struct geo_place *ret_place)
{
	uint8_t inner[16];
	unsigned shift = special_unwrap(ip, inner), longest = 0;

	memset(ret_place, 0, sizeof(*ret_place));
	ret_place->kind = special_kind(inner, &longest);
	for (size_t i = 0; i < g->count && !ret_place->kind; i++) {
		unsigned bits;

		ret_place->records[i] = mmdb_find(g->files[i], inner, &bits);
		if (bits > longest)
			longest = bits;
	}
	return longest - shift;
}

void geo_read(const struct geo *g, const struct geo_place *place,
	      struct geo_record *ret_record)
{
	const char *special = special_name(place->kind);

	*ret_record = (struct geo_record){0};
	ret_record->country = (struct geo_text){special, strlen(special)};
	for (size_t i = 0; i < g->count; i++)
		if (place->records[i])
			geo_record_take(mmdb_library(g->files[i]),
					place->records[i] - 1, g->language,
					ret_record);
}

/* --- origin of a value ---------------------------------------------------- */

const char *geo_file(const struct geo *g, size_t file)
{
	return mmdb_path(g->files[file]);
}

const char *geo_network(const struct geo *g, size_t file, const uint8_t ip[16],
			char ret_text[GEO_NETWORK_MAX])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	uint8_t inner[16];
	char text[INET6_ADDRSTRLEN];
	unsigned bits;
	bool v4;

	special_unwrap(ip, inner);
	v4 = !memcmp(inner, mapped, sizeof(mapped));
	mmdb_find(g->files[file], inner, &bits);
	for (unsigned i = bits; i < 128; i++)
		inner[i / 8] &= (uint8_t) ~(0x80U >> i % 8);
	inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? inner + 12 : inner, text,
		  sizeof(text));
	snprintf(ret_text, GEO_NETWORK_MAX, "%s/%u", text,
		 v4 ? bits - 96 : bits);
	return ret_text;
}
