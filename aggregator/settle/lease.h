/*
 * lease.h - decides which of several aggregators settles: a value in Redis with
 * a TTL.  A second settler at the same time would waste work, but do no harm.
 *
 * Created and freed by one thread; the other functions are for any thread.
 */
#ifndef AGGREGATOR_SETTLE_LEASE_H
#define AGGREGATOR_SETTLE_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"

struct lease;

/* `name` identifies what is settled: the database.  `config` must outlive the
 * lease. */
struct lease *lease_new(const struct redis_config *config, const char *name,
			int64_t ttl_ms, struct error *err);
/* Does not release the lease: see lease_release.  NULL accepted. */
void lease_free(struct lease *lease);

/*
 * Takes the lease if it is free, and prolongs it if this process has it.
 * *ret_owned: whether this process has it now. -1 if Redis cannot be queried.
 */
int lease_acquire(struct lease *lease, bool *ret_owned, struct error *err);

/* 0 if this process has the lease, which is prolonged; ERROR_STOPPED,
 * retriable, if another process took it. */
int lease_check(struct lease *lease, struct error *err);

/* Releases the lease, so that another process need not wait until it expires.
 * Errors are ignored: it expires by itself. */
void lease_release(struct lease *lease);

/* Names this process, for `settled` and the log. */
const char *lease_holder(const struct lease *lease);

#endif
