/*
 * lives.h - the model: every link that was answered, how long it must exist,
 * and from when on another link may have its code.
 *
 * The model sends no queries to Redis.  Times are Redis' (ms since 1970); a
 * call happened between the clock before it and the clock after it, so a link
 * has a time until which it surely exists and one from which on it is surely
 * gone.
 */
#ifndef TESTS_MODEL_LIVES_H
#define TESTS_MODEL_LIVES_H

#include "linkstore/block/lookup.h"
#include "tests/model/map.h"
#include "tests/model/world.h"

/* The readings of the clock before and after an event. */
struct span {
	int64_t before, after;
};

struct life {
	struct link_target target;
	uint64_t link_id;
	uint32_t generation;
	uint32_t version;
	char url[40];
	int64_t there_until; /* it surely exists until then, unless `doubtful`
			      */
	int64_t gone_by;     /* it is surely gone from then on */
	int64_t promised;    /* no other link has the code before */
	int64_t kept;	     /* `promised` if Redis forgets now */
	int64_t unblocked;   /* `promised` if it were let go now */
	bool blocked;	     /* it does not end */
	bool deleted;	     /* a tombstone is stored */
	bool touched;	     /* since the append-only file was kept */
	bool doubtful;	     /* Redis has forgotten a part of it */
	uint64_t checked;    /* found by the check of this number */
};

struct lives {
	struct world *world;
	struct life *all;
	size_t count, room;
	struct map by_id;   /* link_id: index + 1 */
	struct map by_slot; /* space and id: index + 1 of the newest link */
	struct map opened;  /* space, block, generation: hash of the holder */
	struct map granted; /* the same */
	struct map highest; /* space, block: the highest granted generation */
	/* Space, block, generation: the end of the wait of a returned block. */
	struct map waiting;
	uint64_t checks; /* the number of checks so far */
	/* A node with blocks may have forgotten that it closed some: an
	 * allocator that is granted one of these drops it. */
	bool closes_forgotten;
};

void lives_init(struct lives *l, struct world *w);
void lives_free(struct lives *l);

/* Each records an answer of linkstore, and fails if the answer is not allowed.
 */
void lives_granted(struct lives *l, size_t space, uint64_t block,
		   uint32_t generation, const char *holder);
/* The block will be granted under `generation` again.  `before`: the clock
 * before the call. */
void lives_handed_back(struct lives *l, size_t space, uint64_t block,
		       uint32_t generation, int64_t before);
void lives_opened(struct lives *l, size_t space, uint64_t block,
		  uint32_t generation, const char *holder);
/* `ends`: as answered.  `in_time`: the call was within the hold. */
struct life *lives_created(struct lives *l, const struct link_target *target,
			   const Shortloop__Link *link, int64_t ends,
			   struct span when, bool in_time);
void lives_looked_up(struct lives *l, const struct link_target *target,
		     const struct link_answer *answer, struct span when);
/* `ends` is between `from` and `to`. */
void lives_prolonged(struct lives *l, struct life *life, int64_t from,
		     int64_t to);

/* Records whether the link is blocked; call it before lives_prolonged sets the
 * end. */
void lives_moderated(struct life *life, bool blocked);

/* Returns NULL if the id was never answered. */
struct life *lives_of_id(const struct lives *l, uint64_t link_id);
/* Returns the newest link of the code, or NULL. */
struct life *lives_of_code(const struct lives *l,
			   const struct link_target *target);
/* Returns any of the last few hundred links, or NULL. */
struct life *lives_any(const struct lives *l);

/* lives_keep: the append-only file is saved; lives_forget: Redis is restored
 * from it. */
void lives_keep(struct lives *l);
void lives_forget(struct lives *l);

static inline bool life_is_there(const struct life *life, int64_t now)
{
	return !life->doubtful && now < life->there_until;
}

/* Returns a tag such as "s5:17", which messages about the link begin with. */
const char *life_tag(const struct life *life, char text[64]);

#endif
