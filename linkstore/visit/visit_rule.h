/*
 * visit_rule.h - the rules by which a visit is answered: one copy for the
 * redirector, which applies them, and the allocator, which explains them.
 *
 * Pure; those that run for each visit are inline.
 */
#ifndef LINKSTORE_VISIT_VISIT_RULE_H
#define LINKSTORE_VISIT_VISIT_RULE_H

#include <stdbool.h>

#include "linkstore/block/lookup.h"
#include "linkstore/domains.h"
#include "linkstore/visit/visit_device.h"
#include "schemas/link.pb-c.h"

/* The kind of page that a target leads to. */
enum landing {
	LANDING_NONE, /* no page: a redirect to its URL */
	LANDING_APP,
	LANDING_MINI_PROGRAM,
	LANDINGS,
};

/* Returns what a visit gets, a limit of visits aside: before its time, a link
 * is unknown. */
static inline enum link_outcome
visit_rule_outcome(const struct link_answer *answer)
{
	return answer->begins_in ? LINK_OUTCOME_UNKNOWN : answer->outcome;
}

/* Returns what a visit gets where the link is shown.  A link to a denied host
 * is answered like one that was blocked, and a link of a paused domain like one
 * that its owner paused. */
static inline enum link_outcome visit_rule_shown(enum link_outcome outcome,
						 bool is_denied,
						 bool domain_is_paused)
{
	if (outcome != LINK_OUTCOME_REDIRECT)
		return outcome;
	if (is_denied)
		return LINK_OUTCOME_BLOCKED;
	return domain_is_paused ? LINK_OUTCOME_PAUSED : outcome;
}

/* Returns the status of the link's redirects. */
int visit_rule_status(const Shortloop__Link *link);

/* Returns the link's own target for a device, or NULL. */
const Shortloop__Target *visit_rule_own_target(const Shortloop__Link *link,
					       Shortloop__Device device);

enum landing visit_rule_landing(const Shortloop__Target *target);

/* The targets that a link has for a visitor's device. */
struct visit_targets {
	bool wechat, system;
	bool system_is_page;
};

/* In WeChat, a link without a WeChat target uses the target of the system, but
 * only if that is a page: the page explains how to leave WeChat. */
static inline Shortloop__Device visit_rule_target(struct device device,
						  struct visit_targets has)
{
	bool wechat = device.in_app == IN_APP_WECHAT ||
		      device.in_app == IN_APP_MINI_PROGRAM;

	if (wechat && has.wechat)
		return SHORTLOOP__DEVICE__DEVICE_WECHAT;
	if (has.system && (!wechat || has.system_is_page))
		return device.system;
	return SHORTLOOP__DEVICE__DEVICE_ANY;
}

/*
 * Returns whether a link that is bound to `link_domain` ("": to none) is shown
 * under a host of the domain `name`.  NULL: no domain is configured; then a
 * bound link is shown under the host of that name only.
 */
bool visit_rule_shows(const char *name, bool is_default,
		      const char *link_domain, struct http_slice host);

/*
 * The whole rule, with that of the link's space: `domain` is the one that the
 * host is of, or else the default one; NULL: no domain is configured.
 */
bool visit_rule_shows_link(const struct link_domain *domain, const char *space,
			   const char *link_domain, struct http_slice host);

#endif
