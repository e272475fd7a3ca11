/*
 * members.h - walks the sets of a space: issued, pool and out.
 *
 * The sets are read by ZSCAN in pages, so that other clients are served in
 * between and memory stays bounded, however many ranges there are.  ZSCAN
 * guarantees that a member which is there from the first page to the last is
 * returned at least once.  A member that comes or goes meanwhile may be
 * returned or not, and any may be returned twice.  So one walk proves nothing
 * about a space in use; see space_movement.
 */
#ifndef LINKSTORE_SPACE_MEMBERS_H
#define LINKSTORE_SPACE_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"
#include "linkstore/range.h"

enum space_set {
	SET_POOL,
	SET_ISSUED,
	SET_OUT, /* taken out of circulation by hand */
	SET_COUNT_OF,
};

/* "pool", "issued", "out": also the keys' prefixes. */
const char *space_set_name(enum space_set set);
/* The letters that scripts use: 'p', 'i', 'o'. */
char space_set_letter(enum space_set set);

struct set_member {
	enum space_set set;
	struct block_range range; /* valid if `sound` */
	int64_t score;		  /* ms; DURATION_NEVER */
	bool sound;		  /* false: `text` is not a range */
	const char *text;	  /* unchanged; may hold any bytes */
	size_t len;
};

/* `member` is valid during the call.  The callback may use the connection; -1
 * ends the walk. */
typedef int set_member_fn(void *arg, const struct set_member *member,
			  struct error *err);

/*
 * Calls `fn` for the members of one set.  A member is sound only if it is
 * written exactly as range_format writes it.
 */
int space_walk(struct redis *redis, const struct link_space *space,
	       enum space_set set, set_member_fn *fn, void *arg,
	       struct error *err);

#define MOVEMENT_TEXT_MAX 256

/* Shows whether a space is in use: two readings differ then. */
struct space_movement {
	uint64_t cursor;
	uint64_t first;	  /* first block of the space */
	uint64_t retired; /* number of blocks out of generations */
	int64_t now;	  /* ms, Redis' clock */
	/* If two readings are equal, no member has come or gone in between:
	 * these are the counters of all scripts that move blocks. */
	char text[MOVEMENT_TEXT_MAX];
};

/* ERROR_UNSAFE: the space has no record, or no cursor. */
int space_read_movement(struct redis *redis, const struct link_space *space,
			struct space_movement *ret_movement, struct error *err);

#endif
