#include "linkstore/domains.h"

#include <stdatomic.h>
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

/* The domains of one reading, which do not change any more. */
struct domains_table {
	struct domains_table *older; /* read by domains_reload only */
	struct domains_config own;
	const struct domains_config *from; /* `own`, or the configuration's */
	char *text;			   /* all of `from`, as printed */
	struct domain *items;
	size_t count;
	const struct domain *fallback; /* the default domain; NULL: none */
	struct host_entry *hosts;      /* by compare_hosts */
	size_t host_count;
};

struct domains {
	const struct domains_config *config;
	const struct links_config *links;
	struct domains_table *_Atomic now;
};

static int compare_hosts(const void *a, const void *b)
{
	const struct host_entry *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->text, y->text, x->len);
}

static int add_hosts(struct domains_table *t, const struct domain *domain,
		     struct error *err)
{
	const struct setting_strings *hosts = &domain->config->hosts;
	size_t count = t->host_count + hosts->count;
	struct host_entry *entries =
		reallocarray(t->hosts, count, sizeof(*entries));
	struct host host;

	if (!entries)
		return error_set_nomem(err);
	t->hosts = entries;
	for (size_t i = 0; i < hosts->count; i++) {
		if (host_parse(hosts->items[i], strlen(hosts->items[i]), &host,
			       err) < 0)
			return -1;
		entries = &t->hosts[t->host_count++];
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

static int add_domain(struct domains_table *t,
		      const struct domain_config *config, struct error *err)
{
	struct domain *domain = &t->items[t->count];

	domain->config = config;
	domain->public.index = t->count++;
	if (make_base_url(domain, err) < 0)
		return -1;
	domain->public.name = config->name;
	domain->public.host = config->hosts.items[0];
	domain->public.base_url = domain->base_url;
	domain->public.fallback_url = config->fallback_url;
	domain->public.apple_app_site_association =
		config->apple_app_site_association;
	domain->public.assetlinks = config->assetlinks;
	domain->public.accounts = &config->accounts;
	domain->public.robots_txt = config->robots_txt;
	domain->public.x_robots_tag = config->x_robots_tag;
	domain->public.paused = config->paused;
	return add_hosts(t, domain, err);
}

static int fill_domain_table(struct domains_table *t, struct error *err)
{
	const struct domain_config *all = t->from->list.items;
	const char *fallback = t->from->default_domain;
	size_t count = t->from->list.count;

	if (count == 0)
		return 0;
	t->items = calloc(count, sizeof(*t->items));
	if (!t->items)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		if (add_domain(t, &all[i], err) < 0)
			return -1;
		if (i == 0 || (fallback && !strcmp(all[i].name, fallback)))
			t->fallback = &t->items[i];
	}
	for (size_t i = 0; i < count; i++)
		t->items[i].public.is_default = &t->items[i] == t->fallback;
	if (t->hosts)
		qsort(t->hosts, t->host_count, sizeof(*t->hosts),
		      compare_hosts);
	return 0;
}

static void table_free(struct domains_table *t)
{
	if (!t)
		return;
	domains_config_release(&t->own);
	for (size_t i = 0; i < t->count; i++)
		free(t->items[i].base_url);
	free(t->items);
	free(t->hosts);
	free(t->text);
	free(t);
}

/* Reads the domains from Redis, from a file, or from the configuration
 * itself. */
static int read_domains(struct domains_table *t,
			const struct domains_config *config,
			const struct links_config *links, const char *shared,
			struct error *err)
{
	t->from = &t->own;
	if (shared && *shared)
		return domains_config_parse("the domains in Redis", shared,
					    links, &t->own, err);
	if (config->file)
		return domains_config_load(config->file, links, &t->own, err) <
				       0
			       ? error_wrap(err, "domains.file")
			       : 0;
	t->from = config;
	return 0;
}

static struct domains_table *table_new(const struct domains_config *config,
				       const struct links_config *links,
				       const char *shared, struct error *err)
{
	struct domains_table *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	if (read_domains(t, config, links, shared, err) == 0 &&
	    fill_domain_table(t, err) == 0)
		t->text = domains_config_text(t->from, err);
	if (t->text)
		return t;
	table_free(t);
	return NULL;
}

struct domains *domains_open(const struct domains_config *config,
			     const struct links_config *links,
			     const char *shared, struct error *err)
{
	struct domains_table *t = table_new(config, links, shared, err);
	struct domains *d = t ? calloc(1, sizeof(*d)) : NULL;

	if (d) {
		d->config = config;
		d->links = links;
		atomic_init(&d->now, t);
		return d;
	}
	if (t)
		error_set_nomem(err);
	table_free(t);
	return NULL;
}

void domains_free(struct domains *d)
{
	struct domains_table *older;

	if (!d)
		return;
	for (struct domains_table *t = atomic_load(&d->now); t; t = older) {
		older = t->older;
		table_free(t);
	}
	free(d);
}

/* --- reload --------------------------------------------------------------- */

/* Compares all settings, in the form in which they are printed. */
static bool says_the_same(const struct domains_table *a,
			  const struct domains_table *b)
{
	return !strcmp(a->text, b->text);
}

/* Removes the table with the same contents from those older than `now`.  So
 * repeated changes between two configurations keep only two tables. */
static struct domains_table *take_older(struct domains_table *now,
					const struct domains_table *like)
{
	struct domains_table **at = &now->older, *found;

	while (*at && !says_the_same(*at, like))
		at = &(*at)->older;
	found = *at;
	if (found)
		*at = found->older;
	return found;
}

int domains_reload(struct domains *d, const char *shared, struct error *err)
{
	struct domains_table *fresh = table_new(d->config, d->links, shared,
						err),
			     *now = atomic_load(&d->now), *older;

	if (!fresh)
		return -1;
	if (says_the_same(now, fresh)) {
		table_free(fresh);
		return 0;
	}
	older = take_older(now, fresh);
	if (older) {
		table_free(fresh);
		fresh = older;
	}
	fresh->older = now;
	atomic_store(&d->now, fresh);
	return 0;
}

/* --- reading -------------------------------------------------------------- */

static const struct domains_table *table_now(const struct domains *d)
{
	return atomic_load_explicit(&d->now, memory_order_acquire);
}

static const struct link_domain *find_named(const struct domains_table *t,
					    const char *name)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!strcmp(t->items[i].public.name, name))
			return &t->items[i].public;
	}
	return NULL;
}

