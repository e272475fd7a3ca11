/* click_domain.h - the form of a visit's host in events, and in comparisons
 * with the domain that a link is bound to. */
#ifndef LINKSTORE_VISIT_CLICK_DOMAIN_H
#define LINKSTORE_VISIT_CLICK_DOMAIN_H

#include "common/http/request.h"

#define CLICK_DOMAIN_MAX 253

/*
 * Writes the host in the form of events: lower case, without the port; "" when
 * it is absent, too long or has a character that no host name has.
 */
void click_domain(struct http_slice host, char out[CLICK_DOMAIN_MAX + 1]);

#endif
