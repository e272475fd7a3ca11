/*
 * link_writer.h - stores new links: one script for all links of one block and
 * one loop turn.
 */
#ifndef LINKSTORE_BLOCK_LINK_WRITER_H
#define LINKSTORE_BLOCK_LINK_WRITER_H

#include <stdint.h>

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "schemas/link.pb-c.h"

/* Links per script.  A full script is sent at once, so that Redis works on it
 * while the turn goes on; more links of the turn go into further scripts. */
#define CREATE_BATCH_MAX 64

/*
 * `expires` (ms by Redis' clock, DURATION_NEVER) is valid if err is NULL.
 * ERROR_NOT_OWNER, not retriable: the block is no longer ours (closed, or
 * another generation): drop it, take another block and try one of its codes.
 * ERROR_UNSAFE: a live link has this code; the code must not be answered; take
 * the next.  ERROR_LATE: the deadline has passed; nothing was stored, unless by
 * an earlier try.  ERROR_REMOTE, retriable: the result is unknown; the same
 * link may be sent again and then counts once.
 */
typedef void link_created_fn(void *arg, int64_t expires,
			     const struct error *err);

struct link_writer;

/* Belongs to the loop's thread; must not outlive `redis` or the loop. */
struct link_writer *link_writer_new(struct loop *loop,
				    struct redis_async *redis,
				    struct error *err);
/* Links that were not sent get their callback with an error; the callback must
 * not queue them again. */
void link_writer_free(struct link_writer *w); /* NULL accepted */

/*
 * Queues one link of a block for the end of this loop turn, or until the script
 * is full.  All arguments are copied.  `deadline` (ms by Redis' clock; 0:
 * none): after this the link is not stored, however long the request was under
 * way.  If this returns 0, the callback is called exactly once, and never
 * before it returns.  A batch of one block is sent by itself: either all its
 * links get an answer from Redis, or all get the same error.
 */
int link_writer_create(struct link_writer *w, const struct link_block *block,
		       const char *code, const Shortloop__Link *link,
		       int64_t deadline, link_created_fn *fn, void *arg,
		       struct error *err);

#endif
