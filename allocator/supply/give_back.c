/*
 * Blocks from which no code was taken go back: each is closed, so that nobody
 * can open it under this generation any more, then the runs of closed blocks
 * are handed back from the end of the range.  What fails on the way is left to
 * the reclaimer.
 */
#include <stdlib.h>

#include "allocator/supply/parts.h"

static void hand_back_next(struct lot *lot);

/* The part that was handed back begins at block `lot->at`; what comes before it
 * is a range of its own now. */
static void on_handed_back(void *arg, const struct error *err)
{
	struct lot *lot = arg;
	const struct supply *s = lot->slot->supply;

	if (!err)
		metric_add(s->options.metrics->blocks_returned,
			   lot->closed_run);
	/* On error the range is no longer issued as one piece: the reclaimer
	 * has been here and sees to the rest. */
	if (err || lot->at == 0) {
		lot_gone(lot);
		return;
	}
	lot->count = lot->at;
	lot->range.last = lot->range.first + lot->count - 1;
	hand_back_next(lot);
}

/* Hands back the last run of closed blocks. */
static void hand_back_next(struct lot *lot)
{
	const struct supply *s = lot->slot->supply;
	struct block_range part = lot->range;
	struct error err = {0};
	size_t end = lot->count, first;

	while (end && lot->blocks[end - 1].use != USE_CLOSED)
		end--;
	first = end;
	while (first && lot->blocks[first - 1].use == USE_CLOSED)
		first--;
	lot->at = first;
	lot->closed_run = end - first;
	part.last = lot->range.first + end - 1;
	part.first = lot->range.first + first;
	if (end == 0 || grant_hand_back_async(
				s->options.redis, lot->slot->space, &lot->range,
				&part, on_handed_back, lot, &err) < 0)
		lot_gone(lot);
}

static void on_closed(void *arg, const struct error *err)
{
	struct lot_block *block = arg;
	struct lot *lot = block->lot;

	lot_set_use(lot, (size_t)(block - lot->blocks),
		    err ? USE_SPENT : USE_CLOSED);
	if (--lot->closing == 0)
		hand_back_next(lot);
}

void lot_give_back(struct lot *lot)
{
	const struct supply *s = lot->slot->supply;
	struct link_block block;
	struct error err = {0};

	for (size_t i = 0; i < lot->count; i++) {
		if (lot->blocks[i].use != USE_UNOPENED)
			continue;
		block = lot_block_at(lot, i);
		if (block_close_own_async(s->options.redis, &block, on_closed,
					  &lot->blocks[i], &err) < 0)
			break;
		lot_set_use(lot, i, USE_CLOSING);
		lot->closing++;
	}
	if (lot->closing == 0)
		lot_gone(lot);
}

void lot_gone(struct lot *lot)
{
	struct supply *s = lot->slot->supply;

	free(lot);
	s->retiring--;
	supply_check_closed(s);
}
