#include "linkstore/block/link_writer.h"

#include <string.h>

#include "linkstore/block/create_command.h"
#include "linkstore/turn_batches.h"

/* The new links of one block. */
struct write_batch {
	struct turn_batch base;
	struct link_block block;
	struct create_entry entries[CREATE_BATCH_MAX];
};

/* --- answers -------------------------------------------------------------- */

static void fail_links(const struct write_batch *b, const struct error *err)
{
	for (size_t i = 0; i < b->base.count; i++)
		b->entries[i].fn(b->entries[i].arg, 0, err);
}

static void answer_links(struct turn_batch *base, const redisReply *reply,
			 const struct error *failure)
{
	const struct write_batch *b = (const struct write_batch *)base;
	const struct create_entry *entry;
	int64_t expires;
	struct error err;

	if (!failure &&
	    create_command_check(reply, &b->block, base->count, &expires, &err))
		failure = &err;
	if (failure) {
		fail_links(b, failure);
		return;
	}
	for (size_t i = 0; i < base->count; i++) {
		entry = &b->entries[i];
		if (create_command_result(reply, i, entry->code, &err))
			entry->fn(entry->arg, 0, &err);
		else
			entry->fn(entry->arg, expires, NULL);
	}
}

/* --- batches -------------------------------------------------------------- */

static bool takes_block(const struct turn_batch *base, const void *about)
{
	const struct link_block *a = &((const struct write_batch *)base)->block;
	const struct link_block *b = about;

	return a->space == b->space && a->number == b->number &&
	       a->generation == b->generation && !strcmp(a->holder, b->holder);
}

static void begin_block(struct turn_batch *base, const void *about)
{
	((struct write_batch *)base)->block = *(const struct link_block *)about;
}

static void build_creation(const struct turn_batch *base, struct command *c)
{
	const struct write_batch *b = (const struct write_batch *)base;

	create_command_build(c, &b->block, b->entries, base->count,
			     &base->bytes);
}

static const struct turn_batch_type write_batch_type = {
	.size = sizeof(struct write_batch),
	.items_max = CREATE_BATCH_MAX,
	.takes = takes_block,
	.begin = begin_block,
	.build = build_creation,
	.answer = answer_links,
};

/* --- interface ------------------------------------------------------------ */

/* A writer is its batches, and nothing besides: so it lives as long as an
 * answer is on its way, whose callback may still try to queue a link. */
static struct turn_batches *batches_of(struct link_writer *w)
{
	return (struct turn_batches *)w;
}

int link_writer_create(struct link_writer *w, const struct link_block *block,
		       const char *code, const Shortloop__Link *link,
		       int64_t deadline, link_created_fn *fn, void *arg,
		       struct error *err)
{
	struct turn_batch *base = turn_batches_find(batches_of(w), block, err);
	struct create_entry *entry;

	if (!base)
		return -1;
	entry = &((struct write_batch *)base)->entries[base->count];
	if (create_entry_pack(code, link, &base->bytes, entry, err))
		return -1;
	entry->deadline = deadline;
	entry->fn = fn;
	entry->arg = arg;
	turn_batch_added(base);
	return 0;
}

struct link_writer *
link_writer_new(struct loop *loop, struct redis_async *redis, struct error *err)
{
	return (struct link_writer *)turn_batches_new(loop, redis,
						      &write_batch_type, err);
}

void link_writer_free(struct link_writer *w)
{
	turn_batches_free(batches_of(w));
}
