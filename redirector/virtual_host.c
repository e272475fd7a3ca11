#include "redirector/virtual_host.h"

#include <stdlib.h>
#include <string.h>

#include "redirector/click_event.h"

struct virtual_hosts {
	const struct domains *domains;
	bool refuse;
	const struct virtual_host
		*otherwise;	     /* of a Host that is no domain's */
	struct virtual_host items[]; /* by the index of the domain */
};

static void fill(struct virtual_host *vhost, const struct link_domain *domain,
		 const struct linkstore *store, const char *fallback_url)
{
	size_t spaces = linkstore_space_count(store);

	vhost->name = domain->name;
	vhost->fallback_url =
		domain->fallback_url ? domain->fallback_url : fallback_url;
	for (size_t i = 0; i < spaces && i < 64; i++) {
		if (domains_allow(domain, linkstore_space(store, i)->name))
			vhost->spaces |= UINT64_C(1) << i;
	}
}

struct virtual_hosts *
virtual_hosts_new(const struct domains *domains, const struct linkstore *store,
		  const struct redirector_settings *settings, struct error *err)
{
	size_t count = domains_count(domains);
	struct virtual_hosts *hosts = calloc(
		1, sizeof(*hosts) + (count + 1) * sizeof(hosts->items[0]));

	if (!hosts) {
		error_set_nomem(err);
		return NULL;
	}
	hosts->domains = domains;
	hosts->refuse = count && !strcmp(settings->unknown_hosts, "refuse");
	for (size_t i = 0; i < count; i++)
		fill(&hosts->items[i], domains_at(domains, i), store,
		     settings->fallback_url);
	if (count) {
		hosts->otherwise =
			&hosts->items[domains_default(domains)->index];
		return hosts;
	}
	hosts->items[0] = (struct virtual_host){
		.fallback_url = settings->fallback_url, .spaces = UINT64_MAX};
	hosts->otherwise = &hosts->items[0];
	return hosts;
}

void virtual_hosts_free(struct virtual_hosts *hosts)
{
	free(hosts);
}

bool virtual_hosts_refuse_some(const struct virtual_hosts *hosts)
{
	return hosts->refuse;
}

bool virtual_hosts_refuse(const struct virtual_hosts *hosts,
			  struct http_slice host)
{
	return hosts->refuse &&
	       !domains_by_host(hosts->domains, host.data, host.len);
}

const struct virtual_host *virtual_hosts_find(const struct virtual_hosts *hosts,
					      struct http_slice host)
{
	const struct link_domain *domain =
		domains_by_host(hosts->domains, host.data, host.len);

	return domain ? &hosts->items[domain->index] : hosts->otherwise;
}

bool virtual_host_shows(const struct virtual_host *vhost,
			struct http_slice host, const struct cached_link *link)
{
	char domain[CLICK_DOMAIN_MAX + 1];

	if (!(vhost->spaces >> link->space & 1))
		return false;
	if (!*link->domain)
		return true;
	if (vhost->name)
		return !strcmp(vhost->name, link->domain);
	click_domain(host, domain);
	return !strcmp(domain, link->domain);
}
