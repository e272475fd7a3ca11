#include "reclaimer/space/chunk.h"
#include "linkstore/block/link_count.h"
#include "linkstore/block/unopened.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

/* Blocks that are chosen by their state, for one query to Redis. */
struct chosen {
	uint64_t *blocks;
	size_t *at; /* indexes among the chunk's blocks */
	uint32_t *generations;
	struct block_scan *closed; /* result of closing them */
	bool *marked;		   /* whether the marks of their grants exist */
};

struct chunk {
	size_t room;
	struct scanned_range *ranges;
	size_t *offsets; /* index of each range's first block */
	size_t range_count;
	uint64_t *blocks;
	struct block_scan *scans; /* contents of each block's marker */
	size_t block_count;
	struct chosen chosen;
	/* Arguments of the settle script. */
	struct block_range *members;
	struct settle_part *parts;
};

struct chunk *chunk_new(size_t room, struct error *err)
{
	struct chunk *c = calloc(1, sizeof(*c));

	if (!c)
		goto fail;
	c->room = room;
	c->ranges = calloc(room, sizeof(*c->ranges));
	c->offsets = calloc(room, sizeof(*c->offsets));
	c->blocks = calloc(room, sizeof(*c->blocks));
	c->scans = calloc(room, sizeof(*c->scans));
	c->chosen.blocks = calloc(room, sizeof(*c->chosen.blocks));
	c->chosen.at = calloc(room, sizeof(*c->chosen.at));
	c->chosen.closed = calloc(room, sizeof(*c->chosen.closed));
	c->chosen.generations = calloc(room, sizeof(*c->chosen.generations));
	c->chosen.marked = calloc(room, sizeof(*c->chosen.marked));
	c->members = calloc(room, sizeof(*c->members));
	c->parts = calloc(settle_plan_room(room, room), sizeof(*c->parts));
	if (c->ranges && c->offsets && c->blocks && c->scans &&
	    c->chosen.blocks && c->chosen.at && c->chosen.closed &&
	    c->chosen.generations && c->chosen.marked && c->members && c->parts)
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
	free(c->scans);
	free(c->chosen.blocks);
	free(c->chosen.at);
	free(c->chosen.closed);
	free(c->chosen.generations);
	free(c->chosen.marked);
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
		const struct scanned_range *r = &c->ranges[i];

		c->offsets[i] = c->block_count;
		for (uint64_t b = r->member.first; b <= r->upto; b++)
			c->blocks[c->block_count++] = b;
	}
	*ret_blocks = c->block_count;
	return 0;
}

/* Whether the marker is from a generation before the one the block is issued
 * under. */
static bool is_former(const struct block_scan *scan, uint32_t generation)
{
	return scan->state == BLOCK_ENDED && scan->generation < generation;
}

/* Chooses the blocks in this state, or only those with a marker of an earlier
 * generation; returns their number. */
static size_t choose_blocks_in_state(struct chunk *c, enum block_state state,
				     bool former)
{
	size_t count = 0;

	for (size_t i = 0; i < c->range_count; i++) {
		const struct scanned_range *r = &c->ranges[i];
		size_t end = c->offsets[i] + scanned_blocks(r);

		for (size_t at = c->offsets[i]; at < end; at++) {
			if (c->scans[at].state != state ||
			    (former &&
			     !is_former(&c->scans[at], r->member.generation)))
				continue;
			c->chosen.at[count] = at;
			c->chosen.blocks[count] = c->blocks[at];
			c->chosen.generations[count++] = r->member.generation;
		}
	}
	return count;
}

