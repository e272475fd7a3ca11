/*
 * Strategy `sequence`: the next code of this thread's block.
 *
 * A block that turns out not to be ours, or a code that is taken, costs a try
 * with another code.
 */
#include "allocator/create/creation.h"
#include "linkstore/block/link_writer.h"
#include "linkstore/target.h"

static void on_code(void *arg, const struct link_block *block, uint32_t offset,
		    const struct error *err)
{
	struct creation *c = arg;
	struct error why;

	if (err) {
		creation_fail(c, err);
		return;
	}
	c->block = *block;
	linkstore_code(block->space, block->number, offset, &c->target);
	if (link_prepare(&c->block, offset, &c->link, &why) < 0)
		creation_fail(c, &why);
	else
		creation_named(c);
}

static void take(struct creation *c)
{
	const struct link_fields *f = &c->order.request->fields;

	c->pool = block_pool_class(c->parts->block_pool, f->space, f->ttl);
	c->request = (struct class_pool_request){.fn = on_code, .arg = c};
	class_pool_take(c->pool, &c->request);
}

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	creation_stored(arg, expires, err);
}

static void store(struct creation *c)
{
	struct error err;

	if (link_writer_create(c->parts->writer, &c->block, c->target.code,
			       &c->link, c->deadline, on_created, c, &err) < 0)
		creation_fail(c, &err);
}

static bool refused(struct creation *c, const struct error *err)
{
	if (err->code == ERROR_BUSY) {
		class_pool_drop(c->pool, &c->block);
		return true;
	}
	if (err->code == ERROR_UNSAFE) {
		creation_conflict(c, err);
		return true;
	}
	creation_fail(c, err);
	return false;
}

const struct create_strategy create_sequence = {take, store, refused, NULL};
