#include "redirector/host_table.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "linkstore/domains.h"

struct host_version {
	struct domains *domains;
	struct virtual_hosts *hosts;
	size_t users; /* and the table, while it is in use; under the lock */
};

struct host_table {
	const struct redirector_config *config;
	const struct linkstore *store;
	pthread_mutex_t lock; /* of taking and giving back */
	struct host_version *_Atomic now;
};

static void version_free(struct host_version *v)
{
	if (!v)
		return;
	virtual_hosts_free(v->hosts);
	domains_free(v->domains);
	free(v);
}

/* `before`: NULL at the start. */
static struct host_version *
version_new(const struct host_table *t, const char *shared,
	    const struct host_version *before,
	    struct app_file_rejections *ret_rejections, struct error *err)
{
	const struct redirector_config *c = t->config;
	struct host_version *v = calloc(1, sizeof(*v));

	if (!v) {
		error_set_nomem(err);
		return NULL;
	}
	v->users = 1;
	v->domains = domains_open(&c->domains, &c->links, shared, err);
	if (v->domains)
		v->hosts = virtual_hosts_new(v->domains, t->store,
					     &c->redirector, err);
	if (v->hosts &&
	    virtual_hosts_read_files(v->hosts, before ? before->hosts : NULL,
				     ret_rejections, err) == 0)
		return v;
	version_free(v);
	return NULL;
}

/* Under the lock.  Returns it when nobody uses it any more. */
static struct host_version *let_go(struct host_version *v)
{
	return v && --v->users == 0 ? v : NULL;
}

struct host_table *host_table_new(const struct redirector_config *config,
				  const struct linkstore *store,
				  struct error *err)
{
	struct host_table *t = calloc(1, sizeof(*t));
	struct app_file_rejections none;
	struct host_version *first;

	if (!t) {
		error_set_nomem(err);
		return NULL;
	}
	t->config = config;
	t->store = store;
	first = version_new(t, NULL, NULL, &none, err);
	if (!first) {
		free(t);
		return NULL;
	}
	atomic_init(&t->now, first);
	pthread_mutex_init(&t->lock, NULL);
	return t;
}

void host_table_free(struct host_table *t)
{
	if (!t)
		return;
	version_free(atomic_load(&t->now));
	pthread_mutex_destroy(&t->lock);
	free(t);
}

int host_table_reload(struct host_table *t, const char *shared,
		      struct host_reload *ret, struct error *err)
{
	/* The table uses it, until it is exchanged below. */
	const struct host_version *before = atomic_load(&t->now);
	struct host_version *fresh, *unused;

	fresh = version_new(t, shared, before, &ret->files, err);
	if (!fresh)
		return -1;
	ret->domains = domains_count(fresh->domains);
	pthread_mutex_lock(&t->lock);
	unused = let_go(atomic_exchange(&t->now, fresh));
	pthread_mutex_unlock(&t->lock);
	version_free(unused);
	return 0;
}

static void move_to_current(struct host_user *user)
{
	struct host_table *t = user->table;
	struct host_version *unused;

	pthread_mutex_lock(&t->lock);
	unused = let_go(user->version);
	user->version = atomic_load(&t->now);
	user->version->users++;
	pthread_mutex_unlock(&t->lock);
	version_free(unused);
}

const struct virtual_hosts *host_table_use(struct host_user *user)
{
	if (atomic_load_explicit(&user->table->now, memory_order_acquire) !=
	    user->version)
		move_to_current(user);
	return user->version->hosts;
}

void host_table_leave(struct host_user *user)
{
	struct host_version *unused;

	if (!user->version)
		return;
	pthread_mutex_lock(&user->table->lock);
	unused = let_go(user->version);
	pthread_mutex_unlock(&user->table->lock);
	user->version = NULL;
	version_free(unused);
}
