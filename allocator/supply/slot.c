#include <string.h>

#include "allocator/supply/parts.h"
#include "common/clock.h"

enum {
	FRUITLESS_MAX = 8, /* grants in a row that gave no code */
	RETRY_AFTER_MS = 100,
	FETCH_AHEAD_DIVISOR = 5, /* the next grant at the last fifth, of
				  * codes or of time */
	SHORT_LIVED_MS = 1000,	 /* a grant used up sooner is too small */
	LONG_LIVED_MS = 30000,	 /* and later, too large */
	BLOCKS_MAX = 64,
	SPACE_SHARE = 1024 /* and never more of a space than this part */
};

static void fetch(struct slot *slot);

/* --- codes ------------------------------------------------------------- */

/* Moves a lot on to a block with a code.  False: it has none just now. */
static bool lot_find_code(struct lot *lot)
{
	if (!lot->confirmed)
		return false;
	for (; lot->at < lot->count; lot->at++, lot->offset = 0) {
		switch (lot->blocks[lot->at].use) {
		case USE_OPEN:
			lot_set_use(lot, lot->at, USE_ISSUING);
			return true;
		case USE_ISSUING:
			if (lot->offset < lot->slot->space->block_size)
				return true;
			lot_set_use(lot, lot->at, USE_SPENT);
			break;
		case USE_OPENING:
			return false;
		default:
			break;
		}
	}
	return false;
}

static void expire(struct lot *lot)
{
	metric_add(lot->slot->supply->options.metrics->blocks_expired,
		   lot->count - lot->at);
	lot_retire(lot);
}

/* The lot that the next code comes from, or NULL. */
static struct lot *slot_current(struct slot *slot)
{
	struct lot *lot;

	while ((lot = slot->lots)) {
		if (lot_is_expired(lot)) {
			expire(lot);
			continue;
		}
		if (lot_find_code(lot))
			return lot;
		if (lot->opening)
			return NULL;
		lot_retire(lot);
	}
	return NULL;
}

static void give(struct lot *lot, struct supply_waiter *waiter)
{
	struct link_block block = lot_block_at(lot, lot->at);
	uint32_t offset = lot->offset++;

	lot->slot->fruitless = 0;
	waiter->fn(waiter->arg, &block, offset, NULL);
}

/* Codes that can be given without asking Redis. */
static uint64_t codes_left(const struct slot *slot)
{
	const struct lot *lot = slot->lots;
	uint64_t size = slot->space->block_size, left;

	left = slot->open_blocks * size;
	if (lot && lot->at < lot->count &&
	    lot->blocks[lot->at].use == USE_ISSUING)
		left += size - lot->offset;
	return left;
}

/* Four fifths of the last grant are used. */
static bool runs_low(const struct slot *slot)
{
	uint64_t granted = slot->blocks * slot->space->block_size;

	return codes_left(slot) <= granted / FETCH_AHEAD_DIVISOR;
}

/* As Leaf does (Meituan, 2017): segments grow until one lasts a while, so that
 * the next is there in time however fast codes are taken, and shrink again, so
 * that a quiet program holds little. */
static void adapt_blocks(struct slot *slot, int64_t now)
{
	size_t least = (size_t)slot->supply->links->grant_blocks;

	if (slot->granted && now - slot->asked < SHORT_LIVED_MS)
		slot->blocks *= 2;
	else if (slot->granted && now - slot->asked > LONG_LIVED_MS)
		slot->blocks /= 2;
	slot->granted = false;
	if (slot->blocks > BLOCKS_MAX)
		slot->blocks = BLOCKS_MAX;
	if (slot->blocks > slot->space->blocks / SPACE_SHARE)
		slot->blocks = (size_t)(slot->space->blocks / SPACE_SHARE);
	if (slot->blocks < least)
		slot->blocks = least;
}

static bool is_fetching(const struct slot *slot)
{
	return slot->granting || slot->opening > 0;
}

/* --- requests that wait ------------------------------------------------ */

static void enqueue(struct slot *slot, struct supply_waiter *waiter)
{
	struct supply *s = slot->supply;

	waiter->next = NULL;
	*slot->waiters_end = waiter;
	slot->waiters_end = &waiter->next;
	s->waiting++;
	metric_add(s->options.metrics->waiting, 1);
	metric_add(s->options.metrics->waited, 1);
}

static struct supply_waiter *dequeue(struct slot *slot)
{
	struct supply *s = slot->supply;
	struct supply_waiter *waiter = slot->waiters;

	slot->waiters = waiter->next;
	if (!slot->waiters)
		slot->waiters_end = &slot->waiters;
	s->waiting--;
	metric_add(s->options.metrics->waiting, (uint64_t)-1);
	return waiter;
}

