#include "allocator/create/create.h"

#include "allocator/create/strategy.h"

static const struct strategy *strategy_of(const struct link_space *space)
{
	switch (space->strategy) {
	case LINK_HASH:
		return &strategy_hash;
	case LINK_SNOWFLAKE:
		return &strategy_snowflake;
	case LINK_ALIAS:
		return &strategy_alias;
	case LINK_SEQUENCE:
		break;
	}
	return &strategy_sequence;
}

void create_link(const struct creation_context *context,
		 const struct creation_order *order, creation_done_fn *done,
		 void *arg)
{
	creation_begin(context, order,
		       strategy_of(order->request->fields.space), done, arg);
}
