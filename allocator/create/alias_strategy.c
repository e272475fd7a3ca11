/* Strategy `alias`: the user chooses the code. */
#include <stdio.h>
#include <string.h>

#include "allocator/create/standalone_creation.h"
#include "allocator/create/strategy.h"
#include "allocator/link/link_whose.h"
#include "linkstore/linkstore.h"
#include "linkstore/target.h"

static void take_alias(struct creation *c)
{
	const struct link_fields *f = &c->order.request->fields;
	struct error err;

	if (linkstore_alias(f->space->store, f->code, strlen(f->code),
			    &c->target, &err) == 0) {
		standalone_set_link_id(c);
		return;
	}
	error_wrap(&err, "code");
	creation_refuse(c, err.code == ERROR_TAKEN ? 409 : 400,
			err.code == ERROR_TAKEN ? c->context->metrics->taken
						: c->context->metrics->invalid,
			err.text);
}

static const char *why_not(const struct creation *c,
			   const struct standalone_result *result)
{
	const Shortloop__Link *there = result->existing;
	struct key_link whose;

	if (result->outcome == STANDALONE_QUARANTINED)
		return "has expired and is in quarantine";
	if (there->state == SHORTLOOP__LINK_STATE__LINK_DELETED)
		return "was deleted and is in quarantine";
	/* The state of another account's link is not disclosed. */
	whose = link_whose(there);
	return there->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED &&
			       key_link_is_of(&whose, c->account)
		       ? "is taken by a link of yours that is blocked"
		       : "is taken";
}

static void refuse_taken_alias(struct creation *c,
			       const struct standalone_result *result)
{
	char text[160];

	snprintf(text, sizeof(text), "code: %s %s; choose another",
		 c->target.code, why_not(c, result));
	creation_refuse(c, 409, c->context->metrics->taken, text);
}

const struct strategy strategy_alias = {
	.take = take_alias,
	.store = standalone_store,
	.refused = standalone_refused,
	.taken = refuse_taken_alias,
};
