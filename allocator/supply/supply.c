#include "allocator/supply/supply.h"

#include <stdlib.h>

#include "allocator/supply/parts.h"
#include "common/clock.h"

enum {
	EXPIRY_CHECK_MAX_MS = 5000,
	EXPIRY_CHECK_MIN_MS = 50
};

void supply_metrics_register(struct supply_metrics *sm, struct metrics *m)
{
	sm->held = metrics_gauge(m, "shortloop_allocator_blocks_held", NULL,
				 "Blocks open in our hands");
	sm->waiting = metrics_gauge(m, "shortloop_allocator_creates_waiting",
				    NULL, "Creates that wait for a block");
	sm->waited = metrics_counter(
		m, "shortloop_allocator_creates_waited_total", NULL,
		"Creates that had to wait for a block: the first of each "
		"thread, space and TTL class, then none while Redis is there");
	sm->grants = metrics_counter(m, "shortloop_allocator_grants_total",
				     "outcome=\"granted\"", "Grants asked for");
	sm->grants_failed =
		metrics_counter(m, "shortloop_allocator_grants_total",
				"outcome=\"failed\"", "Grants asked for");
	sm->blocks_granted =
		metrics_counter(m, "shortloop_allocator_blocks_granted_total",
				NULL, "Blocks in the grants we were given");
	sm->opens_refused =
		metrics_counter(m, "shortloop_allocator_opens_refused_total",
				NULL, "Granted blocks open in other hands");
	sm->blocks_dropped = metrics_counter(
		m, "shortloop_allocator_blocks_dropped_total", NULL,
		"Ranges given up because a create was refused");
	sm->blocks_expired = metrics_counter(
		m, "shortloop_allocator_blocks_expired_total", NULL,
		"Blocks given up because hold_max had passed");
	sm->blocks_returned =
		metrics_counter(m, "shortloop_allocator_blocks_returned_total",
				NULL, "Untouched blocks handed back");
}

/* --- time -------------------------------------------------------------- */

static void retire_expired(struct slot *slot)
{
	struct lot *next;

	for (struct lot *lot = slot->lots; lot; lot = next) {
		next = lot->next;
		if (!lot_is_expired(lot))
			continue;
		metric_add(slot->supply->options.metrics->blocks_expired,
			   lot->count - lot->at);
		lot_retire(lot);
	}
}

static int64_t expiry_check_every(const struct supply *s)
{
	int64_t every = s->links->hold_max / 4;

	if (every < EXPIRY_CHECK_MIN_MS)
		return EXPIRY_CHECK_MIN_MS;
	return every < EXPIRY_CHECK_MAX_MS ? every : EXPIRY_CHECK_MAX_MS;
}

/* An idle program gives its blocks back too. */
static void on_timer(void *arg)
{
	struct supply *s = arg;

	for (size_t i = 0; i < s->slot_count; i++)
		retire_expired(&s->slots[i]);
	loop_timer_set(s->timer, expiry_check_every(s));
}

/* --- life -------------------------------------------------------------- */

static void init_slots(struct supply *s)
{
	const struct linkstore *store = s->options.store;
	struct slot *slot;

	for (size_t i = 0; i < s->slot_count; i++) {
		slot = &s->slots[i];
		slot->supply = s;
		slot->space = linkstore_space(store, i / s->class_count);
		slot->ttl = linkstore_class(store, i % s->class_count);
		slot->waiters_end = &slot->waiters;
	}
}

struct supply *supply_new(const struct supply_options *options,
			  struct error *err)
{
	struct supply *s = calloc(1, sizeof(*s));

	if (!s)
		goto nomem;
	s->options = *options;
	s->links = linkstore_config(options->store);
	s->class_count = linkstore_class_count(options->store);
	s->slot_count = linkstore_space_count(options->store) * s->class_count;
	s->slots = calloc(s->slot_count, sizeof(s->slots[0]));
	if (!s->slots)
		goto nomem;
	init_slots(s);
	s->timer = loop_timer_new(options->loop, on_timer, s, err);
	if (!s->timer)
		goto fail;
	loop_timer_set(s->timer, expiry_check_every(s));
	return s;
nomem:
	error_set_nomem(err);
fail:
	supply_free(s);
	return NULL;
}

void supply_free(struct supply *s)
{
	struct error err = {0};
	struct lot *lot;

	if (!s)
		return;
	error_set_retriable(&err, ERROR_REMOTE, "the allocator is stopping");
	for (size_t i = 0; s->slots && i < s->slot_count; i++) {
		slot_fail(&s->slots[i], &err);
		while ((lot = s->slots[i].lots)) {
			s->slots[i].lots = lot->next;
			free(lot);
		}
	}
	loop_timer_free(s->timer);
	free(s->slots);
	free(s);
}

/* --- use --------------------------------------------------------------- */

static struct slot *slot_of(struct supply *s, const struct link_space *space,
			    const struct link_class *ttl)
{
	struct slot *slot = &s->slots[space->index * s->class_count];

	while (slot->ttl != ttl)
		slot++;
	return slot;
}

void supply_request(struct supply *s, const struct link_space *space,
		    const struct link_class *ttl, struct supply_waiter *waiter)
{
	struct error err = {0};

	if (!s->closing) {
		slot_request(slot_of(s, space, ttl), waiter);
		return;
	}
	error_set_retriable(&err, ERROR_REMOTE, "the allocator is stopping");
	waiter->fn(waiter->arg, NULL, 0, &err);
}

/* A refusal means that Redis has forgotten or that somebody else holds the
 * block, so the rest of the same grant is not worth a try for each block. */
void supply_refused(struct supply *s, const struct link_block *block)
{
	struct slot *slot = slot_of(s, block->space, block->ttl);
	struct lot *next;

	for (struct lot *lot = slot->lots; lot; lot = next) {
		next = lot->next;
		if (lot->range.generation != block->generation ||
		    block->number < lot->range.first ||
		    block->number > lot->range.last)
			continue;
		metric_add(s->options.metrics->blocks_dropped, lot->count);
		lot_retire(lot);
	}
}

void supply_check_closed(struct supply *s)
{
	void (*done)(void *arg) = s->on_closed;

	if (!s->closing || s->retiring || s->granting || !done)
		return;
	s->on_closed = NULL;
	done(s->closed_arg);
}

void supply_close(struct supply *s, void (*done)(void *arg), void *arg)
{
	struct error err = {0};

	error_set_retriable(&err, ERROR_REMOTE, "the allocator is stopping");
	s->closing = true;
	loop_timer_stop(s->timer);
	for (size_t i = 0; i < s->slot_count; i++) {
		slot_fail(&s->slots[i], &err);
		while (s->slots[i].lots)
			lot_retire(s->slots[i].lots);
	}
	s->on_closed = done;
	s->closed_arg = arg;
	supply_check_closed(s);
}
