/*
 * space_record.h - the space record, which is created once by hand and checked
 * at every start.
 */
#ifndef LINKSTORE_SPACE_SPACE_RECORD_H
#define LINKSTORE_SPACE_SPACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

enum space_created {
	SPACE_CREATED,	/* it did not exist */
	SPACE_EXTENDED, /* it existed; new key versions were added */
	SPACE_UNCHANGED,
};

/*
 * Creates the space in Redis, its cursor at `first_block`: 0, or above every
 * block that the archive knows if Redis lost the space.  A space without blocks
 * has no cursor, and `first_block` is 0.  The record gets the method of a hash
 * space's codes, if the configuration leaves it to the record.  A space that
 * exists is compared, and key versions new to it are added.  Any other
 * difference is ERROR_CONFIG.  A cursor, pool or issued set without a space
 * record is ERROR_UNSAFE.
 */
int space_create(struct redis *redis, const struct link_space *space,
		 uint64_t first_block, enum space_created *ret_created,
		 struct error *err);

/* Reads whether this Redis has a record of the space. */
int space_exists(struct redis *redis, const struct link_space *space,
		 bool *ret_exists, struct error *err);

/* The intended use of a space. */
enum space_use {
	SPACE_TO_READ,	  /* find links */
	SPACE_TO_ISSUE,	  /* find links, and make codes */
	SPACE_TO_RECLAIM, /* search for every link that may exist */
};

/*
 * Compares the record with the configuration: number, length, strategy, block
 * size, symbols, the method of a hash space's codes and the fingerprint of each
 * key.  ERROR_CONFIG: they differ, and the program must not compute keys of its
 * own (exit 78).  ERROR_NOTFOUND: the space was not created (not ready, 503).
 *
 * A configured key version that the record does not have is not a difference:
 * no code has been made with it.  It is ERROR_UNSAFE only if this program is to
 * make codes with it.  A version that the record has and the configuration
 * lacks is noted (linkstore_missing_keys); it is ERROR_CONFIG for
 * SPACE_TO_RECLAIM if codes were made with it.
 *
 * On success it has noted the cursor of a space with blocks
 * (linkstore_note_cursor) and the method of a hash space's codes
 * (linkstore_note_hash_codes).
 */
int space_check(struct redis *redis, const struct link_space *space,
		enum space_use use, struct error *err);

/* err is NULL on success, otherwise as for space_check. */
typedef void space_done_fn(void *arg, const struct error *err);
int space_check_async(struct redis_async *redis, const struct link_space *space,
		      enum space_use use, space_done_fn *fn, void *arg,
		      struct error *err);

/* Reads the cursor and notes it.  ERROR_NOTFOUND: there is none. */
int space_read_cursor(struct redis *redis, const struct link_space *space,
		      uint64_t *ret_cursor, struct error *err);

#endif
