/*
 * node_lease.h - the lease of a node number: which process may make ids under
 * it, and for which milliseconds.
 *
 * `node:{<n>}` in Redis has a holder, and the start and end (ms) of the time
 * for which it may make ids.  A process that takes over the number starts where
 * the last lease ended.  So no two processes use the same millisecond, whatever
 * their clocks say.  Percolator (Peng and Dabek, 2010) and TiDB's placement
 * driver assign timestamps in this way.
 */
#ifndef LINKSTORE_NODE_LEASE_H
#define LINKSTORE_NODE_LEASE_H

#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

#define NODE_LEASE_HOLDER_MAX 96 /* including NUL */

/*
 * Takes the lease or keeps it for `lease` ms from now.  Ids may be made for
 * from <= ms < until.  `from` is where the lease of the last holder ended; it
 * stays the same while the holder keeps the lease.
 * ERROR_BUSY, retriable: another process holds it; the text names the holder.
 */
typedef void node_lease_fn(void *arg, int64_t from, int64_t until,
			   const struct error *err);
int node_lease_keep_async(struct redis_async *redis,
			  const struct linkstore *store, unsigned node,
			  const char *holder, int64_t lease, node_lease_fn *fn,
			  void *arg, struct error *err);

/* Releases the lease: the holder made no id for `until` or later, and makes
 * none any more.  No caller waits for the answer; a lease that is not released
 * expires. */
int node_lease_release_async(struct redis_async *redis,
			     const struct linkstore *store, unsigned node,
			     const char *holder, int64_t until,
			     struct error *err);

#endif
