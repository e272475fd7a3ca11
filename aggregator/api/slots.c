#include "aggregator/api/slots.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A key that has slots.  There are as many as keys with requests at a time,
 * which are few. */
struct holder {
	struct holder *next;
	int64_t count;
	char key[];
};

struct slots {
	struct slots_bounds bounds;
	pthread_mutex_t lock; /* protects what follows */
	struct holder *holders;
	int64_t count;
};

struct slots *slots_new(const struct slots_bounds *bounds, struct error *err)
{
	struct slots *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->bounds = *bounds;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

void slots_free(struct slots *s)
{
	struct holder *next;

	if (!s)
		return;
	for (struct holder *h = s->holders; h; h = next) {
		next = h->next;
		free(h);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Returns the pointer to the key's holder; *that is NULL if the key has no
 * slot. */
static struct holder **find_holder(struct slots *s, const char *key)
{
	struct holder **at = &s->holders;

	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->next;
	return at;
}

static struct holder *add_holder(struct slots *s, const char *key)
{
	struct holder *h = calloc(1, sizeof(*h) + strlen(key) + 1);

	if (!h)
		return NULL;
	strcpy(h->key, key);
	h->next = s->holders;
	s->holders = h;
	return h;
}

/* Called with the lock held. */
static enum slots_answer take_free_slot(struct slots *s, const char *key)
{
	struct holder *h = *find_holder(s, key);

	if (*key && s->bounds.of_key && h && h->count >= s->bounds.of_key)
		return SLOTS_KEY_FULL;
	if (s->bounds.of_all && s->count >= s->bounds.of_all)
		return SLOTS_ALL_FULL;
	if (!h && !(h = add_holder(s, key)))
		return SLOTS_NO_MEMORY;
	h->count++;
	s->count++;
	return SLOTS_TAKEN;
}

enum slots_answer slots_take(struct slots *s, const char *key)
{
	enum slots_answer answer;

	pthread_mutex_lock(&s->lock);
	answer = take_free_slot(s, key);
	pthread_mutex_unlock(&s->lock);
	return answer;
}

int64_t slots_held(struct slots *s, const char *key)
{
	const struct holder *h;
	int64_t count;

	pthread_mutex_lock(&s->lock);
	h = *find_holder(s, key);
	count = h ? h->count : 0;
	pthread_mutex_unlock(&s->lock);
	return count;
}

void slots_give_back(struct slots *s, const char *key)
{
	struct holder **at, *h;

	pthread_mutex_lock(&s->lock);
	at = find_holder(s, key);
	h = *at;
	if (h) {
		s->count--;
		h->count--;
	}
	if (h && h->count == 0)
		*at = h->next;
	else
		h = NULL;
	pthread_mutex_unlock(&s->lock);
	free(h);
}
