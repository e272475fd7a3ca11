#include "common/app/health.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct health_check {
	struct health *health;
	char name[32];
	char reason[256];
	bool up;
	struct health_check *next;
};

struct health {
	pthread_mutex_t lock;
	struct health_check *first, **last;
};

struct health *health_new(void)
{
	struct health *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	pthread_mutex_init(&h->lock, NULL);
	h->last = &h->first;
	return h;
}

void health_free(struct health *h)
{
	struct health_check *next;

	if (!h)
		return;
	for (struct health_check *it = h->first; it; it = next) {
		next = it->next;
		free(it);
	}
	pthread_mutex_destroy(&h->lock);
	free(h);
}

struct health_check *health_register(struct health *h, const char *name)
{
	struct health_check *check = calloc(1, sizeof(*check));

	if (!check)
		return NULL;
	check->health = h;
	snprintf(check->name, sizeof(check->name), "%s", name);
	snprintf(check->reason, sizeof(check->reason), "not connected yet");
	pthread_mutex_lock(&h->lock);
	*h->last = check;
	h->last = &check->next;
	pthread_mutex_unlock(&h->lock);
	return check;
}

static bool set_check_state(struct health_check *check, bool up,
			    const char *reason)
{
	bool changed;

	if (!check)
		return false;
	pthread_mutex_lock(&check->health->lock);
	changed = check->up != up || strcmp(check->reason, reason) != 0;
	check->up = up;
	if (changed)
		snprintf(check->reason, sizeof(check->reason), "%s", reason);
	pthread_mutex_unlock(&check->health->lock);
	return changed;
}

bool health_up(struct health_check *check)
{
	return set_check_state(check, true, "");
}

bool health_down(struct health_check *check, const char *reason)
{
	return set_check_state(check, false, reason);
}

void health_say(struct health_check *check, const char *remark)
{
	set_check_state(check, true, remark);
}

bool health_is_up(struct health_check *check)
{
	bool up;

	if (!check)
		return false;
	pthread_mutex_lock(&check->health->lock);
	up = check->up;
	pthread_mutex_unlock(&check->health->lock);
	return up;
}

bool health_report(struct health *h, struct buf *out)
{
	bool all = true;

	pthread_mutex_lock(&h->lock);
	for (struct health_check *it = h->first; it; it = it->next) {
		if (it->up && !*it->reason)
			continue;
		all = all && it->up;
		buf_printf(out, "%s: %s\n", it->name, it->reason);
	}
	pthread_mutex_unlock(&h->lock);
	return all;
}
