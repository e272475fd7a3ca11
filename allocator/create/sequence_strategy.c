/*
 * Strategy `sequence`: the next code of a block that this thread holds.
 *
 * If the block is no longer ours, or if the code is taken, another code is
 * tried.
 */
#include "allocator/create/creation.h"
#include "allocator/create/strategy.h"
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
	c->sequence.block = *block;
	linkstore_code(block->space, block->number, offset, &c->target);
	if (link_prepare(&c->sequence.block, offset, &c->link, &why) < 0)
		creation_fail(c, &why);
	else
		creation_code_chosen(c);
}

static void take_block_code(struct creation *c)
{
	const struct link_fields *f = &c->order.request->fields;

	c->sequence.pool =
		block_pool_class(c->context->block_pool, f->space, f->ttl);
	c->sequence.request =
		(struct class_pool_request){.fn = on_code, .arg = c};
	class_pool_take(c->sequence.pool, &c->sequence.request);
}

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	creation_stored(arg, expires, err);
}

static void store_link_in_block(struct creation *c)
{
	struct error err;

	if (link_writer_create(c->context->writer, &c->sequence.block,
			       c->target.code, &c->link, c->deadline,
			       on_created, c, &err) < 0)
		creation_fail(c, &err);
}

static bool may_take_another_code(struct creation *c, const struct error *err)
{
	if (err->code == ERROR_NOT_OWNER) {
		class_pool_drop(c->sequence.pool, &c->sequence.block);
		return true;
	}
	if (err->code == ERROR_UNSAFE) {
		creation_count_conflict(c, err);
		return true;
	}
	creation_fail(c, err);
	return false;
}

const struct strategy strategy_sequence = {.take = take_block_code,
					   .store = store_link_in_block,
					   .refused = may_take_another_code};
