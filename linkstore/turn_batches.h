/*
 * turn_batches.h - gathers like calls of one loop turn into batches, each of
 * which one script does.
 *
 * A call is an item of a batch.  A batch that is full is sent at once, so that
 * Redis works on it while the turn goes on; all others are sent at the end of
 * the turn.  All items of a batch get their answers from one reply, or the same
 * error.
 */
#ifndef LINKSTORE_TURN_BATCHES_H
#define LINKSTORE_TURN_BATCHES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/command.h"

struct turn_batches;

/* The batch of a user begins with it. */
struct turn_batch {
	struct turn_batches *all;
	struct turn_batch *next;
	size_t count;	  /* items */
	struct buf bytes; /* the user's; emptied for the next batch */
};

struct turn_batch_type {
	size_t size; /* of the user's batch */
	size_t items_max;
	/* Returns whether a batch takes the next item, of which `about` tells
	 * what its batch has to be. */
	bool (*takes)(const struct turn_batch *b, const void *about);
	/* Makes an empty batch one that takes it. */
	void (*begin)(struct turn_batch *b, const void *about);
	void (*build)(const struct turn_batch *b, struct command *c);
	/* Calls the callback of each item.  `reply` is NULL if err is not. */
	void (*answer)(struct turn_batch *b, const redisReply *reply,
		       const struct error *err);
};

/* Belongs to the loop's thread; must not outlive `redis` or the loop.  `type`
 * is kept by reference. */
struct turn_batches *turn_batches_new(struct loop *loop,
				      struct redis_async *redis,
				      const struct turn_batch_type *type,
				      struct error *err);
/* Batches that were not sent are answered with an error; no item can be added
 * meanwhile.  NULL accepted. */
void turn_batches_free(struct turn_batches *all);

struct redis_async *turn_batches_redis(const struct turn_batches *all);

/* Returns the batch that takes the next item, to be filled in at `count`; the
 * caller then calls turn_batch_added.  Returns NULL, and *err, if there is no
 * memory, or if it is being freed. */
struct turn_batch *turn_batches_find(struct turn_batches *all,
				     const void *about, struct error *err);

/* Counts the item that was filled in.  No callback is called. */
void turn_batch_added(struct turn_batch *b);

#endif
