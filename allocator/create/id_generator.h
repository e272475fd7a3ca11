/*
 * id_generator.h - makes ids without a block: snowflakes for codes, and the
 * link ids of all links that have no block.
 *
 * Both are made under this allocator's node number.  The node is leased in
 * Redis (linkstore/node_lease.h), and ids are made for leased milliseconds
 * only.  So no id is made twice, even if two allocators have the same number by
 * mistake, or if one restarts with its clock set back.
 *
 * Shared by all threads.
 */
#ifndef ALLOCATOR_CREATE_ID_GENERATOR_H
#define ALLOCATOR_CREATE_ID_GENERATOR_H

#include <stdint.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

struct id_generator;

/* `holder` names this process to operators.  The check `node` of `health` is
 * down while the lease is not held. */
struct id_generator *id_generator_new(unsigned node,
				      const struct linkstore *store,
				      const char *holder, struct health *health,
				      struct error *err);
void id_generator_free(struct id_generator *g); /* NULL accepted */

/* Keeps the lease from one thread's loop.  No id is made without this call. */
int id_generator_start(struct id_generator *g, struct loop *loop,
		       struct redis_async *redis, struct error *err);
/* Call it when Redis has connected: requests the lease at once.  Called on the
 * same thread; does nothing before the start and after the stop. */
void id_generator_redis_up(struct id_generator *g);
/* Releases the lease.  Called on the same thread, before its loop is freed.
 * After that no thread makes an id; late creates have to be sent again. */
void id_generator_stop(struct id_generator *g);

/* Returns a retriable error if the lease is not held, or if more ids were made
 * than the clock has milliseconds for.  Thread-safe. */
int id_generator_next_code(struct id_generator *g, uint64_t *ret_snowflake,
			   struct error *err);
int id_generator_next_link_id(struct id_generator *g, uint64_t *ret_link_id,
			      struct error *err);

#endif
