#include "collector/enrich/place.h"

#include <stdlib.h>

#include "common/clickhouse/rowbinary.h"

struct place_lookup {
	const struct geo *geo;
	struct cache *cache;
};

struct place_lookup *place_lookup_new(const struct geo *geo, size_t cache_bytes,
				      struct error *err)
{
	struct place_lookup *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->geo = geo;
	l->cache = cache_new(cache_bytes, err);
	if (l->cache)
		return l;
	free(l);
	return NULL;
}

void place_lookup_free(struct place_lookup *l)
{
	if (!l)
		return;
	cache_free(l->cache);
	free(l);
}

static void put_text(struct buf *row, struct geo_text t)
{
	rowbinary_string(row, t.data, t.len);
}

static void put_record(struct buf *row, const struct geo_record *r)
{
	put_text(row, r->continent);
	put_text(row, r->country);
	put_text(row, r->region);
	put_text(row, r->city);
	put_text(row, r->postal_code);
	rowbinary_f32(row, (float)r->latitude);
	rowbinary_f32(row, (float)r->longitude);
	rowbinary_u16(row, r->accuracy_radius);
	put_text(row, r->time_zone);
	rowbinary_u32(row, r->asn);
	put_text(row, r->as_org);
}

void place_append(struct place_lookup *l, const uint8_t ip[16], struct buf *row)
{
	struct geo_place place;
	struct geo_record record;
	size_t len, start = row->len;
	const void *columns;

	geo_find(l->geo, ip, &place);
	columns = cache_get(l->cache, &place, sizeof(place), &len);
	if (columns) {
		buf_append(row, columns, len);
		return;
	}
	geo_read(l->geo, &place, &record);
	put_record(row, &record);
	if (!row->failed)
		cache_put(l->cache, &place, sizeof(place), row->data + start,
			  row->len - start);
}

struct cache_stats place_stats(const struct place_lookup *l)
{
	return cache_stats(l->cache);
}
