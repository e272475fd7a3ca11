/* scene.h - a chunk during a run, with a real Redis. */
#ifndef TESTS_UNIT_RECLAIMER_SCENE_H
#define TESTS_UNIT_RECLAIMER_SCENE_H

#include "tests/unit/reclaimer/issued.h"

#include "reclaimer/space/chunk.h"

enum {
	BLOCKS = 1000
};

/* The blocks 0, 2, 4 ... have ended, each in a member of its own; they are
 * closed and ready to be settled. */
struct scene {
	struct due_feed *feed;
	struct chunk *chunk;
	struct space_gaps *gaps;
	struct reclaim_lock lock;
	struct tally tally;
};

/* Fills a chunk with the due members. */
static inline struct scene fill_scene(struct fixture *f)
{
	const struct due_span all = {0};
	struct scene s = {0};
	size_t blocks;

	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &s.lock,
				  &f->err));
	must(f, space_gaps_read(f->server.redis, f->space, &s.gaps, &f->err));
	s.feed = due_feed_new(f->server.redis, f->space, all, 4096, false,
			      &f->err);
	s.chunk = chunk_new(4096, &f->err);
	must(f, chunk_fill(s.chunk, s.feed, 4096, &blocks, &f->err));
	return s;
}

static inline int scan_scene(struct fixture *f, struct scene *s)
{
	return chunk_scan(s->chunk, f->server.redis, f->space, s->gaps,
			  due_feed_now(s->feed), &f->err);
}

static inline int close_blocks(struct fixture *f, struct scene *s)
{
	return chunk_close(s->chunk, f->server.redis, f->space, clock_real_ms(),
			   &f->err);
}

static inline struct scene open_scene(struct fixture *f)
{
	struct scene s;

	for (int i = 0; i < BLOCKS; i++)
		put_block(f, 2 * i);
	s = fill_scene(f);
	must(f, scan_scene(f, &s));
	must(f, close_blocks(f, &s));
	return s;
}

static inline int settle_scene(struct fixture *f, struct scene *s)
{
	const struct settle_merge merge = {0};

	return chunk_settle(s->chunk, f->server.redis, &s->lock, &merge,
			    s->gaps, &s->tally, &f->err);
}

static inline void close_scene(struct scene *s)
{
	chunk_free(s->chunk);
	due_feed_free(s->feed);
	space_gaps_free(s->gaps);
}

#endif
