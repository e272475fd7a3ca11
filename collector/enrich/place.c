#include "collector/enrich/place.h"

#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/ip.h"

enum {
	SLOT_COLUMNS = 118, /* bytes; nearly all places have fewer */
};

/* What a network's columns are.  A network has one slot that it can be in, and
 * shares it with others: the last one stays. */
struct slot {
	uint64_t network; /* 0: empty */
	uint16_t len;
	char columns[SLOT_COLUMNS];
};

struct place_lookup {
	const struct geo *geo;
	struct slot *slots;
	unsigned slot_bits; /* there are 1 << slot_bits */
	uint64_t slot_hits;
	struct cache *records;
};

/* Half of the memory is for networks, half for records. */
static int make_slots(struct place_lookup *l, size_t bytes, struct error *err)
{
	while (l->slot_bits < 40 &&
	       sizeof(*l->slots) << (l->slot_bits + 1) <= bytes)
		l->slot_bits++;
	l->slots = calloc((size_t)1 << l->slot_bits, sizeof(*l->slots));
	return l->slots ? 0 : error_set_nomem(err);
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
	if (make_slots(l, cache_bytes / 2, err) == 0) {
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
	free(l->slots);
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

/* The network of an address: not 0; *ret_bits are its length. */
static uint64_t network_of(const uint8_t ip[16], unsigned *ret_bits)
{
	bool v4 = ip_is_mapped(ip);
	uint64_t network = 1;

	for (int i = v4 ? 12 : 0; i < (v4 ? 15 : 6); i++)
		network = network << 8 | ip[i];
	*ret_bits = v4 ? 120 : 48;
	return network;
}

/* By Fibonacci hashing (Knuth, volume 3, 6.4): neighbours go apart. */
static struct slot *slot_of(const struct place_lookup *l, uint64_t network)
{
	uint64_t hash = network * UINT64_C(0x9e3779b97f4a7c15);

	return &l->slots[l->slot_bits ? hash >> (64 - l->slot_bits) : 0];
}

static void fill_slot(struct slot *slot, uint64_t network, const void *columns,
		      size_t len)
{
	if (len > SLOT_COLUMNS)
		return;
	slot->network = network;
	slot->len = (uint16_t)len;
	memcpy(slot->columns, columns, len);
}

/* By what was read of the same records before. */
static void append_place(struct place_lookup *l, const struct geo_place *place,
			 struct buf *row)
{
	struct geo_record record;
	size_t len, start = row->len;
	const void *columns =
		cache_get(l->records, place, sizeof(*place), &len);

	if (columns) {
		buf_append(row, columns, len);
		return;
	}
	geo_read(l->geo, place, &record);
	put_record(row, &record);
	if (!row->failed)
		cache_put(l->records, place, sizeof(*place), row->data + start,
			  row->len - start);
}

void place_append(struct place_lookup *l, const uint8_t ip[16], struct buf *row)
{
	static const struct geo_record nowhere;
	struct geo_place place;
	struct slot *slot;
	size_t start = row->len;
	uint64_t network;
	unsigned bits;
	bool whole;

	if (!ip) {
		put_record(row, &nowhere);
		return;
	}
	network = network_of(ip, &bits);
	slot = slot_of(l, network);
	if (slot->network == network) {
		l->slot_hits++;
		buf_append(row, slot->columns, slot->len);
		return;
	}
	whole = geo_find(l->geo, ip, &place) <= bits;
	append_place(l, &place, row);
	if (whole && !row->failed)
		fill_slot(slot, network, row->data + start, row->len - start);
}

struct cache_stats place_stats(const struct place_lookup *l)
{
	struct cache_stats stats = cache_stats(l->records);

	stats.hits += l->slot_hits;
	stats.bytes += sizeof(*l->slots) << l->slot_bits;
	return stats;
}
