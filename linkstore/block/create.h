/*
 * create.h - storing new links, all of one block and one loop turn in a script.
 */
#ifndef LINKSTORE_BLOCK_CREATE_H
#define LINKSTORE_BLOCK_CREATE_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "schemas/link.pb-c.h"

/* Links of one script.  One that is full is sent at once, so that Redis works
 * on it while the turn goes on; more of the turn go into further scripts. */
#define CREATE_BATCH_MAX 64

/* Fills what the store decides: link_id, generation, version 1, TTL class and
 * ttl_ms.  `link` keeps its other fields; its ttl_class points into the store.
 */
int link_prepare(const struct link_block *block, uint32_t offset,
		 Shortloop__Link *link, struct error *err);

/* Blocking; one link.  *ret_expires: ms by Redis' clock, DURATION_NEVER.
 * Errors as link_writer_create. */
int link_create(struct redis *redis, const struct link_block *block,
		const char *code, const Shortloop__Link *link, int64_t deadline,
		int64_t *ret_expires, struct error *err);

/*
 * `expires` (ms by Redis' clock, DURATION_NEVER) counts only when err is NULL.
 * ERROR_BUSY, not retriable: the block is no longer ours (closed, or another
 * generation): drop it, take another and try with a code of that one.
 * ERROR_UNSAFE: a live link is there under this code; the code must not be
 * answered; take the next.  ERROR_LATE: the deadline has passed; nothing was
 * stored, unless by an earlier try.  ERROR_REMOTE, retriable: unknown; the very
 * same link may be sent again and then counts once.
 */
typedef void link_created_fn(void *arg, int64_t expires,
			     const struct error *err);

struct link_writer;

/* Belongs to the loop's thread; must not outlive `redis` or the loop. */
struct link_writer *link_writer_new(struct loop *loop,
				    struct redis_async *redis,
				    struct error *err);
/* Links not yet sent get their callback with an error; it is refused there to
 * queue them again. */
void link_writer_free(struct link_writer *w); /* NULL accepted */

/*
 * Queues one link of a block for the end of this loop turn, or until the script
 * is full.  Everything is copied.  `deadline` (ms by Redis' clock; 0: none):
 * later than this the link is not stored, however long the request was under
 * way.  Exactly one callback when 0 is returned, never before it returns. A
 * batch of one block is sent alone: either all its links get an answer from
 * Redis, or all get the same error.
 */
int link_writer_create(struct link_writer *w, const struct link_block *block,
		       const char *code, const Shortloop__Link *link,
		       int64_t deadline, link_created_fn *fn, void *arg,
		       struct error *err);

#endif
