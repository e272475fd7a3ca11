/*
 * Strategy `hash`: the code follows from account, owner and URL.
 *
 * A candidate is a code to try.  If it has the link of the same URL, owner,
 * account and domain, that link is the answer; a request for one domain does
 * not get a link of another.  If it has another link, the next candidate is
 * tried.  A free candidate ends the search.  So a URL whose link is under a
 * later candidate gets a second link once an earlier candidate is free.  To
 * prevent that, each new link would cost a look-up of all other candidates,
 * although only short codes meet this case.
 */
#include <stdio.h>
#include <string.h>

#include "allocator/create/standalone_creation.h"
#include "allocator/create/strategy.h"
#include "allocator/link/link_whose.h"
#include "linkstore/block/lookup.h"
#include "linkstore/target.h"

/* The candidates come from four salts.  A space counts as full if all 16 are
 * taken. */
#define CANDIDATES_MAX 16

static int choose_candidate(struct creation *c, struct error *err)
{
	const struct link_fields *f = &c->order.request->fields;
	const struct url_code_subject of = {c->account, f->owner, f->url,
					    strlen(f->url)};

	return linkstore_hash_code(f->space, &of, c->hash.candidate, &c->target,
				   err);
}

/* Links made before domains were configured belong to the default domain. */
static bool is_of_domain(const Shortloop__Link *link,
			 const struct link_domain *domain)
{
	if (!domain)
		return true;
	return *link->domain ? !strcmp(link->domain, domain->name)
			     : domain->is_default;
}

static bool is_the_same(const struct creation *c, const Shortloop__Link *link)
{
	const struct link_fields *f = &c->order.request->fields;
	const struct key_link whose = link_whose(link);

	return link->state != SHORTLOOP__LINK_STATE__LINK_DELETED &&
	       !strcmp(link->url, f->url) && !strcmp(link->owner, f->owner) &&
	       key_link_is_of(&whose, c->account) &&
	       /* A blocked link blocks its URL, whichever domain is
		* requested. */
	       (link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED ||
		is_of_domain(link, f->domain));
}

/* The link of the same URL is the answer, unless it is blocked.  This holds
 * even if Redis has lost the block of the URL. */
static void end_with(struct creation *c, const Shortloop__Link *link,
		     int64_t left)
{
	if (link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED)
		creation_refuse_blocked(c, NULL);
	else
		creation_found(c, link, left);
}

/* --- a new link ----------------------------------------------------------- */

static void take_code(struct creation *c)
{
	struct error err;

	if (choose_candidate(c, &err) < 0)
		creation_fail(c, &err);
	else
		standalone_set_link_id(c);
}

static void resolve_taken_candidate(struct creation *c,
				    const struct standalone_result *result)
{
	struct error err;

	if (is_the_same(c, result->existing)) {
		end_with(c, result->existing, result->existing_left);
	} else if (++c->hash.candidate < CANDIDATES_MAX) {
		take_code(c);
	} else {
		error_set(&err, ERROR_EXHAUSTED, "all candidates are taken");
		creation_fail(c, &err);
	}
}

/* --- an existing link ----------------------------------------------------- */

static void look_up(struct creation *c);

/* The first candidate without a link ends the search: the link would have been
 * stored under it rather than under a later one. */
static void on_looked_up(void *arg, const struct link_answer *answer,
			 const struct error *err)
{
	struct creation *c = arg;

	if (err) {
		creation_fail(c, err);
	} else if (answer->link && is_the_same(c, answer->link)) {
		end_with(c, answer->link, answer->ttl_left);
	} else if (answer->link && ++c->hash.candidate < CANDIDATES_MAX) {
		look_up(c);
	} else {
		c->hash.candidate = 0;
		take_code(c);
	}
}

static void look_up(struct creation *c)
{
	struct error err;

	if (choose_candidate(c, &err) < 0 ||
	    link_lookup_async(c->context->redis, &c->target, on_looked_up, c,
			      &err) < 0)
		creation_fail(c, &err);
}

/* If a new link might be refused, an existing one is looked up first: a request
 * for it stores nothing. */
static void look_up_or_take_code(struct creation *c)
{
	bool looked = c->hash.looked;

	c->hash.looked = true;
	if (!looked && creation_might_be_refused(c))
		look_up(c);
	else
		take_code(c);
}

const struct strategy strategy_hash = {
	.take = look_up_or_take_code,
	.store = standalone_store,
	.refused = standalone_refused,
	.taken = resolve_taken_candidate,
	.is_repeatable = true,
};
