#include "allocator/block_pool/granted_range.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"

/*
 * UNOPENED -> OPENING -> OPEN -> ISSUING -> SPENT
 *   ^  |         |        |
 *   |  |         |        | the range is retired
 *   +--|---------+--------+
 *      v
 *   CLOSING -> CLOSED
 *
 * ISSUING becomes SPENT when the range is retired.  OPENING and CLOSING end in
 * SPENT if another process has opened the block.
 */
enum block_use {
	USE_UNOPENED, /* granted; no code can have been taken from it */
	USE_OPENING,
	USE_OPEN, /* no code taken yet */
	USE_ISSUING,
	USE_SPENT,   /* no code left, or not ours any more */
	USE_CLOSING, /* untouched, being handed back */
	USE_CLOSED,  /* may be handed back */
};

struct granted_block {
	struct granted_range *range;
	enum block_use use;
};

/*
 * UNCONFIRMED -> CONFIRMED -> RETIRED -> CLOSING -> HANDING_BACK -> freed
 *      |                        ^
 *      +------------------------+
 *
 * The list has ranges in the first two states.  A range stays RETIRED until its
 * last open is answered; only then is it known which blocks have to be closed.
 */
enum range_state {
	RANGE_UNCONFIRMED,
	RANGE_CONFIRMED, /* Redis knows that it is in use: codes may be taken */
	RANGE_RETIRED,
	RANGE_CLOSING,
	RANGE_HANDING_BACK,
};

/* A run of adjacent blocks from one grant. */
struct granted_range {
	struct granted_ranges *all;
	struct granted_range *next; /* in the list */
	enum range_state state;
	struct block_range range; /* shrinks from its end during hand-back */
	char holder[LINK_HOLDER_MAX];
	int64_t hold_until; /* clock_boottime_ms */
	size_t unanswered;  /* opens or the confirmation; later, closes */
	size_t at;	    /* the block that codes come from */
	uint32_t offset;    /* the next code in it */
	struct {
		size_t first, count;
	} returned; /* blocks being handed back */
	size_t count;
	struct granted_block blocks[];
};

/* --- blocks of a range ---------------------------------------------------- */

static bool is_held(enum block_use use)
{
	return use == USE_OPEN || use == USE_ISSUING;
}

static void set_use(struct granted_range *range, size_t i, enum block_use use)
{
	enum block_use old = range->blocks[i].use;
	int held = is_held(use) - is_held(old);

	range->blocks[i].use = use;
	if (old == USE_OPEN)
		range->all->open_blocks--;
	if (use == USE_OPEN)
		range->all->open_blocks++;
	metric_add(range->all->metrics->held, (uint64_t)(int64_t)held);
}

static struct link_block block_at(const struct granted_range *range, size_t i)
{
	struct link_block block = {
		.space = range->all->space,
		.ttl = range->all->ttl,
		.number = range->range.first + i,
		.generation = range->range.generation,
	};

	memcpy(block.holder, range->holder, sizeof(block.holder));
	return block;
}

struct granted_range *granted_range_add(struct granted_ranges *ranges,
					const struct grant *grant,
					const struct block_range *blocks,
					int64_t hold_until, struct error *err)
{
	size_t count = (size_t)range_blocks(blocks);
	struct granted_range *range =
		calloc(1, sizeof(*range) + count * sizeof(range->blocks[0]));
	struct granted_range **end = &ranges->first;

	if (!range) {
		error_set_nomem(err);
		return NULL;
	}
	range->all = ranges;
	range->range = *blocks;
	memcpy(range->holder, grant->holder, sizeof(range->holder));
	range->hold_until = hold_until;
	range->count = count;
	for (size_t i = 0; i < count; i++)
		range->blocks[i].range = range;
	while (*end)
		end = &(*end)->next;
	*end = range;
	return range;
}

/* --- open ----------------------------------------------------------------- */

static void close_blocks(struct granted_range *range);

/* Handles an answer to one of the range's opens, or to its confirmation. */
static void note_answer(struct granted_range *range, const struct error *err)
{
	struct granted_ranges *all = range->all;
	bool retired = range->state == RANGE_RETIRED;

	range->unanswered--;
	all->unopened--;
	if (retired && range->unanswered == 0)
		close_blocks(range);
	all->on_opened(all->arg, retired, err);
}

