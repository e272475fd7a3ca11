/*
 * Strategy `hash`: the code follows from account, owner and URL.
 *
 * A candidate that maps the same URL of the same owner in the same account is
 * the answer; one that maps another moves on to the next.
 *
 * Before there were accounts, codes followed from owner and URL alone, and all
 * API keys shared them.  A link of that kind keeps its code: those candidates
 * are looked at first, and one that is this account's is the answer.  Nothing
 * is stored under them any more.  Spaces of keyed codes are younger than
 * accounts.
 */
#include <stdio.h>
#include <string.h>

#include "allocator/create/charge.h"
#include "allocator/create/plain.h"
#include "linkstore/block/lookup.h"
#include "linkstore/target.h"

/* Four salts.  A space so full that 16 candidates are taken is full. */
#define CANDIDATES_MAX 16

static int choose(struct creation *c, const char *account, struct error *err)
{
	const struct link_fields *f = &c->order.request->fields;
	const struct url_code_subject of = {account, f->owner, f->url,
					    strlen(f->url)};

	return linkstore_hash_code(f->space, &of, c->candidate, &c->target,
				   err);
}

static bool is_the_same(const struct creation *c, const Shortloop__Link *link)
{
	const struct link_fields *f = &c->order.request->fields;

	return link->state != SHORTLOOP__LINK_STATE__LINK_DELETED &&
	       !strcmp(link->url, f->url) && !strcmp(link->owner, f->owner) &&
	       api_keyring_owns(c->parts->keys, c->account, link);
}

/* --- a link of this account ----------------------------------------------- */

static void take_own(struct creation *c)
{
	struct error err;

	if (choose(c, c->account, &err) < 0)
		creation_fail(c, &err);
	else
		plain_name(c);
}

static void taken(struct creation *c, const struct plain_result *result)
{
	struct error err;

	if (is_the_same(c, result->existing)) {
		creation_found(c, result->existing, result->existing_left);
	} else if (++c->candidate < CANDIDATES_MAX) {
		take_own(c);
	} else {
		error_set(&err, ERROR_BUSY, "all candidates are taken");
		creation_fail(c, &err);
	}
}

/* --- a link that is there ------------------------------------------------- */

static void look(struct creation *c);

/* What would be refused is looked for among its own as well: who asks for a
 * link that is there stores nothing. */
static void look_further(struct creation *c)
{
	c->candidate = 0;
	if (c->look == LOOK_OLD && charge_might_refuse(c)) {
		c->look = LOOK_OWN;
		look(c);
	} else {
		c->look = LOOK_DONE;
		take_own(c);
	}
}

/* Only a space of this kind can have links from before there were accounts. */
static bool is_old(const struct creation *c)
{
	const struct link_space *space = c->order.request->fields.space;

	return linkstore_hash_codes(space) ==
	       space->url_codes[URL_CODE_MD5_QUARTERS];
}

/* The first candidate without a link ends the search, as it ended theirs. */
static void on_looked(void *arg, const struct link_answer *answer,
		      const struct error *err)
{
	struct creation *c = arg;

	if (err) {
		creation_fail(c, err);
	} else if (answer->link && is_the_same(c, answer->link)) {
		creation_found(c, answer->link, answer->ttl_left);
	} else if (answer->link && ++c->candidate < CANDIDATES_MAX) {
		look(c);
	} else {
		look_further(c);
	}
}

static void look(struct creation *c)
{
	struct error err;

	if (choose(c, c->look == LOOK_OLD ? "" : c->account, &err) < 0 ||
	    link_lookup_async(c->parts->redis, &c->target, on_looked, c, &err) <
		    0)
		creation_fail(c, &err);
}

static void take(struct creation *c)
{
	if (c->look == LOOK_DONE)
		take_own(c);
	else if (is_old(c))
		look(c);
	else
		look_further(c);
}

const struct create_strategy create_hash = {take, plain_store, plain_refused,
					    taken};
