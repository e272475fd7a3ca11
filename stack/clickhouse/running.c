#include "stack/clickhouse/running.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "stack/clickhouse/failure.h"

struct running_query {
	struct running_query *next;
	bool begun, killed;
	char id[];
};

struct running {
	pthread_mutex_t lock;
	struct running_query *first;
};

struct running *running_new(struct error *err)
{
	struct running *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void running_free(struct running *r)
{
	struct running_query *next;

	if (!r)
		return;
	for (struct running_query *e = r->first; e; e = next) {
		next = e->next;
		free(e);
	}
	pthread_mutex_destroy(&r->lock);
	free(r);
}

/* Returns the place that points to the entry; *place is NULL if there is
 * none. */
static struct running_query **find_running_entry(struct running *r,
						 const char *id)
{
	struct running_query **at = &r->first;

	while (*at && strcmp((*at)->id, id) != 0)
		at = &(*at)->next;
	return at;
}

int running_enter(struct running *r, const char *id, struct error *err)
{
	struct running_query *e = calloc(1, sizeof(*e) + strlen(id) + 1);
	struct running_query **at;

	if (!e)
		return error_set_nomem(err);
	strcpy(e->id, id);
	pthread_mutex_lock(&r->lock);
	at = find_running_entry(r, id);
	if (!*at) {
		*at = e;
		e = NULL;
	}
	pthread_mutex_unlock(&r->lock);
	if (!e)
		return 0;
	free(e);
	return failure_set(err, FAILURE_SAME_ID_IS_RUNNING,
			   "Query with id = %.200s is already running", id);
}

void running_leave(struct running *r, const char *id)
{
	struct running_query **at, *e;

	pthread_mutex_lock(&r->lock);
	at = find_running_entry(r, id);
	e = *at;
	if (e)
		*at = e->next;
	pthread_mutex_unlock(&r->lock);
	free(e);
}

int running_begin(struct running *r, const char *id, struct error *err)
{
	struct running_query *e;
	bool killed;

	pthread_mutex_lock(&r->lock);
	e = *find_running_entry(r, id);
	killed = e && e->killed;
	if (e)
		e->begun = true;
	pthread_mutex_unlock(&r->lock);
	return killed ? failure_set(err, FAILURE_QUERY_WAS_CANCELLED,
				    "Query was cancelled")
		      : 0;
}

size_t running_kill(struct running *r,
		    bool (*names)(const char *id, const void *arg),
		    const void *arg)
{
	size_t count = 0;

	pthread_mutex_lock(&r->lock);
	for (struct running_query *e = r->first; e; e = e->next) {
		if (!names(e->id, arg))
			continue;
		e->killed = true;
		count += e->begun;
	}
	pthread_mutex_unlock(&r->lock);
	return count;
}
