#include "reclaimer/space/chunk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "linkstore/block/look.h"
#include "linkstore/block/scan.h"
#include "linkstore/space/unopened.h"
#include "reclaimer/space/chunk_inside.h"

struct chunk *chunk_new(size_t room, struct error *err)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		goto fail;
	c->room = room;
	c->ranges = calloc(room, sizeof(*c->ranges));
	c->offsets = calloc(room, sizeof(*c->offsets));
	c->blocks = calloc(room, sizeof(*c->blocks));
	c->looks = calloc(room, sizeof(*c->looks));
	c->ended = calloc(room, sizeof(*c->ended));
	c->places = calloc(room, sizeof(*c->places));
	c->closed = calloc(room, sizeof(*c->closed));
	c->generations = calloc(room, sizeof(*c->generations));
	c->unopened = calloc(room, sizeof(*c->unopened));
	c->members = calloc(room, sizeof(*c->members));
	c->parts = calloc(settle_plan_room(room, room), sizeof(*c->parts));
	if (c->ranges && c->offsets && c->blocks && c->looks && c->ended &&
	    c->places && c->closed && c->generations && c->unopened &&
	    c->members && c->parts)
		return c;
fail:
	chunk_free(c);
	error_set_nomem(err);
	return NULL;
}

void chunk_free(struct chunk *c)
{
	if (!c)
		return;
	free(c->ranges);
	free(c->offsets);
	free(c->blocks);
	free(c->looks);
	free(c->ended);
	free(c->places);
	free(c->closed);
	free(c->generations);
	free(c->unopened);
	free(c->members);
	free(c->parts);
	free(c);
}

int chunk_fill(struct chunk *c, struct due_feed *feed, size_t blocks,
	       size_t *ret_blocks, struct error *err)
{
	c->block_count = 0;
	if (due_feed_take(feed, blocks, c->ranges, &c->range_count, err) < 0)
		return -1;
	for (size_t i = 0; i < c->range_count; i++) {
		const struct looked_range *r = &c->ranges[i];

		c->offsets[i] = c->block_count;
		for (uint64_t b = r->member.first; b <= r->upto; b++)
			c->blocks[c->block_count++] = b;
	}
	*ret_blocks = c->block_count;
	return 0;
}

/* The places of blocks in this state; returns how many. */
static size_t gather(struct chunk *c, enum block_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < c->range_count; i++) {
		const struct looked_range *r = &c->ranges[i];
		size_t end = c->offsets[i] + looked_blocks(r);

		for (size_t at = c->offsets[i]; at < end; at++) {
			if (c->looks[at].state != state)
				continue;
			c->places[count] = at;
			c->ended[count] = c->blocks[at];
			c->generations[count++] = r->member.generation;
		}
	}
	return count;
}

