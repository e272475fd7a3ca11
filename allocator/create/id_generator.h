/*
 * id_generator.h - the numbers that are made without a block: snowflakes for
 * codes, and the link ids of all links that have no block.
 *
 * Both are made under this allocator's node number.  The node is leased in
 * Redis (linkstore/node_lease.h), so that two allocators that were given one
 * number by mistake, or one that was restarted with its clock set back, never
 * make an id twice: ids are made for leased milliseconds only.
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

/* `holder` names this process to people.  The check `node` of `health` is down
 * while the lease is not held. */
struct id_generator *id_generator_new(unsigned node,
				      const struct linkstore *store,
				      const char *holder, struct health *health,
				      struct error *err);
void id_generator_free(struct id_generator *g); /* NULL accepted */

/* Keeps the lease from one thread's loop.  Not called: nothing is made. */
int id_generator_start(struct id_generator *g, struct loop *loop,
		       struct redis_async *redis, struct error *err);
/* Redis is there, or there again: asks for the lease at once.  On the same
 * thread; before the start and after the stop it does nothing. */
void id_generator_redis_up(struct id_generator *g);
/* Gives the lease up; on the same thread, before its loop is freed.  From then
 * on no thread makes an id: a create that comes late is to be sent again. */
void id_generator_stop(struct id_generator *g);

/* Retriable errors: the lease is not held, or more was made than the clock has
 * milliseconds for.  From any thread. */
int id_generator_next_code(struct id_generator *g, uint64_t *ret_snowflake,
			   struct error *err);
int id_generator_next_link_id(struct id_generator *g, uint64_t *ret_link_id,
			      struct error *err);

#endif
