/*
 * link_reader.h - looks up links in Redis: one script for many look-ups of one
 * loop turn.
 *
 * It is for callers with many links.  A visit's look-up (lookup.h) is answered
 * by a replica, too, which need not know the scripts.  A script reads any
 * links; on a Redis Cluster, where all its keys have to be in one slot, those
 * of one block, or one link without a block.
 */
#ifndef LINKSTORE_BLOCK_LINK_READER_H
#define LINKSTORE_BLOCK_LINK_READER_H

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/lookup.h"

/* Look-ups per script. */
#define READ_BATCH_MAX 64

struct link_reader;

/* Belongs to the loop's thread; must not outlive `redis` or the loop. */
struct link_reader *link_reader_new(struct loop *loop,
				    struct redis_async *redis,
				    struct error *err);
/* Look-ups that were not sent get their callback with an error; the callback
 * must not queue them again. */
void link_reader_free(struct link_reader *r); /* NULL accepted */

/* Queues a look-up for the end of this loop turn, or until the script is full.
 * If this returns 0, the callback is called exactly once, and never before it
 * returns.  The target is copied. */
int link_reader_look_up(struct link_reader *r, const struct link_target *target,
			link_lookup_fn *fn, void *arg, struct error *err);

#endif