static void on_confirmed(void *arg, const struct error *err)
{
	struct granted_range *range = arg;

	if (!err && range->state == RANGE_UNCONFIRMED)
		range->state = RANGE_CONFIRMED;
	note_answer(range, err);
}

static void expect_answer(struct granted_range *range)
{
	range->unanswered++;
	range->all->unopened++;
}

/* Returns whether the last open is being answered: each block then has a
 * marker, ours or that of the process that opened it before us. */
static bool is_opened(const struct granted_range *range)
{
	if (range->state != RANGE_UNCONFIRMED)
		return false;
	for (size_t i = 0; i < range->count; i++) {
		if (range->blocks[i].use == USE_UNOPENED ||
		    range->blocks[i].use == USE_OPENING)
			return false;
	}
	return true;
}

static int confirm_range(struct granted_range *range, struct error *err)
{
	if (grant_confirm_async(range->all->redis, range->all->space,
				&range->range, on_confirmed, range, err) < 0)
		return -1;
	expect_answer(range);
	return 0;
}

static void on_open(void *arg, int64_t end, const struct error *err)
{
	struct granted_block *block = arg;
	struct granted_range *range = block->range;
	size_t i = (size_t)(block - range->blocks);
	struct error why = {0};

	(void)end;
	if (!err)
		set_use(range, i,
			range->state == RANGE_RETIRED ? USE_UNOPENED
						      : USE_OPEN);
	else if (err->code == ERROR_NOT_OWNER)
		set_use(range, i, USE_SPENT);
	else
		set_use(range, i, USE_UNOPENED);
	if (err && err->code == ERROR_NOT_OWNER)
		metric_add(range->all->metrics->opens_refused, 1);
	if (is_opened(range) && confirm_range(range, &why) < 0)
		err = &why;
	note_answer(range, err);
}

int granted_range_open(struct granted_range *range, struct error *err)
{
	struct redis_async *redis = range->all->redis;
	struct link_block block;

	for (size_t i = 0; i < range->count; i++) {
		block = block_at(range, i);
		if (block_open_async(redis, &block, on_open, &range->blocks[i],
				     err) < 0)
			return -1;
		set_use(range, i, USE_OPENING);
		expect_answer(range);
	}
	return 0;
}

/* --- hand-back ------------------------------------------------------------ */

/*
 * Each block from which no code was taken is closed, so that no process can
 * open it under this generation any more.  Then the runs of closed blocks are
 * handed back from the end of the range.  If a step fails, the reclaimer does
 * the rest.
 */

static void hand_back_next(struct granted_range *range);

static void range_gone(struct granted_range *range)
{
	struct granted_ranges *all = range->all;

	free(range);
	all->retired--;
	all->on_gone(all->arg);
}

/* The blocks in front of those handed back are now a range of their own in
 * Redis. */
static void on_handed_back(void *arg, const struct error *err)
{
	struct granted_range *range = arg;

	if (!err)
		metric_add(range->all->metrics->blocks_returned,
			   range->returned.count);
	/* On error the range is no longer issued as one piece: the reclaimer
	 * has split it and takes care of the rest. */
	if (err || range->returned.first == 0) {
		range_gone(range);
		return;
	}
	range->count = range->returned.first;
	range->range.last = range->range.first + range->count - 1;
	hand_back_next(range);
}

/* Hands back the last run of closed blocks. */
static void hand_back_next(struct granted_range *range)
{
	const struct granted_ranges *all = range->all;
	struct block_range part = range->range;
	struct error err = {0};
	size_t end = range->count, first;

	range->state = RANGE_HANDING_BACK;
	while (end && range->blocks[end - 1].use != USE_CLOSED)
		end--;
	first = end;
	while (first && range->blocks[first - 1].use == USE_CLOSED)
		first--;
	range->returned.first = first;
	range->returned.count = end - first;
	part.last = range->range.first + end - 1;
	part.first = range->range.first + first;
	if (end == 0 ||
	    grant_hand_back_async(all->redis, all->space, &range->range, &part,
				  on_handed_back, range, &err) < 0)
		range_gone(range);
}

static void on_closed(void *arg, const struct error *err)
{
	struct granted_block *block = arg;
	struct granted_range *range = block->range;

	set_use(range, (size_t)(block - range->blocks),
		err ? USE_SPENT : USE_CLOSED);
	if (--range->unanswered == 0)
		hand_back_next(range);
}

