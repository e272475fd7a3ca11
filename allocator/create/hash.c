/*
 * Strategy `hash`: the code follows from account, owner and URL.
 *
 * A candidate that maps the same URL of the same owner in the same account is
 * the answer; one that maps another moves on to the next, and a free one ends
 * the search.  So a URL whose link is under a later candidate gets a second one
 * once an earlier candidate is free: to look at all the others first would cost
 * each new link as many look-ups, for what only short codes meet.
 *
 * Before there were accounts, codes followed from owner and URL alone, and all
 * API keys shared them.  A link of that kind keeps its code: those candidates
 * are looked up first, and one that is this account's is the answer.  Nothing
 * is stored under them any more.  Spaces of keyed codes are younger than
 * accounts.
 */
#include <stdio.h>
#include <string.h>

#include "allocator/create/standalone.h"
#include "allocator/create/strategy.h"
#include "allocator/keys/link_access.h"
#include "linkstore/block/lookup.h"
#include "linkstore/target.h"

/* The candidates of four salts.  A space in which 16 candidates are taken
 * counts as full. */
#define CANDIDATES_MAX 16

static int choose(struct creation *c, const char *account, struct error *err)
{
	const struct link_fields *f = &c->order.request->fields;
	const struct url_code_subject of = {account, f->owner, f->url,
					    strlen(f->url)};

	return linkstore_hash_code(f->space, &of, c->hash.candidate, &c->target,
				   err);
}

static bool is_the_same(const struct creation *c, const Shortloop__Link *link)
{
	const struct link_fields *f = &c->order.request->fields;

	return link->state != SHORTLOOP__LINK_STATE__LINK_DELETED &&
	       !strcmp(link->url, f->url) && !strcmp(link->owner, f->owner) &&
	       link_access_owns(c->context->keys, c->account, link);
}

/* --- a link of this account ----------------------------------------------- */

static void take_own(struct creation *c)
{
	struct error err;

	if (choose(c, c->account, &err) < 0)
		creation_fail(c, &err);
	else
		standalone_set_link_id(c);
}

static void taken(struct creation *c, const struct standalone_result *result)
{
	struct error err;

	if (is_the_same(c, result->existing)) {
		creation_found(c, result->existing, result->existing_left);
	} else if (++c->hash.candidate < CANDIDATES_MAX) {
		take_own(c);
	} else {
		error_set(&err, ERROR_EXHAUSTED, "all candidates are taken");
		creation_fail(c, &err);
	}
}

/* --- a link that is there ------------------------------------------------- */

static void look_up(struct creation *c);

/* A link that might be refused is looked for under its own codes as well: a
 * request for a link that is there stores nothing. */
static void end_search(struct creation *c)
{
	c->hash.candidate = 0;
	if (c->hash.search == SEARCH_OLD_CODES &&
	    creation_might_be_refused(c)) {
		c->hash.search = SEARCH_OWN_CODES;
		look_up(c);
	} else {
		c->hash.search = SEARCH_DONE;
		take_own(c);
	}
}

/* Only a space with codes of this kind can have links from before there were
 * accounts. */
static bool is_old(const struct creation *c)
{
	const struct link_space *space = c->order.request->fields.space;

	return linkstore_hash_codes(space) ==
	       space->url_codes[URL_CODE_MD5_QUARTERS];
}

/* The first candidate without a link ends the search: a link would have been
 * stored under it rather than under a later one. */
static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct creation *c = arg;

	if (err) {
		creation_fail(c, err);
	} else if (answer->link && is_the_same(c, answer->link)) {
		creation_found(c, answer->link, answer->ttl_left);
	} else if (answer->link && ++c->hash.candidate < CANDIDATES_MAX) {
		look_up(c);
	} else {
		end_search(c);
	}
}

static void look_up(struct creation *c)
{
	struct error err;

	if (choose(c, c->hash.search == SEARCH_OLD_CODES ? "" : c->account,
		   &err) < 0 ||
	    link_lookup_async(c->context->redis, &c->target, on_looked_up, c,
			      &err) < 0)
		creation_fail(c, &err);
}

static void take(struct creation *c)
{
	if (c->hash.search == SEARCH_DONE)
		take_own(c);
	else if (is_old(c))
		look_up(c);
	else
		end_search(c);
}

const struct strategy strategy_hash = {
	.take = take,
	.store = standalone_store,
	.refused = standalone_refused,
	.taken = taken,
	.is_repeatable = true,
};
