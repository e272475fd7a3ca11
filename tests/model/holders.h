/*
 * holders.h - the allocators of the model: they take blocks, open them, make
 * links, hand back unused blocks, crash, and sometimes sleep beyond the end of
 * a hold and then go on.
 */
#ifndef TESTS_MODEL_HOLDERS_H
#define TESTS_MODEL_HOLDERS_H

#include "linkstore/block/block.h"
#include "linkstore/range.h"
#include "tests/model/lives.h"

#define HOLDERS	 4
#define HELD_MAX 48

/* A block that an allocator regards as its own. */
struct held {
	struct link_block block;
	size_t space;
	struct block_range whole; /* the member that it was granted in */
	int64_t deadline;	  /* clock_boottime_ms */
	unsigned forgets; /* how often Redis had forgotten at that time */
	bool open;
	bool moved;    /* an operator has moved its block */
	uint32_t next; /* the offset of the next link */
};

struct holder {
	struct held held[HELD_MAX];
	size_t count;
	struct high_water high_water[WORLD_SPACES];
	/* The process is stopped (SIGSTOP) until then, by clock_boottime_ms;
	 * after that it uses what it holds before it reads the clock. */
	int64_t asleep_until;
	bool drowsy;
	bool deep; /* not woken before its blocks have other holders */
};

struct holders {
	struct world *world;
	struct lives *lives;
	struct holder all[HOLDERS];
	unsigned forgets;
	/* Before Redis forgets, no more is granted than its gap covers.
	 * UINT64_MAX: any number. */
	uint64_t budget[WORLD_SPACES];
	struct high_water witness[WORLD_SPACES]; /* all grants */
	uint64_t links;				 /* the number of links made */
};

void holders_init(struct holders *h, struct world *w, struct lives *l);

/* Each function does one operation of a random allocator. */
void holders_grant(struct holders *h);
void holders_open(struct holders *h);
void holders_create(struct holders *h);
void holders_hand_back(struct holders *h);
/* An allocator forgets everything it holds. */
void holders_crash(struct holders *h);
/* An allocator is stopped for a while. */
void holders_sleep(struct holders *h);
/* An allocator whose blocks have ended goes on, and sends what was queued. */
void holders_wake(struct holders *h);
/* An operator moved blocks. */
void holders_moved(struct holders *h, size_t space, uint64_t first,
		   uint64_t last);
/* An allocator that has seen the latest state of each space reports it. */
void holders_witness(struct holders *h);
/* An allocator connects to Redis again and reports what it has seen. */
void holders_raise_cursor(struct holders *h);

#endif
