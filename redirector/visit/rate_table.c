#include "redirector/visit/rate_table.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/token_bucket.h"

#define NS_PER_MS INT64_C(1000000)
#define WAYS	  8 /* two cache lines a set */

struct network_bucket {
	uint64_t network;
	int64_t full_at; /* ns */
};

struct rate_table {
	struct hash_key hash_key;
	int64_t interval, burst;
	int64_t now; /* ns; the latest time seen */
	uint64_t forgotten;
	uint64_t mask; /* sets - 1 */
	struct network_bucket buckets[];
};

/* IPv4 addresses are written as ::ffff:a.b.c.d, and shifted into a range where
 * the Internet has no /64 (0::/8 is reserved by the IETF).  NETWORK_NONE lies
 * in multicast, which no client uses. */
uint64_t network_of(const struct address *address)
{
	size_t len = address->len == 4 ? 4 : 8;
	uint64_t network = address->len == 4 ? 0xffff : 0;

	if (!address->len)
		return NETWORK_NONE;
	for (size_t i = 0; i < len; i++)
		network = network << 8 | address->bytes[i];
	return network;
}

static size_t set_count(size_t max_bytes)
{
	size_t sets = 1;
	size_t size = WAYS * sizeof(struct network_bucket);

	while (sizeof(struct rate_table) + 2 * sets * size <= max_bytes)
		sets *= 2;
	return sets;
}

struct rate_table *rate_table_new(const struct rate_rule *rule,
				  size_t max_bytes, struct error *err)
{
	size_t sets = set_count(max_bytes);
	struct rate_table *t = calloc(
		1, sizeof(*t) + sets * WAYS * sizeof(struct network_bucket));

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	if (hash_key_make(&t->hash_key, err) < 0) {
		free(t);
		return NULL;
	}
	t->interval = rule->period_ms * NS_PER_MS / (int64_t)rule->count;
	t->burst = (int64_t)rule->burst;
	t->mask = sets - 1;
	return t;
}

void rate_table_free(struct rate_table *table)
{
	free(table);
}

static struct network_bucket *set_of(struct rate_table *t, uint64_t network)
{
	uint64_t hash = hash_bytes(&t->hash_key, &network, sizeof(network));

	return &t->buckets[(hash & t->mask) * WAYS];
}

static struct network_bucket *find_bucket(struct network_bucket *set,
					  uint64_t network)
{
	for (size_t i = 0; i < WAYS; i++) {
		if (set[i].network == network)
			return &set[i];
	}
	return NULL;
}

/* Returns a bucket for the network; the bucket with the least debt is
 * replaced. */
static struct network_bucket *replace_bucket(struct rate_table *t,
					     struct network_bucket *set,
					     uint64_t network)
{
	struct network_bucket *least = &set[0];

	for (size_t i = 1; i < WAYS; i++) {
		if (set[i].full_at < least->full_at)
			least = &set[i];
	}
	t->forgotten += least->full_at > t->now;
	*least = (struct network_bucket){network, 0};
	return least;
}

bool rate_table_take(struct rate_table *table, uint64_t network, int64_t now,
		     int64_t *ret_wait_ms)
{
	struct network_bucket *set, *bucket;
	int64_t wait;

	if (!table || network == NETWORK_NONE)
		return true;
	if (now * NS_PER_MS > table->now)
		table->now = now * NS_PER_MS;
	set = set_of(table, network);
	bucket = find_bucket(set, network);
	if (!bucket)
		bucket = replace_bucket(table, set, network);
	wait = token_bucket_take(table->interval, table->burst, 1, table->now,
				 &bucket->full_at);
	if (wait)
		*ret_wait_ms = (wait + NS_PER_MS - 1) / NS_PER_MS;
	return !wait;
}

void rate_table_give_back(struct rate_table *table, uint64_t network)
{
	struct network_bucket *bucket;

	if (!table || network == NETWORK_NONE)
		return;
	bucket = find_bucket(set_of(table, network), network);
	if (bucket)
		bucket->full_at -= table->interval;
}

uint64_t rate_table_forgotten(const struct rate_table *table)
{
	return table ? table->forgotten : 0;
}
