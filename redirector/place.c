#include "redirector/place.h"

#include <stdlib.h>
#include <string.h>

#include "redirector/click_event.h"

struct places {
	const struct domains *domains;
	bool refuse;
	const struct place *unknown; /* for hosts that are nobody's */
	struct place items[];	     /* by the index of the domain */
};

static void fill(struct place *place, const struct domains *domains,
		 const struct link_domain *domain,
		 const struct linkstore *store, const char *fallback_url)
{
	size_t spaces = linkstore_space_count(store);

	place->name = domain->name;
	place->fallback_url =
		domain->fallback_url ? domain->fallback_url : fallback_url;
	for (size_t i = 0; i < spaces && i < 64; i++) {
		if (domains_allow(domains, domain,
				  linkstore_space(store, i)->name))
			place->spaces |= UINT64_C(1) << i;
	}
}

struct places *places_new(const struct domains *domains,
			  const struct linkstore *store,
			  const struct redirector_settings *settings,
			  struct error *err)
{
	size_t count = domains_count(domains);
	struct places *p =
		calloc(1, sizeof(*p) + (count + 1) * sizeof(p->items[0]));

	if (!p) {
		error_set_nomem(err);
		return NULL;
	}
	p->domains = domains;
	p->refuse = count && !strcmp(settings->unknown_hosts, "refuse");
	for (size_t i = 0; i < count; i++)
		fill(&p->items[i], domains, domains_at(domains, i), store,
		     settings->fallback_url);
	if (count) {
		p->unknown = &p->items[domains_default(domains)->index];
		return p;
	}
	p->items[0] = (struct place){.fallback_url = settings->fallback_url,
				     .spaces = UINT64_MAX};
	p->unknown = &p->items[0];
	return p;
}

void places_free(struct places *p)
{
	free(p);
}

bool places_refuse_some(const struct places *p)
{
	return p->refuse;
}

bool places_refuse(const struct places *p, struct http_slice host)
{
	return p->refuse && !domains_by_host(p->domains, host.data, host.len);
}

const struct place *places_find(const struct places *p, struct http_slice host)
{
	const struct link_domain *domain =
		domains_by_host(p->domains, host.data, host.len);

	return domain ? &p->items[domain->index] : p->unknown;
}

bool place_shows(const struct place *place, struct http_slice host,
		 const struct cached_link *link)
{
	char domain[CLICK_DOMAIN_MAX + 1];

	if (!(place->spaces >> link->space & 1))
		return false;
	if (!*link->domain)
		return true;
	if (place->name)
		return !strcmp(place->name, link->domain);
	click_domain(host, domain);
	return !strcmp(domain, link->domain);
}
