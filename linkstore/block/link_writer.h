/*
 * link_writer.h - storing new links, all of one block and one loop turn in a
 * script.
 */
#ifndef LINKSTORE_BLOCK_LINK_WRITER_H
#define LINKSTORE_BLOCK_LINK_WRITER_H

#include <stdint.h>

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "schemas/link.pb-c.h"

/* Links of one script.  One that is full is sent at once, so that Redis works
 * on it while the turn goes on; more of the turn go into further scripts. */
#define CREATE_BATCH_MAX 64

/*
 * `expires` (ms by Redis' clock, DURATION_NEVER) counts only when err is NULL.
 * ERROR_NOT_OWNER, not retriable: the block is no longer ours (closed, or
 * another generation): drop it, take another and try with a code of that one.
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
