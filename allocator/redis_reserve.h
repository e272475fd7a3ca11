/*
 * redis_reserve.h - keeps a part of Redis' memory free of new links.
 *
 * A Redis that is full (maxmemory, noeviction) refuses every command that takes
 * memory: no link could be blocked or edited.  So new links leave a part of
 * maxmemory alone.  The loop of one thread reads every second how much memory
 * Redis uses.  The reserve does not count as reached before the first reading,
 * while Redis is away, or if Redis has no maxmemory.
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

/* `percent` of maxmemory; 0: no reserve. */
struct redis_reserve *redis_reserve_new(int64_t percent, struct metrics *m,
					struct log *log, struct error *err);
void redis_reserve_free(struct redis_reserve *r); /* NULL accepted */

/* Reads from this loop until it is stopped on the same thread. */
int redis_reserve_start(struct redis_reserve *r, struct loop *loop,
			struct redis_async *redis, struct error *err);
void redis_reserve_stop(struct redis_reserve *r);

/* Thread-safe. */
bool redis_reserve_is_reached(const struct redis_reserve *r);

/* Parses the answer to INFO: bytes that count against maxmemory, and maxmemory
 * (0: none).  Returns false if the answer lacks them. */
bool redis_reserve_parse(const char *info, uint64_t *ret_used,
			 uint64_t *ret_max);

#endif
