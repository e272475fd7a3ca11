#include "allocator/change/change_permission.h"

#include "allocator/change/change_write.h"
#include "allocator/link/link_place.h"
#include "allocator/link/link_view.h"
#include "allocator/link/link_whose.h"

/* The owner of a blocked link must not be able to undo the block, neither by
 * deleting the link nor by giving it an early end.  A blocked link also stays
 * unchanged until a moderator has looked at it again. */
static bool is_frozen(const struct change *c, const Shortloop__Link *link)
{
	bool was_blocked =
		link->former_state == SHORTLOOP__LINK_STATE__LINK_BLOCKED;

	return (change_is_blocked(link) || was_blocked) &&
	       !key_may(&c->caller, KEY_MODERATES_LINK, NULL);
}

bool change_may_be_made(struct change *c, const Shortloop__Link *link)
{
	const struct key_link whose = link_whose(link);

	if (!key_may(&c->caller, KEY_CHANGES_LINK, &whose))
		change_refuse(c, 403,
			      "this link belongs to another account, or to an "
			      "owner that this API key may not write for: it "
			      "takes a key that may, or one with the role "
			      "'admin'");
	else if (is_frozen(c, link))
		change_refuse(c, 403,
			      "this link is blocked: it takes an API key with "
			      "the role 'admin' to change or to delete it");
	else if (!change_deletes(c) &&
		 !link_place_is_open(c->changer->o.rules->domains, &c->caller,
				     link->domain))
		change_refuse(c, 403,
			      "domain: '%s' is not for the account '%s' any "
			      "more, whose links under it can only be deleted",
			      link->domain, c->caller.account);
	else
		return true;
	return false;
}

bool change_is_expected(struct change *c, const Shortloop__Link *link)
{
	char tag[LINK_ETAG_MAX];

	if (!c->order.is_expected ||
	    c->order.is_expected(c->order.expected, link,
				 link_view_etag(link, tag)))
		return true;
	if (c->urls_noted)
		change_correct_note(c, link);
	metric_add(c->changer->o.metrics->conflicts, 1);
	change_refuse(c, 412,
		      "the link is at %s by now: read it again and decide anew",
		      tag);
	return false;
}

/* Letting a link go is a change of a blocked link, for which is_frozen has the
 * rule. */
bool change_may_set_state(struct change *c)
{
	if (!(change_gives(c) & FIELD_STATE) ||
	    c->order.patch->fields.state !=
		    SHORTLOOP__LINK_STATE__LINK_BLOCKED ||
	    key_may(&c->caller, KEY_MODERATES_LINK, NULL))
		return true;
	change_refuse(c, 403,
		      "state: it takes an API key with the role 'admin' to "
		      "block a link; its owner may pause it");
	return false;
}

bool change_may_use_ttl(struct change *c)
{
	const struct link_class *ttl = change_ttl(c);
	const struct account_rules *rules = c->caller.rules;

	if (!ttl || account_rules_allow_ttl(rules, ttl->name))
		return true;
	metric_add(rules->ttl_refused, 1);
	change_refuse(c, 403, "ttl: the account '%s' may use %s",
		      c->caller.account, rules->ttl);
	return false;
}
