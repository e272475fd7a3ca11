/*
 * Strategy `hash`: the code follows from the URL and its owner.
 *
 * A candidate that maps the same URL of the same owner is the answer; one that
 * maps another moves on to the next.
 */
#include <stdio.h>
#include <string.h>

#include "allocator/create/plain.h"

/* Four salts.  A space so full that 16 candidates are taken is full. */
#define CANDIDATES_MAX 16

static void take(struct creation *c)
{
	const struct link_fields *f = &c->order.request->fields;
	struct error err;

	if (linkstore_hash_code(f->space, f->owner, f->url, strlen(f->url),
				c->candidate, &c->target, &err) < 0)
		creation_fail(c, &err);
	else
		plain_name(c);
}

static bool is_the_same(const struct creation *c, const Shortloop__Link *link)
{
	const struct link_fields *f = &c->order.request->fields;

	return link->state != SHORTLOOP__LINK_STATE__LINK_DELETED &&
	       !strcmp(link->url, f->url) && !strcmp(link->owner, f->owner);
}

static void taken(struct creation *c, const struct plain_result *result)
{
	struct error err;

	if (is_the_same(c, result->existing)) {
		creation_found(c, result->existing, result->existing_left);
	} else if (++c->candidate < CANDIDATES_MAX) {
		take(c);
	} else {
		error_set(&err, ERROR_BUSY, "all candidates are taken");
		creation_fail(c, &err);
	}
}

const struct create_strategy create_hash = {take, plain_store, plain_refused,
					    taken};
