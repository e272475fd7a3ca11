#include "linkstore/visit/link_hosts.h"

#include <string.h>

#include "common/url_parts.h"
#include "linkstore/url_blocks.h"

bool link_leads_to(const Shortloop__Link *link, const struct domain_list *list)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);
	struct url_parts parts;
	struct error ignored;

	for (size_t i = 0; i < count; i++) {
		if (url_parts_read(&parts, urls[i], strlen(urls[i]),
				   &ignored) == 0 &&
		    parts.is_web && domain_list_has(list, &parts.host))
			return true;
	}
	return false;
}
