#include <stdlib.h>
#include <string.h>

#include "allocator/supply/parts.h"
#include "common/clock.h"

static bool is_held(enum block_use use)
{
	return use == USE_OPEN || use == USE_ISSUING;
}

struct lot *lot_add(struct slot *slot, const struct grant *grant,
		    const struct block_range *range, int64_t hold_until,
		    struct error *err)
{
	size_t count = (size_t)range_blocks(range);
	struct lot *lot =
		calloc(1, sizeof(*lot) + count * sizeof(lot->blocks[0]));
	struct lot **end = &slot->lots;

	if (!lot) {
		error_set_nomem(err);
		return NULL;
	}
	lot->slot = slot;
	lot->range = *range;
	memcpy(lot->holder, grant->holder, sizeof(lot->holder));
	lot->hold_until = hold_until;
	lot->count = count;
	for (size_t i = 0; i < count; i++)
		lot->blocks[i].lot = lot;
	while (*end)
		end = &(*end)->next;
	*end = lot;
	return lot;
}

void lot_set_use(struct lot *lot, size_t i, enum block_use use)
{
	enum block_use old = lot->blocks[i].use;
	int held = is_held(use) - is_held(old);

	lot->blocks[i].use = use;
	if (old == USE_OPEN)
		lot->slot->open_blocks--;
	if (use == USE_OPEN)
		lot->slot->open_blocks++;
	metric_add(lot->slot->supply->options.metrics->held,
		   (uint64_t)(int64_t)held);
}

struct link_block lot_block_at(const struct lot *lot, size_t i)
{
	struct link_block block = {
		.space = lot->slot->space,
		.ttl = lot->slot->ttl,
		.number = lot->range.first + i,
		.generation = lot->range.generation,
	};

	memcpy(block.holder, lot->holder, sizeof(block.holder));
	return block;
}

bool lot_is_expired(const struct lot *lot)
{
	return clock_boottime_ms() >= lot->hold_until;
}

/* An answer to one of the lot's opens, or to its confirmation. */
static void answered(struct lot *lot, const struct error *err)
{
	struct slot *slot = lot->slot;
	bool retired = lot->retired;

	lot->opening--;
	slot->opening--;
	if (retired && lot->opening == 0)
		lot_give_back(lot);
	/* Who waits for a lot that expired meanwhile needs another one. */
	if (!retired || slot->waiters)
		slot_opened(slot, err);
}

static void on_confirmed(void *arg, const struct error *err)
{
	struct lot *lot = arg;

	lot->confirmed = !err;
	answered(lot, err);
}

static void on_open(void *arg, int64_t end, const struct error *err)
{
	struct lot_block *block = arg;
	struct lot *lot = block->lot;
	struct slot *slot = lot->slot;
	size_t i = (size_t)(block - lot->blocks);

	(void)end;
	if (!err)
		lot_set_use(lot, i, lot->retired ? USE_UNOPENED : USE_OPEN);
	else if (err->code == ERROR_BUSY)
		lot_set_use(lot, i, USE_SPENT);
	else
		lot_set_use(lot, i, USE_UNOPENED);
	if (err && err->code == ERROR_BUSY)
		metric_add(slot->supply->options.metrics->opens_refused, 1);
	answered(lot, err);
}

int lot_open_all(struct lot *lot, struct error *err)
{
	struct redis_async *redis = lot->slot->supply->options.redis;
	struct link_block block;

	for (size_t i = 0; i < lot->count; i++) {
		block = lot_block_at(lot, i);
		if (block_open_async(redis, &block, on_open, &lot->blocks[i],
				     err) < 0)
			return -1;
		lot_set_use(lot, i, USE_OPENING);
		lot->opening++;
		lot->slot->opening++;
	}
	/* Behind the opens on the same connection: carried out after them, or
	 * not at all. */
	if (grant_confirm_async(redis, lot->slot->space, &lot->range,
				on_confirmed, lot, err) < 0)
		return -1;
	lot->opening++;
	lot->slot->opening++;
	return 0;
}

void lot_retire(struct lot *lot)
{
	struct lot **at = &lot->slot->lots;

	while (*at != lot)
		at = &(*at)->next;
	*at = lot->next;
	lot->retired = true;
	lot->slot->supply->retiring++;
	for (size_t i = 0; i < lot->count; i++) {
		if (lot->blocks[i].use == USE_ISSUING)
			lot_set_use(lot, i, USE_SPENT);
		else if (lot->blocks[i].use == USE_OPEN)
			lot_set_use(lot, i, USE_UNOPENED);
	}
	if (lot->opening == 0)
		lot_give_back(lot);
}
