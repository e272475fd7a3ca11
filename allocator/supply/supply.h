/*
 * supply.h - codes for new links: one thread's blocks, granted and opened
 * ahead.
 *
 * For each space and TTL class the supply holds granted ranges, opens their
 * blocks at once and issues from one block at a time.  When four fifths of what
 * was granted are used, or of the time it may be held, the next grant is under
 * way, so that requests do not wait; how much is asked for follows how fast the
 * last grant was used up. Blocks are used for links.hold_max at most, counted
 * on clock_boottime_ms from before the request for the grant; those from which
 * no code was taken are closed and handed back.
 *
 * Belongs to its loop's thread.
 */
#ifndef ALLOCATOR_SUPPLY_SUPPLY_H
#define ALLOCATOR_SUPPLY_SUPPLY_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop/loop.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_async.h"
#include "linkstore/block/block.h"
#include "linkstore/linkstore.h"
#include "linkstore/space/seen_file.h"

/* Shared by the supplies of all threads. */
struct supply_metrics {
	struct metric *held;	       /* gauge: blocks open in our hands */
	struct metric *waiting;	       /* gauge: requests without a block */
	struct metric *waited;	       /* those that ever had none */
	struct metric *grants;	       /* granted */
	struct metric *grants_failed;  /* refused or lost */
	struct metric *blocks_granted; /* all blocks of the grants */
	struct metric *opens_refused;  /* opened by someone else */
	struct metric *blocks_dropped; /* taken from us while in use */
	struct metric *blocks_expired; /* held for hold_max */
	struct metric *blocks_returned;
};
void supply_metrics_register(struct supply_metrics *sm, struct metrics *m);

struct supply_options {
	struct loop *loop;
	struct redis_async *redis;
	const struct linkstore *store;
	const char *name;   /* of the holder: host and pid; outlives it */
	size_t waiting_max; /* requests that may wait for a block */
	const struct supply_metrics *metrics;
	struct seen_file *seen; /* shared by all threads */
};

struct supply;

struct supply *supply_new(const struct supply_options *options,
			  struct error *err);
/* Requests that wait get an error.  NULL accepted. */
void supply_free(struct supply *s);

/*
 * Called once per request: at once, within supply_request, or later.  `block`
 * is valid during the call; NULL with one of these errors:
 *	ERROR_NOTFOUND	the space does not exist
 *	ERROR_BUSY	the space is full: all is live or in quarantine
 *	ERROR_REMOTE	Redis is away, too many wait, or the program is stopping
 */
typedef void supply_fn(void *arg, const struct link_block *block,
		       uint32_t offset, const struct error *err);

/* The caller's, untouched by it until `fn` is called. */
struct supply_waiter {
	supply_fn *fn;
	void *arg;
	struct supply_waiter *next;
};

/* Asks for the next code of a space under a class. */
void supply_request(struct supply *s, const struct link_space *space,
		    const struct link_class *ttl, struct supply_waiter *waiter);

/* Redis says that the block is not ours any more: nothing further is issued
 * from its range. */
void supply_refused(struct supply *s, const struct link_block *block);

/* Hands back what was not touched, then calls done(arg), perhaps before this
 * returns.  From then on requests are refused. */
void supply_close(struct supply *s, void (*done)(void *arg), void *arg);

#endif
