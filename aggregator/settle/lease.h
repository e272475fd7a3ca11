/*
 * lease.h - which of several aggregators settles: a value in Redis with a time
 * to live.  A second settler would be wasteful, never wrong.
 *
 * Made and freed by one thread; the rest by any.
 */
#ifndef AGGREGATOR_SETTLE_LEASE_H
#define AGGREGATOR_SETTLE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"

struct lease;

/* `name` tells apart what is settled: the database.  `config` must outlive
 * it. */
struct lease *lease_new(const struct redis_config *config, const char *name,
			int64_t ttl_ms, struct error *err);
/* Does not give the lease up: see lease_release.  NULL accepted. */
void lease_free(struct lease *lease);

/* Takes the lease if it is free, and prolongs it if it is ours.  *ret_owned
 * says whether it is ours now; -1 when Redis cannot be asked. */
int lease_acquire(struct lease *lease, bool *ret_owned, struct error *err);

/* 0 when it is ours, prolonged; ERROR_STOPPED, retriable, when another took
 * it. */
int lease_check(struct lease *lease, struct error *err);

/* Gives it up, so that another need not wait for its end.  Errors do not
 * matter: it ends by itself. */
void lease_release(struct lease *lease);

/* Names this process, for `settled` and the log. */
const char *lease_holder(const struct lease *lease);

#endif
