/*
 * node_lease.h - who may make ids under a node number, and for which
 * milliseconds.
 *
 * `node:{<n>}` in Redis holds a holder, from when and until when (ms) it may
 * make ids.
 * Whoever takes the number over begins where the last one's lease ended, so no
 * millisecond is used by two, whatever their clocks say; this is how Percolator
 * (Peng and Dabek, 2010) and TiDB's placement driver hand out timestamps.
 */
#ifndef LINKSTORE_NODE_LEASE_H
#define LINKSTORE_NODE_LEASE_H

#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

#define NODE_LEASE_HOLDER_MAX 96 /* with its NUL */

/*
 * Takes the lease or keeps it for `lease` ms from now.  ids may be made for
 * from <= ms < until; `from` is where the lease of the last holder ended, and
 * stays the same for who keeps it.
 * ERROR_BUSY, retriable: somebody else holds it; the text says who.
 */
typedef void node_lease_fn(void *arg, int64_t from, int64_t until,
			   const struct error *err);
int node_lease_keep_async(struct redis_async *redis,
			  const struct linkstore *store, unsigned node,
			  const char *holder, int64_t lease, node_lease_fn *fn,
			  void *arg, struct error *err);

/* Gives it up: the holder made no id for `until` or later, and makes none any
 * more.  Nobody waits for the answer; a lease that is not given up runs out. */
int node_lease_release_async(struct redis_async *redis,
			     const struct linkstore *store, unsigned node,
			     const char *holder, int64_t until,
			     struct error *err);

#endif
