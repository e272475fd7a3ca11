/*
 * rate_table.h - a token bucket for each network that clients come from, in a
 * limited amount of memory.
 *
 * A network is an IPv4 address or a /64 of IPv6: one customer usually has a
 * whole /64, and could use another address of it for each request.
 *
 * The table has sets of eight buckets (token_bucket.h); a keyed hash (hash.h)
 * finds a network's set, since clients choose their addresses.  A network
 * without a bucket counts as one with a full bucket, so a full bucket may be
 * forgotten.  A bucket with a debt is forgotten only when the other seven of
 * its set have debts too: the least debt goes.  This makes it expensive to have
 * a debt forgotten.  An attacker needs seven other networks of the same set,
 * which cannot be known from outside, and each with a larger debt: about as
 * many networks as the table has buckets, each with that many requests spent.
 * Networks that send one request each, however many, only displace each other;
 * a debt of one token is as good as paid when the network's turn comes again.
 * A network that finds no room is served: strangers cannot lock each other out.
 *
 * Belongs to one thread.  Times are the loop's, in ms; if they go back, the
 * clock stands still until they have caught up.
 */
#ifndef REDIRECTOR_VISIT_RATE_TABLE_H
#define REDIRECTOR_VISIT_RATE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/ip.h"
#include "common/keys/rate_limiter.h"

/* The network of an unknown address: it has no limit. */
#define NETWORK_NONE UINT64_MAX

uint64_t network_of(const struct address *address);

struct rate_table;

/* Uses at most `max_bytes` of memory, but has at least eight buckets.
 * `rule->count` must not be 0. */
struct rate_table *rate_table_new(const struct rate_rule *rule,
				  size_t max_bytes, struct error *err);
void rate_table_free(struct rate_table *table); /* NULL accepted */

/* Takes a token.  Returns false if there is none; then nothing is taken, and
 * *ret_wait_ms, at least 1, is the time until there is one.  A NULL table has
 * no limit. */
bool rate_table_take(struct rate_table *table, uint64_t network, int64_t now,
		     int64_t *ret_wait_ms);

/* Returns a token that was taken. */
void rate_table_give_back(struct rate_table *table, uint64_t network);

/* Returns the number of debts that were forgotten to make room. */
uint64_t rate_table_forgotten(const struct rate_table *table);

#endif
