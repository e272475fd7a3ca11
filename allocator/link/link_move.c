#include "allocator/link/link_move.h"

#include <string.h>

#include "allocator/link/link_place.h"
#include "allocator/link/link_whose.h"
#include "common/drop_const.h"
#include "common/keys/key_access.h"

/* --- account and owner ---------------------------------------------------- */

static bool is_blocked(const Shortloop__Link *link)
{
	return link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED;
}

/* The decision on the URLs of a blocked link is the account's. */
static int set_account(const struct link_move *m, const Shortloop__Link *before,
		       Shortloop__Link *after, struct error *err)
{
	const char *account = m->fields->account;

	if (!key_may(m->caller, KEY_TRANSFERS_LINK, NULL))
		return error_set(err, ERROR_NOT_OWNER,
				 "account: it takes an API key with the role "
				 "'admin' to give a link to another account");
	if (strcmp(account, before->account) != 0 &&
	    (is_blocked(before) || is_blocked(after)))
		return error_set(err, ERROR_INPUT,
				 "account: a blocked link stays with its "
				 "account");
	after->account = drop_const(account);
	/* The name of a key belongs to its account. */
	if (strcmp(account, before->account) != 0)
		after->creator = drop_const("");
	return 0;
}

static int set_owner(const struct link_move *m, Shortloop__Link *after,
		     struct error *err)
{
	struct key_link whose;

	after->owner = drop_const(m->fields->owner);
	whose = link_whose(after);
	if (key_may(m->caller, KEY_CHANGES_LINK, &whose))
		return 0;
	return error_set(err, ERROR_NOT_OWNER,
			 "owner: this API key may not write for it");
}

/* --- domain --------------------------------------------------------------- */

static int set_domain(const struct link_move *m, Shortloop__Link *after,
		      struct error *err)
{
	const struct link_domain *domain = link_place_find_domain(
		m->fields, m->rules->domains, m->caller, err);

	if (!domain)
		return -1;
	if (!domains_allow(domain, m->space->name))
		return error_set(err, ERROR_INPUT,
				 "domain: space %s, which the link is of, is "
				 "not allowed under the domain %s",
				 m->space->name, domain->name);
	after->domain = drop_const(domain->name);
	return 0;
}

/* Checks whether the link's account may use its domain. */
static int check_domain_of_account(const struct link_move *m,
				   const Shortloop__Link *after,
				   struct error *err)
{
	const struct domains *all = m->rules->domains;
	const struct link_domain *domain =
		*after->domain ? domains_named(all, after->domain)
			       : domains_default(all);

	if (domain ? key_account_may_use_domain(after->account,
						domain->accounts,
						domain->is_default)
		   : !domains_default(all))
		return 0;
	return error_set(err, ERROR_INPUT,
			 "domain: '%s' is not for the account '%s': expected "
			 "one that is",
			 domain ? domain->name : after->domain, after->account);
}

int link_move_apply(const struct link_move *move, const Shortloop__Link *before,
		    Shortloop__Link *after, struct error *err)
{
	unsigned given = move->fields->given;

	if ((given & FIELD_ACCOUNT) &&
	    set_account(move, before, after, err) < 0)
		return -1;
	if ((given & FIELD_OWNER) && set_owner(move, after, err) < 0)
		return -1;
	if ((given & FIELD_DOMAIN) && set_domain(move, after, err) < 0)
		return -1;
	return given & (FIELD_ACCOUNT | FIELD_DOMAIN)
		       ? check_domain_of_account(move, after, err)
		       : 0;
}
