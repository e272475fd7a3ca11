#include "collector/enrich/place.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/geo/geo_record.h"
#include "common/clickhouse/rowbinary.h"
#include "common/ip.h"

/* The place of a network.  The cache is direct-mapped: each network has one
 * possible entry, shared with other networks, and the last one stays.  Entries
 * are small, so that there are many: a search in the files' trees costs more
 * than reading a known record. */
struct cached_place {
	uint64_t network; /* 0: empty */
	/* The part of a struct geo_place that the files fill. */
	char place[];
};

struct place_lookup {
	const struct geo *geo;
	char *entries;
	size_t place_len;
	size_t entry_len;
	unsigned entry_bits;   /* number of entries: 1 << entry_bits */
	uint64_t hits, misses; /* lookups of networks */
	struct cache *records;
};

static void measure_entries(struct place_lookup *l)
{
	size_t align = sizeof(uint64_t);

	l->place_len = offsetof(struct geo_place, records) +
		       geo_count(l->geo) * sizeof(uint32_t);
	l->entry_len = sizeof(struct cached_place) +
		       (l->place_len + align - 1) / align * align;
}

/* Half of the memory is for networks, half for records. */
static int make_entries(struct place_lookup *l, size_t bytes, struct error *err)
{
	measure_entries(l);
	while (l->entry_bits < 40 &&
	       l->entry_len << (l->entry_bits + 1) <= bytes)
		l->entry_bits++;
	l->entries = calloc((size_t)1 << l->entry_bits, l->entry_len);
	return l->entries ? 0 : error_set_nomem(err);
}

struct place_lookup *place_lookup_new(const struct geo *geo, size_t cache_bytes,
				      struct error *err)
{
	struct place_lookup *l = calloc(1, sizeof(*l));

	if (!l) {
		error_set_nomem(err);
		return NULL;
	}
	l->geo = geo;
	if (make_entries(l, cache_bytes / 2, err) == 0) {
		l->records = cache_new(cache_bytes / 2, err);
		if (l->records)
			return l;
	}
	place_lookup_free(l);
	return NULL;
}

void place_lookup_free(struct place_lookup *l)
{
	if (!l)
		return;
	cache_free(l->records);
	free(l->entries);
	free(l);
}

static void put_text(struct buf *row, struct geo_text t)
{
	rowbinary_string(row, t.data, t.len);
}

static void put_record(struct buf *row, const struct geo_record *r)
{
#define PLACE(name, type, left, write) write;
#include "schemas/click_columns.inc"
}

/* Returns the network of an address, never 0; *ret_bits is its length. */
static uint64_t network_of(const uint8_t ip[16], unsigned *ret_bits)
{
	bool v4 = ip_is_mapped(ip);
	uint64_t network = 1;

	for (int i = v4 ? 12 : 0; i < (v4 ? 15 : 6); i++)
		network = network << 8 | ip[i];
	*ret_bits = v4 ? 120 : 48;
	return network;
}

/* Fibonacci hashing (Knuth, volume 3, 6.4) spreads neighbours. */
static struct cached_place *entry_of(const struct place_lookup *l,
				     uint64_t network)
{
	uint64_t hash = network * UINT64_C(0x9e3779b97f4a7c15);
	size_t at = l->entry_bits ? hash >> (64 - l->entry_bits) : 0;

	return (struct cached_place *)(void *)(l->entries + at * l->entry_len);
}

void place_expect(const struct place_lookup *l, const uint8_t ip[16])
{
	unsigned bits;

	__builtin_prefetch(entry_of(l, network_of(ip, &bits)));
}

/* Finds the place of an address, in its network's entry or in the files. */
static void find_place(struct place_lookup *l, const uint8_t ip[16],
		       struct geo_place *ret_place)
{
	unsigned bits;
	uint64_t network = network_of(ip, &bits);
	struct cached_place *entry = entry_of(l, network);

	if (entry->network == network) {
		*ret_place = (struct geo_place){0};
		memcpy(ret_place, entry->place, l->place_len);
		l->hits++;
		return;
	}
	l->misses++;
	if (geo_find(l->geo, ip, ret_place) <= bits) {
		entry->network = network;
		memcpy(entry->place, ret_place, l->place_len);
	}
}

/* A cached record: the number of the network's operator (UInt32), then the
 * columns. */
#define KEPT_ASN sizeof(uint32_t)

/* Appends the cached columns of the same records, if there are any. */
static void append_place(struct place_lookup *l, const struct geo_place *place,
			 struct buf *row)
{
	struct geo_record record;
	size_t len, start = row->len;
	const void *columns = cache_get(l->records, place, l->place_len, &len);

	if (columns) {
		buf_append(row, (const char *)columns + KEPT_ASN,
			   len - KEPT_ASN);
		return;
	}
	geo_read(l->geo, place, &record);
	rowbinary_u32(row, record.asn);
	put_record(row, &record);
	if (row->failed)
		return;
	cache_put(l->records, place, l->place_len, row->data + start,
		  row->len - start);
	row->len -= KEPT_ASN;
	memmove(row->data + start, row->data + start + KEPT_ASN,
		row->len - start);
}

uint32_t place_asn(struct place_lookup *l, const uint8_t ip[16])
{
	struct geo_record record;
	struct geo_place place;
	const unsigned char *kept;
	size_t len;

	find_place(l, ip, &place);
	kept = cache_get(l->records, &place, l->place_len, &len);
	if (kept)
		return (uint32_t)kept[0] | (uint32_t)kept[1] << 8 |
		       (uint32_t)kept[2] << 16 | (uint32_t)kept[3] << 24;
	geo_read(l->geo, &place, &record);
	return record.asn;
}

void place_append(struct place_lookup *l, const uint8_t ip[16], struct buf *row)
{
	static const struct geo_record nowhere;
	struct geo_place place;

	if (!ip) {
		put_record(row, &nowhere);
		return;
	}
	find_place(l, ip, &place);
	append_place(l, &place, row);
}

struct cache_stats place_stats(const struct place_lookup *l)
{
	struct cache_stats stats = cache_stats(l->records);

	stats.hits = l->hits;
	stats.misses = l->misses;
	stats.bytes += l->entry_len << l->entry_bits;
	return stats;
}
