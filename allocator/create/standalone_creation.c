#include "allocator/create/standalone_creation.h"

#include "allocator/create/strategy.h"

void standalone_set_link_id(struct creation *c)
{
	uint64_t link_id;
	struct error err;

	if (id_generator_next_link_id(c->context->ids, &link_id, &err) < 0) {
		creation_fail(c, &err);
		return;
	}
	standalone_prepare(c->order.request->fields.ttl, link_id, &c->link);
	creation_code_chosen(c);
}

static void on_stored(void *arg, const struct standalone_result *result,
		      const struct error *err)
{
	struct creation *c = arg;

	if (err)
		creation_stored(c, 0, err);
	else if (result->outcome == STANDALONE_CREATED)
		creation_stored(c, result->expires, NULL);
	else
		c->strategy->taken(c, result);
}

void standalone_store(struct creation *c)
{
	struct error err;

	if (standalone_create_async(c->context->redis, &c->target, &c->link,
				    c->deadline, on_stored, c, &err) < 0)
		creation_fail(c, &err);
}

bool standalone_refused(struct creation *c, const struct error *err)
{
	creation_fail(c, err);
	return false;
}
