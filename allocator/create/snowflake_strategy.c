/* Strategy `snowflake`: the code is a time-ordered id, permuted. */
#include "allocator/create/id_generator.h"
#include "allocator/create/standalone_creation.h"
#include "allocator/create/strategy.h"

static void take_snowflake_code(struct creation *c)
{
	uint64_t id;
	struct error err;

	if (id_generator_next_code(c->context->ids, &id, &err) < 0) {
		creation_fail(c, &err);
		return;
	}
	linkstore_snowflake_code(c->order.request->fields.space, id,
				 &c->target);
	standalone_set_link_id(c);
}

/* Happens only if an id was made twice. */
static void retry_taken_snowflake(struct creation *c,
				  const struct standalone_result *result)
{
	struct error err;

	(void)result;
	error_set(&err, ERROR_UNSAFE, "a live link is there under %s already",
		  c->target.code);
	creation_count_conflict(c, &err);
	creation_retry(c, &err);
}

const struct strategy strategy_snowflake = {
	.take = take_snowflake_code,
	.store = standalone_store,
	.refused = standalone_refused,
	.taken = retry_taken_snowflake,
};