/* Of those without a marker: the ones that nobody ever opened. */
static int find_unopened(struct chunk *c, struct redis *redis,
			 const struct link_space *space, struct error *err)
{
	size_t count = gather(c, BLOCK_LOST);

	if (reclaim_unopened(redis, space, c->ended, c->generations, count,
			     c->unopened, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (c->unopened[i])
			c->looks[c->places[i]].state = BLOCK_UNOPENED;
	return 0;
}

int chunk_look(struct chunk *c, struct redis *redis,
	       const struct link_space *space, int64_t now, struct error *err)
{
	if (reclaim_look(redis, space, c->blocks, c->block_count, now, c->looks,
			 err) < 0)
		return -1;
	return find_unopened(c, redis, space, err);
}

/* --- closing -------------------------------------------------------------- */

/* The lowest generation above `floor` among the ranges, or 0. */
static uint32_t generation_above(const struct chunk *c, uint32_t floor)
{
	uint32_t lowest = 0;

	for (size_t i = 0; i < c->range_count; i++) {
		uint32_t generation = c->ranges[i].member.generation;

		if (generation > floor && (!lowest || generation < lowest))
			lowest = generation;
	}
	return lowest;
}

/* Gathers the ended blocks of one generation; returns how many. */
static size_t gather_ended(struct chunk *c, uint32_t generation)
{
	size_t count = 0;

	for (size_t i = 0; i < c->range_count; i++) {
		const struct looked_range *r = &c->ranges[i];
		size_t end = c->offsets[i] + looked_blocks(r);

		if (r->member.generation != generation)
			continue;
		for (size_t at = c->offsets[i]; at < end; at++) {
			if (c->looks[at].state != BLOCK_ENDED)
				continue;
			c->ended[count] = c->blocks[at];
			c->places[count++] = at;
		}
	}
	return count;
}

static int close_unopened(struct chunk *c, struct redis *redis,
			  const struct link_space *space, int64_t now,
			  struct error *err)
{
	size_t count = gather(c, BLOCK_UNOPENED);

	if (reclaim_close_unopened(redis, space, c->ended, c->generations,
				   count, now, c->closed, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		c->looks[c->places[i]] = c->closed[i];
	return 0;
}

int chunk_close(struct chunk *c, struct redis *redis,
		const struct link_space *space, int64_t now, struct error *err)
{
	uint32_t generation = 0;
	size_t count;

	while ((generation = generation_above(c, generation))) {
		count = gather_ended(c, generation);
		if (count && reclaim_close(redis, space, c->ended, count,
					   generation, c->closed, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			c->looks[c->places[i]] = c->closed[i];
	}
	return close_unopened(c, redis, space, now, err);
}

/* --- the sample ----------------------------------------------------------- */

static int check_links(struct redis *redis, const struct reclaim_lock *lock,
		       uint64_t block, struct error *err)
{
	uint64_t links;

	if (reclaim_lock_keep(redis, lock, err) < 0 ||
	    reclaim_count_links(redis, lock->space, lock, block, &links, err) <
		    0)
		return -1;
	if (links)
		return error_set(err, ERROR_UNSAFE,
				 "block %" PRIu64 " of space %s has ended, but "
				 "%" PRIu64 " of its links are alive: the "
				 "accounting is wrong",
				 block, lock->space->name, links);
	return 0;
}

static int random_below(uint64_t limit, uint64_t *ret, struct error *err)
{
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return error_set_errno(err, "getrandom");
	*ret = limit ? random % limit : 0;
	return 0;
}

/* The first one lies among the first blocks that ended, before anything is
 * pooled; the others anywhere, `every` blocks apart on average. */
static int plan_sample(struct sampler *s, size_t ended, struct error *err)
{
	uint64_t limit = s->every < ended ? s->every : ended;

	if (s->begun)
		limit = 2 * s->every - 1;
	s->begun = true;
	return random_below(limit, &s->wait, err);
}

int chunk_sample(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock, struct sampler *sampler,
		 struct tally *tally, struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < c->block_count; i++) {
		if (c->looks[i].state == BLOCK_ENDED)
			c->ended[count++] = c->blocks[i];
	}
	if (!count)
		return 0;
	if (!sampler->begun && plan_sample(sampler, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (sampler->wait) {
			sampler->wait--;
			continue;
		}
		if (check_links(redis, lock, c->ended[i], err) < 0 ||
		    plan_sample(sampler, count, err) < 0)
			return -1;
		tally->sampled++;
	}
	return 0;
}

/* --- counting ------------------------------------------------------------- */

static void count_look(const struct block_look *look, bool in_gap,
		       struct tally *tally)
{
	tally->scanned++;
	switch (look->state) {
	case BLOCK_ENDED:
	case BLOCK_UNOPENED:
		tally->freed++;
		break;
	case BLOCK_LIVE:
		tally->live++;
		break;
	case BLOCK_LOST:
		tally->gap += in_gap;
		tally->lost += !in_gap;
		break;
	}
}

size_t chunk_looks_end(const struct chunk *c, size_t range)
{
	return c->offsets[range] + looked_blocks(&c->ranges[range]);
}

static void count_range(const struct chunk *c, size_t range,
			const struct reclaim_gaps *gaps, struct tally *tally)
{
	uint32_t generation = c->ranges[range].member.generation;
	size_t end = chunk_looks_end(c, range);

	for (size_t at = c->offsets[range]; at < end; at++)
		count_look(&c->looks[at],
			   c->looks[at].state == BLOCK_LOST &&
				   reclaim_gaps_has(gaps, c->blocks[at],
						    generation),
			   tally);
}

void chunk_count_ranges(const struct chunk *c, size_t from, size_t to,
			const struct reclaim_gaps *gaps, struct tally *tally)
{
	for (size_t i = from; i < to; i++)
		count_range(c, i, gaps, tally);
}

void chunk_count(const struct chunk *c, const struct reclaim_gaps *gaps,
		 struct tally *tally)
{
	chunk_count_ranges(c, 0, c->range_count, gaps, tally);
}
