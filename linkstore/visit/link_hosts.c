#include "linkstore/visit/link_hosts.h"

#include <string.h>

#include "common/url_parts.h"

static bool has_host(const struct host *hosts, size_t count,
		     const struct host *host)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(hosts[i].text, host->text))
			return true;
	return false;
}

size_t link_hosts(const Shortloop__Link *link, struct host ret[LINK_URLS_MAX])
{
	const char *urls[LINK_URLS_MAX];
	size_t url_count = link_urls(link, urls), count = 0;
	struct url_parts parts;
	struct error ignored;

	for (size_t i = 0; i < url_count; i++)
		if (url_parts_read(&parts, urls[i], strlen(urls[i]),
				   &ignored) == 0 &&
		    parts.is_web && !has_host(ret, count, &parts.host))
			ret[count++] = parts.host;
	return count;
}

bool link_leads_to(const Shortloop__Link *link, const struct domain_list *list)
{
	struct host hosts[LINK_URLS_MAX];
	size_t count = link_hosts(link, hosts);

	for (size_t i = 0; i < count; i++)
		if (domain_list_has(list, &hosts[i]))
			return true;
	return false;
}
