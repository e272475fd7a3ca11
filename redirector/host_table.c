#include "redirector/host_table.h"

#include <stdlib.h>

#include "linkstore/domains.h"

/* What is replaced as one. */
struct host_set {
	struct domains *domains;
	struct virtual_hosts *hosts;
};

struct host_table {
	const struct redirector_config *config;
	const struct linkstore *store;
	struct versions *sets;
};

static void set_free(void *value)
{
	struct host_set *set = value;

	virtual_hosts_free(set->hosts);
	domains_free(set->domains);
	free(set);
}

static struct host_set *set_new(const struct host_table *t, const char *shared,
				struct error *err)
{
	const struct redirector_config *c = t->config;
	struct host_set *set = calloc(1, sizeof(*set));

	if (!set) {
		error_set_nomem(err);
		return NULL;
	}
	set->domains = domains_open(&c->domains, &c->links, shared, err);
	if (set->domains)
		set->hosts = virtual_hosts_new(set->domains, t->store,
					       &c->redirector, err);
	if (set->hosts)
		return set;
	set_free(set);
	return NULL;
}

struct host_table *host_table_new(const struct redirector_config *config,
				  const struct linkstore *store,
				  struct error *err)
{
	struct host_table *t = calloc(1, sizeof(*t));
	struct host_set *first;

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	t->config = config;
	t->store = store;
	first = set_new(t, NULL, err);
	if (first)
		t->sets = versions_new(first, set_free, err);
	if (t->sets)
		return t;
	free(t);
	return NULL;
}

void host_table_free(struct host_table *t)
{
	if (!t)
		return;
	versions_free(t->sets);
	free(t);
}

int host_table_reload(struct host_table *t, const char *shared,
		      size_t *ret_domains, struct error *err)
{
	struct host_set *fresh = set_new(t, shared, err);
	size_t count;

	if (!fresh)
		return -1;
	count = domains_count(fresh->domains);
	if (versions_replace(t->sets, fresh, err) < 0)
		return -1;
	*ret_domains = count;
	return 0;
}

const struct virtual_hosts *host_table_use(struct host_user *user)
{
	const struct host_set *set;

	user->user.of = user->table->sets;
	set = versions_use(&user->user);
	return set->hosts;
}

void host_table_leave(struct host_user *user)
{
	versions_leave(&user->user);
}
