#include "allocator/create/plain.h"

#include "allocator/create/ids.h"

void plain_name(struct creation *c)
{
	uint64_t link_id;
	struct error err;

	if (create_ids_link(c->parts->ids, &link_id, &err) < 0) {
		creation_fail(c, &err);
		return;
	}
	plain_prepare(c->order.request->fields.ttl, link_id, &c->link);
	creation_named(c);
}

static void on_stored(void *arg, const struct plain_result *result,
		      const struct error *err)
{
	struct creation *c = arg;

	if (err)
		creation_stored(c, 0, err);
	else if (result->outcome == PLAIN_CREATED)
		creation_stored(c, result->expires, NULL);
	else
		c->strategy->taken(c, result);
}

void plain_store(struct creation *c)
{
	struct error err;

	if (plain_create_async(c->parts->redis, &c->target, &c->link,
			       c->deadline, on_stored, c, &err) < 0)
		creation_fail(c, &err);
}

bool plain_refused(struct creation *c, const struct error *err)
{
	creation_fail(c, err);
	return false;
}
