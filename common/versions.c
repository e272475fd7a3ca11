#include "common/versions.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct shared_version {
	void *value;
	size_t users; /* plus one while it is the newest; guarded by the lock */
};

struct versions {
	versions_free_fn *free_value;
	pthread_mutex_t lock; /* guards taking and letting go */
	struct shared_version *_Atomic newest;
};

static struct shared_version *
version_new(void *value, versions_free_fn *free_value, struct error *err)
{
	struct shared_version *one = malloc(sizeof(*one));

	if (one) {
		*one = (struct shared_version){value, 1};
	} else {
		free_value(value);
		error_set_nomem(err);
	}
	return one;
}

static void version_free(struct versions *v, struct shared_version *one)
{
	if (!one)
		return;
	v->free_value(one->value);
	free(one);
}

/* Called with the lock held.  Returns the version if it has no user left. */
static struct shared_version *let_go(struct shared_version *one)
{
	return one && --one->users == 0 ? one : NULL;
}

struct versions *versions_new(void *first, versions_free_fn *free_value,
			      struct error *err)
{
	struct versions *v = calloc(1, sizeof(*v));
	struct shared_version *one = version_new(first, free_value, err);

	if (!v && one) {
		free_value(first);
		error_set_nomem(err);
	}
	if (!v || !one) {
		free(one);
		free(v);
		return NULL;
	}
	v->free_value = free_value;
	atomic_init(&v->newest, one);
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

void versions_free(struct versions *v)
{
	if (!v)
		return;
	version_free(v, atomic_load(&v->newest));
	pthread_mutex_destroy(&v->lock);
	free(v);
}

int versions_replace(struct versions *v, void *value, struct error *err)
{
	struct shared_version *one = version_new(value, v->free_value, err),
			      *unused;

	if (!one)
		return -1;
	pthread_mutex_lock(&v->lock);
	unused = let_go(atomic_exchange(&v->newest, one));
	pthread_mutex_unlock(&v->lock);
	version_free(v, unused);
	return 0;
}

static void move_to_newest(struct versions_user *user)
{
	struct versions *v = user->of;
	struct shared_version *unused;

	pthread_mutex_lock(&v->lock);
	unused = let_go(user->held);
	user->held = atomic_load(&v->newest);
	user->held->users++;
	pthread_mutex_unlock(&v->lock);
	version_free(v, unused);
}

const void *versions_use(struct versions_user *user)
{
	/* A version that is held is not freed, so no other version can have its
	 * address. */
	if (atomic_load_explicit(&user->of->newest, memory_order_acquire) !=
	    user->held)
		move_to_newest(user);
	return user->held->value;
}

void versions_leave(struct versions_user *user)
{
	struct shared_version *unused;

	if (!user->held)
		return;
	pthread_mutex_lock(&user->of->lock);
	unused = let_go(user->held);
	pthread_mutex_unlock(&user->of->lock);
	user->held = NULL;
	version_free(user->of, unused);
}