size_t domains_count(const struct domains *d)
{
	return table_now(d)->count;
}

const struct link_domain *domains_at(const struct domains *d, size_t index)
{
	const struct domains_table *t = table_now(d);

	return index < t->count ? &t->items[index].public : NULL;
}

const struct link_domain *domains_default(const struct domains *d)
{
	const struct domains_table *t = table_now(d);

	return t->fallback ? &t->fallback->public : NULL;
}

const struct link_domain *domains_named(const struct domains *d,
					const char *name)
{
	return find_named(table_now(d), name);
}

const struct link_domain *domains_by_host(const struct domains *d,
					  const char *host, size_t len)
{
	const struct domains_table *t = table_now(d);
	struct host_entry key;
	const struct host_entry *found;

	if (t->host_count == 0)
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
	found = bsearch(&key, t->hosts, t->host_count, sizeof(*t->hosts),
			compare_hosts);
	return found ? found->domain : NULL;
}

bool domains_allow(const struct link_domain *domain, const char *space)
{
	/* `public` is the first member. */
	const struct domain *d = (const struct domain *)domain;
	const struct setting_strings *spaces = &d->config->spaces;

	for (size_t i = 0; i < spaces->count; i++) {
		if (!strcmp(spaces->items[i], space))
			return true;
	}
	return spaces->count == 0;
}

const char *domains_base_url(const struct domains *d, const char *name)
{
	const struct domains_table *t = table_now(d);
	const struct link_domain *domain = find_named(t, name);

	if (!domain && t->fallback)
		domain = &t->fallback->public;
	return domain ? domain->base_url : d->config->base_url;
}
