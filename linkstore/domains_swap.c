#include "linkstore/domains_swap.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/host.h"

#define NOWHERE SIZE_MAX

static int parse_host_text(const char *text, struct host *ret_host,
			   struct error *err)
{
	return host_parse(text, strlen(text), ret_host, err);
}

/* Returns the index among the domain's hosts; NOWHERE: not found. */
static size_t find_host(const struct domain_config *c, const struct host *host)
{
	struct error ignored;
	struct host other;

	for (size_t i = 0; i < c->hosts.count; i++)
		if (parse_host_text(c->hosts.items[i], &other, &ignored) == 0 &&
		    !strcmp(other.text, host->text))
			return i;
	return NOWHERE;
}

static struct domain_config *find_domain(const struct domains_config *config,
					 const struct host *host)
{
	struct domain_config *all = config->list.items;

	for (size_t i = 0; i < config->list.count; i++)
		if (find_host(&all[i], host) != NOWHERE)
			return &all[i];
	return NULL;
}

static int append_host(struct setting_strings *hosts, const char *text,
		       struct error *err)
{
	char **items =
		reallocarray(hosts->items, hosts->count + 1, sizeof(*items));

	if (!items)
		return error_set_nomem(err);
	hosts->items = items;
	items[hosts->count] = strdup(text);
	if (!items[hosts->count])
		return error_set_nomem(err);
	hosts->count++;
	return 0;
}

/* Moves a host forward to index `to`. */
static void move_host(struct setting_strings *hosts, size_t from, size_t to)
{
	char *text = hosts->items[from];

	memmove(hosts->items + to + 1, hosts->items + to,
		(from - to) * sizeof(*hosts->items));
	hosts->items[to] = text;
}

static int put_in_front(struct domain_config *c, const struct host *old,
			const struct host *fresh, bool *ret_changed,
			struct error *err)
{
	size_t at = find_host(c, old), from = find_host(c, fresh);

	if (from < at)
		return 0;
	if (from == NOWHERE) {
		from = c->hosts.count;
		if (append_host(&c->hosts, fresh->text, err))
			return -1;
	}
	move_host(&c->hosts, from, at);
	*ret_changed = true;
	return 0;
}

static int replace_base_url(struct domain_config *c, const struct host *old,
			    const struct host *fresh, bool *ret_changed,
			    struct error *err)
{
	const char *from;
	struct buf url = {0};
	struct error ignored;
	struct host host;

	if (!c->base_url || base_url_check(c->base_url, &host, &ignored) ||
	    strcmp(host.text, old->text) != 0)
		return 0;
	from = strstr(c->base_url, "://") + 3;
	buf_printf(&url, "%.*s%s%s", (int)(from - c->base_url), c->base_url,
		   fresh->text, from + host_length(from, strcspn(from, "/")));
	if (!buf_cstr(&url)) {
		buf_free(&url);
		return error_set_nomem(err);
	}
	free(c->base_url);
	c->base_url = url.data;
	*ret_changed = true;
	return 0;
}

int domains_swap_host(struct domains_config *config, const char *old,
		      const char *fresh, bool *ret_changed, struct error *err)
{
	struct host from, to;
	struct domain_config *domain, *other;

	if (parse_host_text(old, &from, err) ||
	    parse_host_text(fresh, &to, err))
		return -1;
	if (!strcmp(from.text, to.text))
		return error_set(err, ERROR_INPUT,
				 "the host %s cannot replace itself", to.text);
	domain = find_domain(config, &from);
	other = find_domain(config, &to);
	if (!domain)
		return error_set(err, ERROR_INPUT, "the host %s is no domain's",
				 from.text);
	if (other && other != domain)
		return error_set(err, ERROR_INPUT,
				 "the host %s is the domain %s's", to.text,
				 other->name);
	*ret_changed = false;
	if (put_in_front(domain, &from, &to, ret_changed, err))
		return -1;
	return replace_base_url(domain, &from, &to, ret_changed, err);
}
