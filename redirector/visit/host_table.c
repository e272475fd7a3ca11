#include "redirector/visit/host_table.h"

#include <stdlib.h>

#include "linkstore/domains.h"

/* Domains and hosts, which are replaced together. */
struct host_set {
	struct domains *domains;
	struct virtual_hosts *hosts;
};

struct host_table {
	const struct redirector_config *config;
	const struct linkstore *store;
	struct versions *sets;
	struct versions_user reloading; /* set about to be replaced */
};

static void set_free(void *value)
{
	struct host_set *set = value;

	virtual_hosts_free(set->hosts);
	domains_free(set->domains);
	free(set);
}

/* `before` is NULL at the start. */
static struct host_set *set_new(const struct host_table *t, const char *shared,
				const struct host_set *before,
				struct app_file_rejections *ret_rejections,
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
	if (set->hosts &&
	    virtual_hosts_read_files(set->hosts, before ? before->hosts : NULL,
				     ret_rejections, err) == 0)
		return set;
	set_free(set);
	return NULL;
}

struct host_table *host_table_new(const struct redirector_config *config,
				  const struct linkstore *store,
				  struct error *err)
{
	struct host_table *t = calloc(1, sizeof(*t));
	struct app_file_rejections none;
	struct host_set *first;

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	t->config = config;
	t->store = store;
	first = set_new(t, NULL, NULL, &none, err);
	if (first)
		t->sets = versions_new(first, set_free, err);
	if (t->sets) {
		t->reloading.of = t->sets;
		return t;
	}
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
		      struct host_reload *ret, struct error *err)
{
	const struct host_set *before = versions_use(&t->reloading);
	struct host_set *fresh = set_new(t, shared, before, &ret->files, err);
	int status = -1;

	if (fresh) {
		ret->domains = domains_count(fresh->domains);
		status = versions_replace(t->sets, fresh, err);
	}
	versions_leave(&t->reloading);
	return status;
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
