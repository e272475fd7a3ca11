/* link_hosts.h - the hosts to which a link leads. */
#ifndef LINKSTORE_VISIT_LINK_HOSTS_H
#define LINKSTORE_VISIT_LINK_HOSTS_H

#include <stdbool.h>

#include "common/domain_list.h"
#include "schemas/link.pb-c.h"

/* Returns whether the link's URL, or that of a target or a fallback, has a host
 * of the list.  Only web URLs have a host. */
bool link_leads_to(const Shortloop__Link *link, const struct domain_list *list);

#endif
