#include "redirector/lookup/deadlines.h"

#include <stddef.h>

static void on_timer(void *arg)
{
	struct deadlines *all = arg;
	int64_t now = loop_now_ms(all->loop);
	struct deadline *d;

	while ((d = all->first) && d->at <= now) {
		deadlines_remove(all, d);
		all->passed(d->owner);
	}
	if (d)
		loop_timer_set(all->timer, d->at - now);
}

int deadlines_init(struct deadlines *all, struct loop *loop, int64_t timeout_ms,
		   void (*passed)(void *owner), struct error *err)
{
	*all = (struct deadlines){
		.loop = loop, .timeout = timeout_ms, .passed = passed};
	all->timer = loop_timer_new(loop, on_timer, all, err);
	return all->timer ? 0 : -1;
}

void deadlines_release(struct deadlines *all)
{
	loop_timer_free(all->timer);
	all->timer = NULL;
}

void deadlines_add(struct deadlines *all, struct deadline *d, void *owner)
{
	/* A timer may still be set for a deadline that was removed: at worst it
	 * fires too early. */
	if (!all->first)
		loop_timer_set(all->timer, all->timeout);
	d->owner = owner;
	d->at = loop_now_ms(all->loop) + all->timeout;
	d->prev = all->last;
	d->next = NULL;
	*(all->last ? &all->last->next : &all->first) = d;
	all->last = d;
}

void deadlines_remove(struct deadlines *all, struct deadline *d)
{
	if (!d->at)
		return;
	*(d->prev ? &d->prev->next : &all->first) = d->next;
	*(d->next ? &d->next->prev : &all->last) = d->prev;
	d->at = 0;
}
