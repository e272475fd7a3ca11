/*
 * share_store.h - the shares in Redis, by which all aggregators know them.
 *
 *	share:{shares}:ID	the share, with its end as the key's TTL
 *	shares:{shares}:ACCOUNT	a sorted set of the account's ids by when they
 *				were made; ids whose share has ended are passed
 *				over
 *
 * All are in one slot of a cluster.  Nothing is kept in this program: a share
 * that was ended is unknown to the next request at any aggregator.
 *
 * All functions wait, from threads of workers.  ERROR_REMOTE, retriable: Redis
 *is unavailable.
 */
#ifndef AGGREGATOR_API_SHARES_SHARE_STORE_H
#define AGGREGATOR_API_SHARES_SHARE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/share.h"
#include "common/error.h"

/* Stores a new share.  ERROR_EXHAUSTED: its account has `most` already. */
int share_store_add(struct redis_links *redis, const struct share *share,
		    int64_t most, struct error *err);

/* *ret is NULL if there is none, or it has ended. */
int share_store_find(struct redis_links *redis, const char *id,
		     struct share **ret, struct error *err);

/* Ends it.  *ret_ended is false if it was no longer there. */
int share_store_end(struct redis_links *redis, const struct share *share,
		    bool *ret_ended, struct error *err);

/* A place in an account's list. */
struct share_place {
	int64_t created_at; /* ms since 1970 by Redis; -1: the list's start */
	char id[SHARE_ID_MAX];
};

/* Receives a share and its place, the newest first; takes it over.  Returns 1
 * to end the list, 0 to continue, -1 with the error. */
typedef int share_fn(void *arg, struct share *share,
		     const struct share_place *place, struct error *err);

/* Lists the account's shares after a place. */
int share_store_list(struct redis_links *redis, const char *account,
		     const struct share_place *after, share_fn *fn, void *arg,
		     struct error *err);

#endif