void slot_fail(struct slot *slot, const struct error *err)
{
	struct supply_waiter *waiter;

	while (slot->waiters) {
		waiter = dequeue(slot);
		waiter->fn(waiter->arg, NULL, 0, err);
	}
}

/* A grant that failed: who waits hears why, and so does who comes within the
 * next moment, without asking Redis again. */
static void slot_set_failed(struct slot *slot, const struct error *err)
{
	slot->failed = *err;
	slot->fruitless = 0;
	slot->retry_at =
		loop_now_ms(slot->supply->options.loop) + RETRY_AFTER_MS;
	slot_fail(slot, &slot->failed);
}

/* Serves who waits, and fetches more when that is due.  Nobody is left waiting
 * while nothing is on its way. */
static void pump(struct slot *slot)
{
	int64_t now = loop_now_ms(slot->supply->options.loop);
	struct lot *lot;

	while (slot->waiters && (lot = slot_current(slot)))
		give(lot, dequeue(slot));
	/* Only asked when a code is wanted: who wants none lets blocks go. */
	if (!is_fetching(slot) && (runs_low(slot) || now >= slot->grows_old) &&
	    now >= slot->retry_at)
		fetch(slot);
	if (!is_fetching(slot))
		slot_fail(slot, &slot->failed);
}

void slot_request(struct slot *slot, struct supply_waiter *waiter)
{
	struct supply *s = slot->supply;
	struct lot *lot = slot->waiters ? NULL : slot_current(slot);
	struct error err = {0};

	if (lot) {
		give(lot, waiter);
	} else if (s->waiting < s->options.waiting_max) {
		enqueue(slot, waiter);
	} else {
		error_set_retriable(&err, ERROR_REMOTE,
				    "too many links are waiting for a block");
		waiter->fn(waiter->arg, NULL, 0, &err);
	}
	pump(slot);
}

/* --- grants ------------------------------------------------------------ */

void slot_opened(struct slot *slot, const struct error *err)
{
	if (slot->opening == 0 && slot->waiters && !slot_current(slot) && err &&
	    err->code != ERROR_BUSY) {
		slot_set_failed(slot, err);
		return;
	}
	pump(slot);
}

static int take_grant(struct slot *slot, const struct grant *grant,
		      struct error *err)
{
	struct supply *s = slot->supply;
	const struct supply_metrics *m = s->options.metrics;
	int64_t hold_until = slot->asked + s->links->hold_max;
	struct lot *lot;

	slot->granted = true;
	metric_add(m->grants, 1);
	seen_file_note(s->options.seen, slot->space, &grant->seen);
	for (size_t i = 0; i < grant->count; i++) {
		metric_add(m->blocks_granted, range_blocks(&grant->ranges[i]));
		lot = lot_add(slot, grant, &grant->ranges[i], hold_until, err);
		if (!lot)
			return -1;
		if (s->closing)
			lot_retire(lot);
		else if (lot_open_all(lot, err) < 0)
			return -1;
	}
	return 0;
}

static void on_grant(void *arg, const struct grant *grant,
		     const struct error *err)
{
	struct slot *slot = arg;
	struct supply *s = slot->supply;
	struct error why = {0};

	slot->granting = false;
	s->granting--;
	if (err) {
		metric_add(s->options.metrics->grants_failed, 1);
		slot_set_failed(slot, err);
	} else if (take_grant(slot, grant, &why) < 0 && !is_fetching(slot)) {
		slot_set_failed(slot, &why);
	}
	supply_check_closed(s);
}

static void fetch(struct slot *slot)
{
	struct supply *s = slot->supply;
	int64_t now = clock_boottime_ms();
	struct grant_request request = {
		.space = slot->space,
		.ttl = slot->ttl,
		.seen = seen_file_get(s->options.seen, slot->space),
		.name = s->options.name,
	};
	struct error err = {0};

	if (s->closing)
		return;
	if (slot->fruitless++ >= FRUITLESS_MAX) {
		error_set_retriable(
			&err, ERROR_REMOTE,
			"space %s: none of the blocks granted could "
			"be opened",
			slot->space->name);
		slot_set_failed(slot, &err);
		return;
	}
	adapt_blocks(slot, now);
	request.blocks = (unsigned)slot->blocks;
	slot->asked = now;
	slot->grows_old = loop_now_ms(s->options.loop) + s->links->hold_max -
			  s->links->hold_max / FETCH_AHEAD_DIVISOR;
	if (grant_blocks_async(s->options.redis, &request, on_grant, slot,
			       &err) < 0) {
		metric_add(s->options.metrics->grants_failed, 1);
		slot_set_failed(slot, &err);
		return;
	}
	slot->granting = true;
	s->granting++;
}
