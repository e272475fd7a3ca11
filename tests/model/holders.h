/*
 * holders.h - the allocators of the model: they take blocks, open them, make
 * links, hand back what they did not use, crash, and sometimes sleep past the
 * end of what they hold and then go on.
 */
#ifndef TESTS_MODEL_HOLDERS_H
#define TESTS_MODEL_HOLDERS_H

#include "linkstore/block/block.h"
#include "linkstore/range.h"
#include "tests/model/lives.h"

#define HOLDERS	 4
#define HELD_MAX 48

/* A block that an allocator believes to be its own. */
struct held {
	struct link_block block;
	size_t space;
	struct block_range whole; /* the member it was granted in */
	int64_t deadline;	  /* clock_boottime_ms */
	unsigned forgets;	  /* how often Redis had forgotten by then */
	bool open;
	bool moved;    /* an operator has put its block elsewhere */
	uint32_t next; /* offset of the next link */
};

struct holder {
	struct held held[HELD_MAX];
	size_t count;
	struct high_water high_water[WORLD_SPACES];
	/* Stopped (SIGSTOP) until then, on clock_boottime_ms; when it goes on
	 * it does not look at the clock before it has used what it has. */
	int64_t asleep_until;
	bool drowsy;
	bool deep; /* not woken before: its blocks are another's by then */
};

struct holders {
	struct world *world;
	struct lives *lives;
	struct holder all[HOLDERS];
	unsigned forgets;
	/* While Redis is about to forget: no more is granted than its gap
	 * covers.  UINT64_MAX: any number. */
	uint64_t budget[WORLD_SPACES];
	struct high_water witness[WORLD_SPACES]; /* all that was granted */
	uint64_t links;				 /* made, in all */
};

void holders_init(struct holders *h, struct world *w, struct lives *l);

/* One thing that an allocator does, each. */
void holders_grant(struct holders *h);
void holders_open(struct holders *h);
void holders_create(struct holders *h);
void holders_hand_back(struct holders *h);
/* One forgets all it holds. */
void holders_crash(struct holders *h);
/* One is stopped for a while. */
void holders_sleep(struct holders *h);
/* One whose blocks have ended meanwhile goes on, and sends what was queued. */
void holders_wake(struct holders *h);
/* Blocks were moved by hand. */
void holders_moved(struct holders *h, size_t space, uint64_t first,
		   uint64_t last);
/* One that has seen the latest of each space says so. */
void holders_witness(struct holders *h);
/* One meets Redis again and says what it has seen. */
void holders_raise_cursor(struct holders *h);

#endif
