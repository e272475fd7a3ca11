/* Telling Redis what became of a chunk. */
#include "reclaimer/space/chunk_inside.h"

/* Members that one script settles, of about 4 us each, and how many of those
 * scripts are sent ahead of their answers. */
#define SETTLE_MAX   128
#define SETTLE_AHEAD 3

/* What settling goes by. */
struct settling {
	struct chunk *chunk;
	struct redis *redis;
	const struct reclaim_lock *lock;
	const struct settle_merge *merge;
	const struct reclaim_gaps *gaps;
	struct tally *tally;
};

/* Fills the chunk's members and parts; returns how many parts. */
static size_t plan_ranges(const struct settling *s, size_t from, size_t to)
{
	struct chunk *c = s->chunk;

	for (size_t i = from; i < to; i++)
		c->members[i - from] = c->ranges[i].member;
	return settle_plan(&c->ranges[from], to - from,
			   &c->looks[c->offsets[from]], s->merge, c->parts);
}

static int settle_ranges(const struct settling *s, size_t from, size_t to,
			 struct error *err)
{
	size_t parts = plan_ranges(s, from, to);

	return reclaim_settle(s->redis, s->lock, s->chunk->members, to - from,
			      s->chunk->parts, parts, err);
}

/* Settle is all or nothing, so halving finds the members that vanished. */
static int settle_what_is_there(const struct settling *s, size_t from,
				size_t to, struct error *err)
{
	struct error why = {0};
	size_t middle = from + (to - from) / 2;
	size_t blocks;

	if (settle_ranges(s, from, to, &why) == 0) {
		chunk_count_ranges(s->chunk, from, to, s->gaps, s->tally);
		return 0;
	}
	if (why.code != ERROR_NOTFOUND) {
		*err = why;
		return -1;
	}
	if (to - from == 1) {
		blocks = looked_blocks(&s->chunk->ranges[from]);
		s->tally->scanned += blocks;
		s->tally->skipped += blocks;
		return 0;
	}
	if (settle_what_is_there(s, from, middle, err) < 0)
		return -1;
	return settle_what_is_there(s, middle, to, err);
}

/* Parts that a range can fall into, at most. */
static size_t parts_of(const struct chunk *c, size_t range)
{
	size_t end = chunk_looks_end(c, range), parts = 2;

	for (size_t at = c->offsets[range] + 1; at < end; at++)
		parts += c->looks[at].state != c->looks[at - 1].state ||
			 c->looks[at].end != c->looks[at - 1].end;
	return parts;
}

/* The ranges from number `from` on that one script settles: so many that Redis
 * is soon done with it, and at least one. */
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

/* --- some at a time ------------------------------------------------------- */

/* Ranges that one script settles. */
struct batch {
	size_t from, to;
};

/* Scripts under way, the oldest at `taken`. */
struct pipeline {
	struct batch batches[SETTLE_AHEAD];
	size_t sent, taken;
	size_t next; /* range to be sent */
	struct batch refused[SETTLE_AHEAD];
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

/* Nothing more is sent once something was refused. */
static void send_batches(const struct settling *s, struct pipeline *p)
{
	struct batch *b;
	struct error why;
	size_t parts;

	while (p->sent - p->taken < SETTLE_AHEAD && !p->failed &&
	       !p->refused_count && p->next < s->chunk->range_count) {
		b = &p->batches[p->sent % SETTLE_AHEAD];
		*b = (struct batch){p->next, settle_upto(s->chunk, p->next)};
		parts = plan_ranges(s, b->from, b->to);
		if (reclaim_settle_send(s->redis, s->lock, s->chunk->members,
					b->to - b->from, s->chunk->parts, parts,
					&why) < 0) {
			note_failure(p, &why);
			return;
		}
		p->next = b->to;
		p->sent++;
	}
}

static void take_batch(const struct settling *s, struct pipeline *p)
{
	const struct batch *b = &p->batches[p->taken++ % SETTLE_AHEAD];
	struct error why;

	if (reclaim_settle_take(s->redis, s->lock, &why) == 0)
		chunk_count_ranges(s->chunk, b->from, b->to, s->gaps, s->tally);
	else if (why.code == ERROR_NOTFOUND)
		p->refused[p->refused_count++] = *b;
	else
		note_failure(p, &why);
}

int chunk_settle(struct chunk *c, struct redis *redis,
		 const struct reclaim_lock *lock,
		 const struct settle_merge *merge,
		 const struct reclaim_gaps *gaps, struct tally *tally,
		 struct error *err)
{
	const struct settling s = {c, redis, lock, merge, gaps, tally};
	struct pipeline p = {.next = 0};

	do {
		send_batches(&s, &p);
		while (p.taken < p.sent) {
			take_batch(&s, &p);
			send_batches(&s, &p);
		}
		for (size_t i = 0; i < p.refused_count && !p.failed; i++)
			if (settle_what_is_there(&s, p.refused[i].from,
						 p.refused[i].to, err) < 0)
				return -1;
		p.refused_count = 0;
	} while (p.next < c->range_count && !p.failed);
	if (!p.failed)
		return 0;
	*err = p.err;
	return -1;
}
