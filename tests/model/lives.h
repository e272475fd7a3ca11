/*
 * lives.h - the model: every link that was answered, how long it must be there,
 * and from when on its code may be another's.
 *
 * Nothing of this asks Redis.  Times are Redis' (ms since 1970); what happened
 * in a call happened between the clock before it and the clock after it, so a
 * link has a time until which it is surely there and one from which on it is
 * surely gone.
 */
#ifndef TESTS_MODEL_LIVES_H
#define TESTS_MODEL_LIVES_H

#include "linkstore/block/lookup.h"
#include "tests/model/map.h"
#include "tests/model/world.h"

/* Between which readings of the clock something happened. */
struct span {
	int64_t before, after;
};

struct life {
	struct link_target target;
	uint64_t link_id;
	uint32_t generation;
	uint32_t version;
	char url[40];
	int64_t there_until; /* surely there before, unless `doubtful` */
	int64_t gone_by;     /* surely gone from then on */
	int64_t promised;    /* nobody else has the code before */
	int64_t kept;	     /* `promised`, if Redis forgets now */
	int64_t unblocked;   /* `promised`, were it let go now */
	bool blocked;	     /* it does not end */
	bool deleted;	     /* what is there is a tombstone */
	bool touched;	     /* since the append-only file was kept */
	bool doubtful;	     /* Redis has forgotten something of it */
	uint64_t checked;    /* met by the check of this number */
};

struct lives {
	struct world *world;
	struct life *all;
	size_t count, room;
	struct map by_id;   /* link_id: index + 1 */
	struct map by_slot; /* space and id: index + 1 of the newest */
	struct map opened;  /* space, block, generation: hash of the holder */
	struct map granted; /* the same */
	struct map highest; /* space, block: highest generation granted */
	/* Space, block, generation: until when one that was handed back waits.
	 */
	struct map waiting;
	uint64_t checks; /* of everything, so far */
	/* A node of blocks may have forgotten to have closed some: who is
	 * granted one of them drops it. */
	bool closes_forgotten;
};

void lives_init(struct lives *l, struct world *w);
void lives_free(struct lives *l);

/* Told of what linkstore has answered; each fails where it must not be. */
void lives_granted(struct lives *l, size_t space, uint64_t block,
		   uint32_t generation, const char *holder);
/* To be granted under `generation` again.  `before`: the clock, before. */
void lives_handed_back(struct lives *l, size_t space, uint64_t block,
		       uint32_t generation, int64_t before);
void lives_opened(struct lives *l, size_t space, uint64_t block,
		  uint32_t generation, const char *holder);
/* `ends`: as answered.  `in_time`: within the hold. */
struct life *lives_created(struct lives *l, const struct link_target *target,
			   const Shortloop__Link *link, int64_t ends,
			   struct span when, bool in_time);
void lives_looked_up(struct lives *l, const struct link_target *target,
		     const struct link_answer *answer, struct span when);
/* `ends` lies between these two. */
void lives_prolonged(struct lives *l, struct life *life, int64_t from,
		     int64_t to);

/* It was blocked, or let go, or neither: before lives_prolonged says how long
 * it has. */
void lives_moderated(struct life *life, bool blocked);

/* NULL: never answered. */
struct life *lives_of_id(const struct lives *l, uint64_t link_id);
/* The newest of the code, or NULL. */
struct life *lives_of_code(const struct lives *l,
			   const struct link_target *target);
/* Any of the last few hundred, or NULL. */
struct life *lives_any(const struct lives *l);

/* The append-only file is kept as it is; Redis is back at that. */
void lives_keep(struct lives *l);
void lives_forget(struct lives *l);

static inline bool life_is_there(const struct life *life, int64_t now)
{
	return !life->doubtful && now < life->there_until;
}

/* "s5:17", first in what is said of it. */
const char *life_tag(const struct life *life, char text[64]);

#endif