/* Sets the state of blocks without a marker that were never opened. */
static int find_unopened(struct chunk *c, struct redis *redis,
			 const struct link_space *space, struct error *err)
{
	size_t count = choose_blocks_in_state(c, BLOCK_LOST, false);

	if (reclaim_unopened(redis, space, c->chosen.blocks,
			     c->chosen.generations, count, c->chosen.marked,
			     err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (c->chosen.marked[i])
			c->scans[c->chosen.at[i]].state = BLOCK_UNOPENED;
	return 0;
}

/*
 * Finds reused blocks that were granted for ever and have no proof that they
 * were not opened: Redis may have lost both the opening and links that never
 * end.
 */
static int find_unproven(struct chunk *c, struct redis *redis,
			 const struct link_space *space, struct error *err)
{
	size_t count = choose_blocks_in_state(c, BLOCK_ENDED, true);

	if (reclaim_unproven(redis, space, c->chosen.blocks,
			     c->chosen.generations, count, c->chosen.marked,
			     err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (c->chosen.marked[i])
			c->scans[c->chosen.at[i]].state = BLOCK_LOST;
	return 0;
}

/*
 * A reused block with the closed marker of an earlier generation was never
 * opened by its holder, unless Redis lost its grant: then Redis may also have
 * lost its opening, and links that never end.  Such a block counts as lost,
 * like a block of the first generation without a marker.
 */
static void find_forgotten(struct chunk *c, const struct space_gaps *gaps)
{
	for (size_t i = 0; i < c->range_count; i++) {
		uint32_t generation = c->ranges[i].member.generation;
		size_t end = c->offsets[i] + scanned_blocks(&c->ranges[i]);

		for (size_t at = c->offsets[i]; at < end; at++)
			if (is_former(&c->scans[at], generation) &&
			    space_gaps_has(gaps, c->blocks[at], generation))
				c->scans[at].state = BLOCK_LOST;
	}
}

/* Marks are read after markers, and are removed when a block is opened: a block
 * that lost its mark in between has a marker by now. */
static int look_again(struct chunk *c, struct redis *redis,
		      const struct link_space *space, int64_t now,
		      struct error *err)
{
	size_t count = choose_blocks_in_state(c, BLOCK_LOST, false);

	if (count && block_scan_read(redis, space, c->chosen.blocks, count, now,
				     c->chosen.closed, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (c->chosen.closed[i].generation >= c->chosen.generations[i])
			c->scans[c->chosen.at[i]] = c->chosen.closed[i];
	return 0;
}

int chunk_scan(struct chunk *c, struct redis *redis,
	       const struct link_space *space, const struct space_gaps *gaps,
	       int64_t now, struct error *err)
{
	if (block_scan_read(redis, space, c->blocks, c->block_count, now,
			    c->scans, err) < 0 ||
	    find_unopened(c, redis, space, err) < 0)
		return -1;
	find_forgotten(c, gaps);
	if (find_unproven(c, redis, space, err) < 0)
		return -1;
	return look_again(c, redis, space, now, err);
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

/* Chooses the ended blocks of one generation; returns their number. */
static size_t choose_ended(struct chunk *c, uint32_t generation)
{
	size_t count = 0;

	for (size_t i = 0; i < c->range_count; i++) {
		const struct scanned_range *r = &c->ranges[i];
		size_t end = c->offsets[i] + scanned_blocks(r);

		if (r->member.generation != generation)
			continue;
		for (size_t at = c->offsets[i]; at < end; at++) {
			if (c->scans[at].state != BLOCK_ENDED)
				continue;
			c->chosen.blocks[count] = c->blocks[at];
			c->chosen.at[count++] = at;
		}
	}
	return count;
}

static int close_unopened(struct chunk *c, struct redis *redis,
			  const struct link_space *space, int64_t now,
			  struct error *err)
{
	size_t count = choose_blocks_in_state(c, BLOCK_UNOPENED, false);

	if (reclaim_close_unopened(redis, space, c->chosen.blocks,
				   c->chosen.generations, count, now,
				   c->chosen.closed, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		c->scans[c->chosen.at[i]] = c->chosen.closed[i];
	return 0;
}

int chunk_close(struct chunk *c, struct redis *redis,
		const struct link_space *space, int64_t now, struct error *err)
{
	uint32_t generation = 0;
	size_t count;

	while ((generation = generation_above(c, generation))) {
		count = choose_ended(c, generation);
		if (count &&
		    block_scan_close(redis, space, c->chosen.blocks, count,
				     generation, c->chosen.closed, err) < 0)
			return -1;
		for (size_t i = 0; i < count; i++)
			c->scans[c->chosen.at[i]] = c->chosen.closed[i];
	}
	return close_unopened(c, redis, space, now, err);
}

/* --- the sample ----------------------------------------------------------- */

static int check_links(struct redis *redis, const struct reclaim_lock *lock,
		       uint64_t block, struct error *err)
{
	uint64_t links;

	if (reclaim_lock_keep(redis, lock, err) < 0 ||
	    link_count_read(redis, lock->space, lock, block, &links, err) < 0)
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

/* The first sample is among the first blocks that ended, before anything is
 * pooled; the others are random, `every` blocks apart on average. */
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
		if (c->scans[i].state == BLOCK_ENDED)
			c->chosen.blocks[count++] = c->blocks[i];
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
		if (check_links(redis, lock, c->chosen.blocks[i], err) < 0 ||
		    plan_sample(sampler, count, err) < 0)
			return -1;
		tally->sampled++;
	}
	return 0;
}

/* --- counting ------------------------------------------------------------- */

static void count_block(const struct block_scan *scan, bool in_gap,
			struct tally *tally)
{
	tally->scanned++;
	switch (scan->state) {
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

/* Index after the last scan of a range. */
static size_t scans_end(const struct chunk *c, size_t range)
{
	return c->offsets[range] + scanned_blocks(&c->ranges[range]);
}

static void count_range(const struct chunk *c, size_t range,
			const struct space_gaps *gaps, struct tally *tally)
{
	uint32_t generation = c->ranges[range].member.generation;
	size_t end = scans_end(c, range);

	for (size_t at = c->offsets[range]; at < end; at++)
		count_block(
			&c->scans[at],
			c->scans[at].state == BLOCK_LOST &&
				space_gaps_has(gaps, c->blocks[at], generation),
			tally);
}

/* Adds the scans of ranges `from` to `to` - 1 to the tally. */
static void count_ranges(const struct chunk *c, size_t from, size_t to,
			 const struct space_gaps *gaps, struct tally *tally)
{
	for (size_t i = from; i < to; i++)
		count_range(c, i, gaps, tally);
}

void chunk_count(const struct chunk *c, const struct space_gaps *gaps,
		 struct tally *tally)
{
	count_ranges(c, 0, c->range_count, gaps, tally);
}

/* --- settling ------------------------------------------------------------- */

/* Members that one script settles (about 4 us each), and how many such scripts
 * are sent before their answers are read. */
#define SETTLE_MAX   128
#define SETTLE_AHEAD 3

/* Context for settling a chunk. */
struct settling {
	struct chunk *chunk;
	struct redis *redis;
	const struct reclaim_lock *lock;
	const struct settle_merge *merge;
	const struct space_gaps *gaps;
	struct tally *tally;
};

/* Fills the chunk's members and parts; returns the number of parts. */
static size_t plan_ranges(const struct settling *s, size_t from, size_t to)
{
	struct chunk *c = s->chunk;

	for (size_t i = from; i < to; i++)
		c->members[i - from] = c->ranges[i].member;
	return settle_plan(&c->ranges[from], to - from,
			   &c->scans[c->offsets[from]], s->merge, c->parts);
}

static int settle_ranges(const struct settling *s, size_t from, size_t to,
			 struct error *err)
{
	size_t parts = plan_ranges(s, from, to);

	return reclaim_settle(s->redis, s->lock, s->chunk->members, to - from,
			      s->chunk->parts, parts, err);
}

/* A script settles all or nothing, so halving finds the members that
 * vanished. */
static int settle_by_halves(const struct settling *s, size_t from, size_t to,
			    struct error *err)
{
	struct error why = {0};
	size_t middle = from + (to - from) / 2;
	size_t blocks;

	if (settle_ranges(s, from, to, &why) == 0) {
		count_ranges(s->chunk, from, to, s->gaps, s->tally);
		return 0;
	}
	if (why.code != ERROR_NOTFOUND) {
		*err = why;
		return -1;
	}
	if (to - from == 1) {
		blocks = scanned_blocks(&s->chunk->ranges[from]);
		s->tally->scanned += blocks;
		s->tally->skipped += blocks;
		return 0;
	}
	if (settle_by_halves(s, from, middle, err) < 0)
		return -1;
	return settle_by_halves(s, middle, to, err);
}

/* Most parts that a range can be divided into. */
static size_t parts_of(const struct chunk *c, size_t range)
{
	size_t end = scans_end(c, range), parts = 2;

	for (size_t at = c->offsets[range] + 1; at < end; at++)
		parts += c->scans[at].state != c->scans[at - 1].state ||
			 c->scans[at].end != c->scans[at - 1].end;
	return parts;
}

/* Returns the end of the ranges, from number `from` on, that one script
 * settles: few enough for a short script, but at least one. */
static size_t settle_upto(const struct chunk *c, size_t from)
{
	size_t to = from, parts = 0;

	while (to < c->range_count && to - from < SETTLE_MAX) {
		parts += parts_of(c, to);
		if (to > from && parts > 2 * SETTLE_MAX)
			break;
		to++;
	}
	return to;
}

/* --- pipeline ------------------------------------------------------------ */

/* The ranges that one script settles. */
struct script {
	size_t from, to;
};

/* Scripts that are sent and not yet answered, the oldest at `taken`. */
struct pipeline {
	struct script scripts[SETTLE_AHEAD];
	size_t sent, taken;
	size_t next; /* next range to send */
	struct script refused[SETTLE_AHEAD];
	size_t refused_count;
	bool failed;
	struct error err; /* the first failure */
};

static void note_failure(struct pipeline *p, const struct error *why)
{
	if (!p->failed)
		p->err = *why;
	p->failed = true;
}

/* Sends no more scripts after one was refused. */
static void send_scripts(const struct settling *s, struct pipeline *p)
{
	struct script *script;
	struct error why;
	size_t parts;

	while (p->sent - p->taken < SETTLE_AHEAD && !p->failed &&
	       !p->refused_count && p->next < s->chunk->range_count) {
		script = &p->scripts[p->sent % SETTLE_AHEAD];
		*script = (struct script){p->next,
					  settle_upto(s->chunk, p->next)};
		parts = plan_ranges(s, script->from, script->to);
		if (reclaim_settle_send(s->redis, s->lock, s->chunk->members,
					script->to - script->from,
					s->chunk->parts, parts, &why) < 0) {
			note_failure(p, &why);
			return;
		}
		p->next = script->to;
		p->sent++;
	}
}

static void take_script(const struct settling *s, struct pipeline *p)
{
	const struct script *script = &p->scripts[p->taken++ % SETTLE_AHEAD];
	struct error why;

	if (reclaim_settle_take(s->redis, s->lock, &why) == 0)
		count_ranges(s->chunk, script->from, script->to, s->gaps,
			     s->tally);
	else if (why.code == ERROR_NOTFOUND)
		p->refused[p->refused_count++] = *script;
	else
		note_failure(p, &why);
}

int chunk_settle(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock,
		 const struct settle_merge *merge,
		 const struct space_gaps *gaps, struct tally *tally,
		 struct error *err)
{
	const struct settling s = {c, redis, lock, merge, gaps, tally};
	struct pipeline p = {.next = 0};

	do {
		send_scripts(&s, &p);
		while (p.taken < p.sent) {
			take_script(&s, &p);
			send_scripts(&s, &p);
		}
		for (size_t i = 0; i < p.refused_count && !p.failed; i++)
			if (settle_by_halves(&s, p.refused[i].from,
					     p.refused[i].to, err) < 0)
				return -1;
		p.refused_count = 0;
	} while (p.next < c->range_count && !p.failed);
	if (!p.failed)
		return 0;
	*err = p.err;
	return -1;
}
