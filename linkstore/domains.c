#include "linkstore/domains.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/host.h"

struct domain {
	struct link_domain public;
	const struct domain_config *config;
	char *base_url;
};

struct host_entry {
	size_t len;
	const struct link_domain *domain;
	char text[HOST_TEXT_MAX];
};

struct domains {
	struct domain *items;
	size_t count;
	const struct domain *fallback; /* the default; NULL: there is none */
	struct host_entry *hosts;      /* by compare_hosts */
	size_t host_count;
};

static int compare_hosts(const void *a, const void *b)
{
	const struct host_entry *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->text, y->text, x->len);
}

static int add_hosts(struct domains *d, const struct domain *domain,
		     struct error *err)
{
	const struct setting_strings *hosts = &domain->config->hosts;
	size_t count = d->host_count + hosts->count;
	struct host_entry *entries =
		reallocarray(d->hosts, count, sizeof(*entries));
	struct host host;

	if (!entries)
		return error_set_nomem(err);
	d->hosts = entries;
	for (size_t i = 0; i < hosts->count; i++) {
		if (host_parse(hosts->items[i], strlen(hosts->items[i]), &host,
			       err) < 0)
			return -1;
		entries = &d->hosts[d->host_count++];
		entries->len = host.len;
		entries->domain = &domain->public;
		memcpy(entries->text, host.text, host.len + 1);
	}
	return 0;
}

static int make_base_url(struct domain *domain, struct error *err)
{
	const struct domain_config *c = domain->config;
	struct buf url = {0};
	struct host host;

	if (c->base_url) {
		buf_puts(&url, c->base_url);
	} else {
		if (host_parse(c->hosts.items[0], strlen(c->hosts.items[0]),
			       &host, err) < 0)
			return -1;
		buf_printf(&url, "%s://%s", c->scheme, host.text);
	}
	if (!buf_cstr(&url)) {
		buf_free(&url);
		return error_set_nomem(err);
	}
	domain->base_url = url.data;
	return 0;
}

static int add_domain(struct domains *d, const struct domain_config *config,
		      struct error *err)
{
	struct domain *domain = &d->items[d->count];

	domain->config = config;
	domain->public.index = d->count++;
	if (make_base_url(domain, err) < 0)
		return -1;
	domain->public.name = config->name;
	domain->public.base_url = domain->base_url;
	domain->public.fallback_url = config->fallback_url;
	return add_hosts(d, domain, err);
}

static int fill(struct domains *d, const struct domains_config *config,
		struct error *err)
{
	const struct domain_config *all = config->list.items;
	size_t count = config->list.count;

	if (count == 0)
		return 0;
	d->items = calloc(count, sizeof(*d->items));
	if (!d->items)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (add_domain(d, &all[i], err) < 0)
			return -1;
		if (i == 0 || (config->default_domain &&
			       !strcmp(all[i].name, config->default_domain)))
			d->fallback = &d->items[i];
	}
	if (d->hosts)
		qsort(d->hosts, d->host_count, sizeof(*d->hosts),
		      compare_hosts);
	return 0;
}

struct domains *domains_new(const struct domains_config *config,
			    struct error *err)
{
	struct domains *d = calloc(1, sizeof(*d));

	if (!d) {
		error_set_nomem(err);
		return NULL;
	}
	if (fill(d, config, err) == 0)
		return d;
	domains_free(d);
	return NULL;
}

void domains_free(struct domains *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->count; i++)
		free(d->items[i].base_url);
	free(d->items);
	free(d->hosts);
	free(d);
}

size_t domains_count(const struct domains *d)
{
	return d->count;
}

const struct link_domain *domains_at(const struct domains *d, size_t index)
{
	return &d->items[index].public;
}

const struct link_domain *domains_default(const struct domains *d)
{
	return d->fallback ? &d->fallback->public : NULL;
}

const struct link_domain *domains_named(const struct domains *d,
					const char *name)
{
	for (size_t i = 0; i < d->count; i++) {
		if (!strcmp(d->items[i].public.name, name))
			return &d->items[i].public;
	}
	return NULL;
}

const struct link_domain *domains_by_host(const struct domains *d,
					  const char *host, size_t len)
{
	struct host_entry key;
	const struct host_entry *found;

	if (d->host_count == 0)
		return NULL;
	len = host_length(host, len);
	if (len && host[len - 1] == '.')
		len--;
	if (len == 0 || len >= sizeof(key.text))
		return NULL;
	for (size_t i = 0; i < len; i++) {
		char c = host[i];

		key.text[i] =
			c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
	}
	key.len = len;
	found = bsearch(&key, d->hosts, d->host_count, sizeof(*d->hosts),
			compare_hosts);
	return found ? found->domain : NULL;
}

bool domains_allow(const struct domains *d, const struct link_domain *domain,
		   const char *space)
{
	const struct setting_strings *spaces =
		&d->items[domain->index].config->spaces;

	for (size_t i = 0; i < spaces->count; i++) {
		if (!strcmp(spaces->items[i], space))
			return true;
	}
	return spaces->count == 0;
}

const char *domains_base_url(const struct domains *d, const char *name)
{
	const struct link_domain *domain = domains_named(d, name);

	if (!domain)
		domain = domains_default(d);
	return domain ? domain->base_url : NULL;
}
