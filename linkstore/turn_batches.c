#include "linkstore/turn_batches.h"

#include <stdlib.h>

enum {
	SPARES_MAX = 32,    /* batches whose memory is kept for reuse */
	BYTES_KEPT = 65536, /* of the bytes of each of them */
};

struct turn_batches {
	const struct turn_batch_type *type;
	struct redis_async *redis;
	struct loop_timer *again; /* for items queued while sending */
	struct turn_batch *queued;
	struct turn_batch *spare;
	size_t spares;
	size_t in_flight; /* batches */
	bool flushing;
	bool freed; /* to be freed when nothing is in flight */
};

/* --- memory --------------------------------------------------------------- */

static struct turn_batch *batch_take(struct turn_batches *all)
{
	struct turn_batch *b = all->spare;

	if (b) {
		all->spare = b->next;
		all->spares--;
	} else {
		b = malloc(all->type->size);
		if (!b)
			return NULL;
		b->all = all;
		b->bytes = (struct buf){0};
	}
	b->count = 0;
	return b;
}

static void batch_free(struct turn_batch *b)
{
	buf_free(&b->bytes);
	free(b);
}

static void batch_done(struct turn_batch *b)
{
	struct turn_batches *all = b->all;

	if (all->freed || all->spares == SPARES_MAX ||
	    b->bytes.cap > BYTES_KEPT) {
		batch_free(b);
		return;
	}
	buf_reset(&b->bytes);
	b->next = all->spare;
	all->spare = b;
	all->spares++;
}

/* --- send ----------------------------------------------------------------- */

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *err)
{
	struct turn_batch *b = arg;
	struct turn_batches *all = b->all;

	all->type->answer(b, reply, err);
	batch_done(b);
	if (--all->in_flight == 0 && all->freed)
		free(all);
}

static int send_batch(struct turn_batch *b, struct error *err)
{
	struct turn_batches *all = b->all;
	struct command c;

	all->type->build(b, &c);
	if (command_send(&c, all->redis, on_reply, b, err))
		return -1;
	all->in_flight++;
	return 0;
}

/* A batch that cannot be sent stays queued for the end of the turn: no callback
 * may be called from here. */
static void send_full_batch(struct turn_batch *b)
{
	struct turn_batches *all = b->all;
	struct turn_batch **at = &all->queued;
	struct error later;

	if (send_batch(b, &later))
		return;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	redis_async_push(all->redis);
}

static void send_queued_batches(void *arg)
{
	struct turn_batches *all = arg;
	struct turn_batch *b = all->queued, *next;
	struct error err = {0};

	if (!b)
		return;
	all->queued = NULL;
	all->flushing = true;
	for (; b; b = next) {
		next = b->next;
		/* A batch is empty if its first item could not be filled in. */
		if (b->count > 0 && send_batch(b, &err) == 0)
			continue;
		all->type->answer(b, NULL, &err);
		batch_done(b);
	}
	all->flushing = false;
	redis_async_flush(all->redis);
}

/* --- queue ---------------------------------------------------------------- */

static struct turn_batch *begin_batch(struct turn_batches *all,
				      const void *about)
{
	struct turn_batch *b = batch_take(all);

	if (!b)
		return NULL;
	all->type->begin(b, about);
	b->next = all->queued;
	all->queued = b;
	/* An item that a callback queues while this turn's batches are sent
	 * would wait until another event wakes the loop. */
	if (all->flushing)
		loop_timer_set(all->again, 0);
	return b;
}

struct turn_batch *turn_batches_find(struct turn_batches *all,
				     const void *about, struct error *err)
{
	const struct turn_batch_type *type = all->type;
	struct turn_batch *b = all->queued;

	if (all->freed) {
		error_set_retriable(err, ERROR_REMOTE, "shutting down");
		return NULL;
	}
	while (b && (b->count == type->items_max || !type->takes(b, about)))
		b = b->next;
	if (!b)
		b = begin_batch(all, about);
	if (!b)
		error_set_nomem(err);
	return b;
}

void turn_batch_added(struct turn_batch *b)
{
	if (++b->count == b->all->type->items_max)
		send_full_batch(b);
}

struct redis_async *turn_batches_redis(const struct turn_batches *all)
{
	return all->redis;
}

/* --- start and stop ------------------------------------------------------- */

struct turn_batches *turn_batches_new(struct loop *loop,
				      struct redis_async *redis,
				      const struct turn_batch_type *type,
				      struct error *err)
{
	struct turn_batches *all = calloc(1, sizeof(*all));

	if (!all) {
		error_set_nomem(err);
		return NULL;
	}
	all->type = type;
	all->redis = redis;
	all->again = loop_timer_new(loop, send_queued_batches, all, err);
	if (!all->again ||
	    loop_on_turn_end(loop, send_queued_batches, all, err)) {
		turn_batches_free(all);
		return NULL;
	}
	return all;
}

void turn_batches_free(struct turn_batches *all)
{
	struct turn_batch *b, *next;
	struct error err;

	if (!all)
		return;
	error_set_retriable(&err, ERROR_REMOTE, "shutting down");
	all->freed = true;
	b = all->queued;
	all->queued = NULL;
	for (; b; b = next) {
		next = b->next;
		all->type->answer(b, NULL, &err);
		batch_free(b);
	}
	for (b = all->spare; b; b = next) {
		next = b->next;
		batch_free(b);
	}
	loop_timer_free(all->again);
	if (all->in_flight == 0)
		free(all);
}
