/* link_urls_check.h - checks whether a stored link may still lead where it
 * led. */
#ifndef ALLOCATOR_LINK_LINK_URLS_CHECK_H
#define ALLOCATOR_LINK_LINK_URLS_CHECK_H

#include "allocator/policy/url_policy.h"
#include "schemas/link.pb-c.h"

/* Checks the URL and the targets by the rules for new links.  ERROR_NOT_OWNER
 * says which one is refused, and why. */
int link_urls_check(const Shortloop__Link *link, struct url_policy *policy,
		    struct error *err);

#endif
