/*
 * members.h - walking the sets of a space: what is issued, pooled and out.
 *
 * The sets are read by ZSCAN, in pages, so that others get their turn and
 * memory stays bounded however many ranges there are.  What ZSCAN promises: a
 * member that is there from the first page to the last is told at least once.
 * One that comes or goes meanwhile may be told or not, and any may be told
 * twice.  So one walk proves nothing of a space in use; see space_movement.
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
/* As scripts call it: 'p', 'i', 'o'. */
char space_set_letter(enum space_set set);

struct set_member {
	enum space_set set;
	struct block_range range; /* when `sound` */
	int64_t score;		  /* ms; DURATION_NEVER */
	bool sound;		  /* false: `text` is no member at all */
	const char *text;	  /* as it stands; may hold any bytes */
	size_t len;
};

/* `member` is valid during the call.  May use the connection.  -1 ends the
 * walk. */
typedef int set_member_fn(void *arg, const struct set_member *member,
			  struct error *err);

/*
 * Calls `fn` for the members of one set.  A member that is not written exactly
 * as range_format writes it is not sound.
 */
int space_walk(struct redis *redis, const struct link_space *space,
	       enum space_set set, set_member_fn *fn, void *arg,
	       struct error *err);

#define MOVEMENT_TEXT_MAX 256

/* What tells a space at rest from one in use. */
struct space_movement {
	uint64_t cursor;
	uint64_t first;	  /* block the space began with */
	uint64_t retired; /* blocks out of generations */
	int64_t now;	  /* ms, Redis' clock */
	/* While it stays the same, no member has come or gone: counters of all
	 * the scripts that move blocks. */
	char text[MOVEMENT_TEXT_MAX];
};

/* ERROR_UNSAFE: the space has no record, or no cursor. */
int space_read_movement(struct redis *redis, const struct link_space *space,
			struct space_movement *ret_movement, struct error *err);

#endif
