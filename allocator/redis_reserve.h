/*
 * redis_reserve.h - is what Redis has left needed for more than new links?
 *
 * A Redis that is full (maxmemory, noeviction) refuses what takes memory: links
 * could be neither blocked nor edited, by anybody.  So new links leave a part
 * of maxmemory alone.  What Redis uses is read every second from one thread's
 * loop; a Redis without maxmemory has no reserve, and until it was read, or
 * while Redis is away, none counts as reached.
 */
#ifndef ALLOCATOR_REDIS_RESERVE_H
#define ALLOCATOR_REDIS_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_async.h"

struct redis_reserve;

/* `percent` of maxmemory; 0: none. */
struct redis_reserve *redis_reserve_new(int64_t percent, struct metrics *m,
					struct log *log, struct error *err);
void redis_reserve_free(struct redis_reserve *r); /* NULL accepted */

/* Reads from that loop on, until it is stopped on the same thread. */
int redis_reserve_start(struct redis_reserve *r, struct loop *loop,
			struct redis_async *redis, struct error *err);
void redis_reserve_stop(struct redis_reserve *r);

/* From any thread. */
bool redis_reserve_is_reached(const struct redis_reserve *r);

/* What INFO says: bytes that count against maxmemory, and maxmemory (0: none).
 * False: it does not say. */
bool redis_reserve_parse(const char *info, uint64_t *ret_used,
			 uint64_t *ret_max);

#endif
