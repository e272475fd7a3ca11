#include "linkstore/visit/visit_rule.h"

#include <string.h>

#include "linkstore/link/names.h"
#include "linkstore/visit/click_domain.h"

int visit_rule_status(const Shortloop__Link *link)
{
	switch (link->redirect_status) {
	case 301:
	case 307:
	case 308:
		return (int)link->redirect_status;
	default:
		return LINK_REDIRECT_STATUS;
	}
}

const Shortloop__Target *visit_rule_own_target(const Shortloop__Link *link,
					       Shortloop__Device device)
{
	for (size_t i = 0; i < link->n_targets; i++) {
		if (link->targets[i]->device == device)
			return link->targets[i];
	}
	return NULL;
}

enum landing visit_rule_landing(const Shortloop__Target *target)
{
	return *target->app	       ? LANDING_APP
	       : *target->mini_program ? LANDING_MINI_PROGRAM
				       : LANDING_NONE;
}

bool visit_rule_shows(const char *name, bool is_default,
		      const char *link_domain, struct http_slice host)
{
	char domain[CLICK_DOMAIN_MAX + 1];

	if (!*link_domain)
		return !name || is_default;
	if (name)
		return !strcmp(name, link_domain);
	click_domain(host, domain);
	return !strcmp(domain, link_domain);
}

bool visit_rule_shows_link(const struct link_domain *domain, const char *space,
			   const char *link_domain, struct http_slice host)
{
	if (!domain)
		return visit_rule_shows(NULL, false, link_domain, host);
	return domains_allow(domain, space) &&
	       visit_rule_shows(domain->name, domain->is_default, link_domain,
				host);
}
