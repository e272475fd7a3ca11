/* link_hosts.h - the hosts to which a link leads.  Only web URLs have one. */
#ifndef LINKSTORE_VISIT_LINK_HOSTS_H
#define LINKSTORE_VISIT_LINK_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/domain_list.h"
#include "common/host.h"
#include "linkstore/url_blocks.h"
#include "schemas/link.pb-c.h"

/* Returns the hosts of the link's URL and of those of its targets and its
 * fallback (link_urls), each once. */
size_t link_hosts(const Shortloop__Link *link, struct host ret[LINK_URLS_MAX]);

/* Returns whether one of them is on the list. */
bool link_leads_to(const Shortloop__Link *link, const struct domain_list *list);

#endif
