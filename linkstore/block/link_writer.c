/* Collects the links of one loop turn by block and sends those of a block
 * together. */
#include "linkstore/block/link_writer.h"

#include <stdlib.h>
#include <string.h>

#include "linkstore/block/create_command.h"

enum {
	SPARES_MAX = 32,      /* batches whose memory is kept for reuse */
	RECORDS_KEPT = 65536, /* bytes of records that each of them keeps */
};

struct write_batch {
	struct link_writer *writer;
	struct write_batch *next;
	struct link_block block;
	struct buf records;
	size_t count;
	struct create_entry entries[CREATE_BATCH_MAX];
};

struct link_writer {
	struct redis_async *redis;
	struct loop_timer *again; /* for links queued while sending */
	struct write_batch *queued;
	struct write_batch *spare;
	size_t spares;
	size_t in_flight; /* batches */
	bool flushing;
	bool freed; /* to be freed when nothing is in flight */
};

/* --- memory --------------------------------------------------------------- */

static struct write_batch *batch_take(struct link_writer *w)
{
	struct write_batch *b = w->spare;

	if (b) {
		w->spare = b->next;
		w->spares--;
	} else {
		b = malloc(sizeof(*b));
		if (!b)
			return NULL;
		b->writer = w;
		b->records = (struct buf){0};
	}
	b->count = 0;
	return b;
}

static void batch_free(struct write_batch *b)
{
	buf_free(&b->records);
	free(b);
}

static void batch_done(struct write_batch *b)
{
	struct link_writer *w = b->writer;

	if (w->freed || w->spares == SPARES_MAX ||
	    b->records.cap > RECORDS_KEPT) {
		batch_free(b);
		return;
	}
	buf_reset(&b->records);
	b->next = w->spare;
	w->spare = b;
	w->spares++;
}

/* --- answers -------------------------------------------------------------- */

static void fail_batch(struct write_batch *b, const struct error *err)
{
	for (size_t i = 0; i < b->count; i++)
		b->entries[i].fn(b->entries[i].arg, 0, err);
}

static void answer_batch(struct write_batch *b, const redisReply *reply)
{
	const struct create_entry *entry;
	int64_t expires;
	struct error err;

	if (create_command_check(reply, &b->block, b->count, &expires, &err)) {
		fail_batch(b, &err);
		return;
	}
	for (size_t i = 0; i < b->count; i++) {
		entry = &b->entries[i];
		if (create_command_result(reply, i, entry->code, &err))
			entry->fn(entry->arg, 0, &err);
		else
			entry->fn(entry->arg, expires, NULL);
	}
}

static void on_reply(void *arg, const redisReply *reply,
		     const struct error *err)
{
	struct write_batch *b = arg;
	struct link_writer *w = b->writer;

	if (err)
		fail_batch(b, err);
	else
		answer_batch(b, reply);
	batch_done(b);
	if (--w->in_flight == 0 && w->freed)
		free(w);
}

/* --- send ----------------------------------------------------------------- */

static int send_batch(struct write_batch *b, struct error *err)
{
	struct link_writer *w = b->writer;
	struct command c;

	create_command_build(&c, &b->block, b->entries, b->count, &b->records);
	if (command_send(&c, w->redis, on_reply, b, err))
		return -1;
	w->in_flight++;
	return 0;
}

/* A batch that cannot be sent stays queued for the end of the turn: no callback
 * may be called from here. */
static void send_full(struct write_batch *b)
{
	struct link_writer *w = b->writer;
	struct write_batch **at = &w->queued;
	struct error later;

	if (send_batch(b, &later))
		return;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	redis_async_push(w->redis);
}

static void send_queued_batches(void *arg)
{
	struct link_writer *w = arg;
	struct write_batch *b = w->queued, *next;
	struct error err = {0};

	if (!b)
		return;
	w->queued = NULL;
	w->flushing = true;
	for (; b; b = next) {
		next = b->next;
		/* A batch is empty if its first link could not be packed. */
		if (b->count > 0 && send_batch(b, &err) == 0)
			continue;
		fail_batch(b, &err);
		batch_done(b);
	}
	w->flushing = false;
	redis_async_flush(w->redis);
}

/* --- queue ---------------------------------------------------------------- */

static bool same_block(const struct link_block *a, const struct link_block *b)
{
	return a->space == b->space && a->number == b->number &&
	       a->generation == b->generation && !strcmp(a->holder, b->holder);
}

static struct write_batch *find_batch(struct link_writer *w,
				      const struct link_block *block)
{
	struct write_batch *b = w->queued;

	while (b &&
	       (b->count == CREATE_BATCH_MAX || !same_block(&b->block, block)))
		b = b->next;
	if (b)
		return b;
	b = batch_take(w);
	if (!b)
		return NULL;
	b->block = *block;
	b->next = w->queued;
	w->queued = b;
	/* A link that a callback queues while this turn's batches are sent
	 * would wait until another event wakes the loop. */
	if (w->flushing)
		loop_timer_set(w->again, 0);
	return b;
}

int link_writer_create(struct link_writer *w, const struct link_block *block,
		       const char *code, const Shortloop__Link *link,
		       int64_t deadline, link_created_fn *fn, void *arg,
		       struct error *err)
{
	struct create_entry *entry;
	struct write_batch *b;

	if (w->freed)
		return error_set_retriable(err, ERROR_REMOTE, "shutting down");
	b = find_batch(w, block);
	if (!b)
		return error_set_nomem(err);
	entry = &b->entries[b->count];
	if (create_entry_pack(code, link, &b->records, entry, err))
		return -1;
	entry->deadline = deadline;
	entry->fn = fn;
	entry->arg = arg;
	if (++b->count == CREATE_BATCH_MAX)
		send_full(b);
	return 0;
}

/* --- start and stop ------------------------------------------------------- */

struct link_writer *
link_writer_new(struct loop *loop, struct redis_async *redis, struct error *err)
{
	struct link_writer *w = calloc(1, sizeof(*w));

	if (!w) {
		error_set_nomem(err);
		return NULL;
	}
	w->redis = redis;
	w->again = loop_timer_new(loop, send_queued_batches, w, err);
	if (!w->again || loop_on_turn_end(loop, send_queued_batches, w, err)) {
		link_writer_free(w);
		return NULL;
	}
	return w;
}

void link_writer_free(struct link_writer *w)
{
	struct write_batch *b, *next;
	struct error err;

	if (!w)
		return;
	error_set_retriable(&err, ERROR_REMOTE, "shutting down");
	w->freed = true;
	b = w->queued;
	w->queued = NULL;
	for (; b; b = next) {
		next = b->next;
		fail_batch(b, &err);
		batch_free(b);
	}
	for (b = w->spare; b; b = next) {
		next = b->next;
		batch_free(b);
	}
	loop_timer_free(w->again);
	if (w->in_flight == 0)
		free(w);
}
