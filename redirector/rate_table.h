/*
 * rate_table.h - a token bucket for each network that clients come from, in
 * bounded memory.
 *
 * A network is an IPv4 address or a /64 of IPv6: that much is one customer's,
 * who could take a new address of it for each request.
 *
 * The table has sets of eight buckets (token_bucket.h); a keyed hash (hash.h)
 * finds a network's set, since clients choose their addresses.  A network that
 * is in no bucket has a full one.  So a full bucket may be forgotten, and one
 * with a debt is forgotten only when the other seven of its set have debts too:
 * the least of them goes.  That is what makes forgetting dear.  Whoever wants a
 * debt forgotten has to bring seven other networks of the same set, which
 * nobody can tell, and each deeper into debt than that: about as many networks
 * as the table has buckets, each with as many requests spent.  Networks that
 * ask once, however many, only put out each other, and of their debts of one
 * token each is as good as paid when its network's turn comes again.  A network
 * that finds no room is served: strangers do not shut each other out.
 *
 * Belongs to one thread.  Times are the loop's, in ms; if they should ever go
 * back, the clock is taken to stand still until they have caught up.
 */
#ifndef REDIRECTOR_RATE_TABLE_H
#define REDIRECTOR_RATE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/ip.h"
#include "common/keys/rate_limiter.h"

/* Of an address that is unknown: it has no limit. */
#define NETWORK_NONE UINT64_MAX

uint64_t network_of(const struct address *address);

struct rate_table;

/* Takes no more memory than `max_bytes`, but eight buckets at least.
 * `rule->count` is not 0. */
struct rate_table *rate_table_new(const struct rate_rule *rule,
				  size_t max_bytes, struct error *err);
void rate_table_free(struct rate_table *table); /* NULL accepted */

/* Takes a token.  False: there is none; *ret_wait_ms is when there will be one,
 * at least 1, and nothing was taken.  A NULL table knows no limit. */
bool rate_table_take(struct rate_table *table, uint64_t network, int64_t now,
		     int64_t *ret_wait_ms);

/* Returns a token that was taken. */
void rate_table_give_back(struct rate_table *table, uint64_t network);

/* Debts that were forgotten for want of room. */
uint64_t rate_table_forgotten(const struct rate_table *table);

#endif