static void close_blocks(struct granted_range *range)
{
	struct redis_async *redis = range->all->redis;
	struct link_block block;
	struct error err = {0};

	range->state = RANGE_CLOSING;
	for (size_t i = 0; i < range->count; i++) {
		if (range->blocks[i].use != USE_UNOPENED)
			continue;
		block = block_at(range, i);
		if (block_close_own_async(redis, &block, on_closed,
					  &range->blocks[i], &err) < 0)
			break;
		set_use(range, i, USE_CLOSING);
		range->unanswered++;
	}
	if (range->unanswered == 0)
		range_gone(range);
}

void granted_range_retire(struct granted_range *range)
{
	struct granted_range **at = &range->all->first;

	while (*at != range)
		at = &(*at)->next;
	*at = range->next;
	range->state = RANGE_RETIRED;
	range->all->retired++;
	for (size_t i = 0; i < range->count; i++) {
		if (range->blocks[i].use == USE_ISSUING)
			set_use(range, i, USE_SPENT);
		else if (range->blocks[i].use == USE_OPEN)
			set_use(range, i, USE_UNOPENED);
	}
	if (range->unanswered == 0)
		close_blocks(range);
}

static bool is_expired(const struct granted_range *range)
{
	return clock_boottime_ms() >= range->hold_until;
}

static void retire_expired(struct granted_range *range)
{
	metric_add(range->all->metrics->blocks_expired,
		   range->count - range->at);
	granted_range_retire(range);
}

/* --- codes ---------------------------------------------------------------- */

/* Moves `at` to a block that has a code.  Returns false if there is none
 * now. */
static bool find_code(struct granted_range *range)
{
	if (range->state != RANGE_CONFIRMED)
		return false;
	for (; range->at < range->count; range->at++, range->offset = 0) {
		switch (range->blocks[range->at].use) {
		case USE_OPEN:
			set_use(range, range->at, USE_ISSUING);
			return true;
		case USE_ISSUING:
			if (range->offset < range->all->space->block_size)
				return true;
			set_use(range, range->at, USE_SPENT);
			break;
		case USE_OPENING:
			return false;
		default:
			break;
		}
	}
	return false;
}

struct granted_range *granted_ranges_current(struct granted_ranges *ranges)
{
	struct granted_range *range;

	while ((range = ranges->first)) {
		if (is_expired(range)) {
			retire_expired(range);
			continue;
		}
		if (find_code(range))
			return range;
		if (range->unanswered)
			return NULL;
		granted_range_retire(range);
	}
	return NULL;
}

void granted_range_issue(struct granted_range *range,
			 struct link_block *ret_block, uint32_t *ret_offset)
{
	*ret_block = block_at(range, range->at);
	*ret_offset = range->offset++;
}

uint64_t granted_ranges_codes_left(const struct granted_ranges *ranges)
{
	const struct granted_range *range = ranges->first;
	uint64_t size = ranges->space->block_size, left;

	left = ranges->open_blocks * size;
	if (range && range->at < range->count &&
	    range->blocks[range->at].use == USE_ISSUING)
		left += size - range->offset;
	return left;
}

/* --- retiring ------------------------------------------------------------- */

/* A refusal means that Redis has lost data or that another process holds the
 * block, so the other blocks of the range are not tried. */
void granted_ranges_drop(struct granted_ranges *ranges,
			 const struct link_block *block)
{
	struct granted_range *next;

	for (struct granted_range *range = ranges->first; range; range = next) {
		next = range->next;
		if (range->range.generation != block->generation ||
		    block->number < range->range.first ||
		    block->number > range->range.last)
			continue;
		metric_add(ranges->metrics->blocks_dropped, range->count);
		granted_range_retire(range);
	}
}

void granted_ranges_retire_expired(struct granted_ranges *ranges)
{
	struct granted_range *next;

	for (struct granted_range *range = ranges->first; range; range = next) {
		next = range->next;
		if (is_expired(range))
			retire_expired(range);
	}
}

void granted_ranges_retire_all(struct granted_ranges *ranges)
{
	struct granted_range *next;

	for (struct granted_range *range = ranges->first; range; range = next) {
		next = range->next;
		granted_range_retire(range);
	}
}

void granted_ranges_free(struct granted_ranges *ranges)
{
	struct granted_range *range;

	while ((range = ranges->first)) {
		ranges->first = range->next;
		free(range);
	}
}
