/* Strategy `snowflake`: the code is a time-ordered id, permuted. */
#include "allocator/create/ids.h"
#include "allocator/create/plain.h"
#include "linkstore/target.h"

static void take(struct creation *c)
{
	uint64_t id;
	struct error err;

	if (create_ids_code(c->parts->ids, &id, &err) < 0) {
		creation_fail(c, &err);
		return;
	}
	linkstore_snowflake_code(c->order.request->fields.space, id,
				 &c->target);
	plain_name(c);
}

/* No id is made twice, so this is not to happen. */
static void taken(struct creation *c, const struct plain_result *result)
{
	struct error err;

	(void)result;
	error_set(&err, ERROR_UNSAFE, "a live link is there under %s already",
		  c->target.code);
	creation_conflict(c, &err);
	creation_again(c, &err);
}

const struct create_strategy create_snowflake = {take, plain_store,
						 plain_refused, taken};
