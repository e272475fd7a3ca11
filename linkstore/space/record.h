/*
 * record.h - the space record: created once by hand, checked at every start.
 */
#ifndef LINKSTORE_SPACE_RECORD_H
#define LINKSTORE_SPACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"

enum space_created {
	SPACE_CREATED,	/* it was not there */
	SPACE_EXTENDED, /* it was there; key versions new to it were added */
	SPACE_UNCHANGED,
};

/*
 * Creates the space in Redis, its cursor at `first_block` (0, or above every
 * block the archive knows when Redis lost the space; a space without blocks has
 * no cursor, and `first_block` is 0).  How the codes of a hash space are made
 * is noted, where the configuration leaves that to the record.  A space that is
 * there is compared, and key versions new to it are added.  Any other
 * difference is ERROR_CONFIG; a cursor, pool or issued set without a space
 * record is ERROR_UNSAFE.
 */
int space_create(struct redis *redis, const struct link_space *space,
		 uint64_t first_block, enum space_created *ret_created,
		 struct error *err);

/* Has this Redis a record of the space? */
int space_exists(struct redis *redis, const struct link_space *space,
		 bool *ret_exists, struct error *err);

/* What a program means to do with a space. */
enum space_use {
	SPACE_TO_READ,	  /* find links */
	SPACE_TO_ISSUE,	  /* the same, and make codes */
	SPACE_TO_RECLAIM, /* look for every link there may be */
};

/*
 * Compares the record with the configuration: number, length, strategy, block
 * size, symbols, how a hash space's codes are made and the fingerprint of each
 * key.  ERROR_CONFIG when they differ
 * (the program must not compute keys of its own: exit 78), ERROR_NOTFOUND when
 * the space was not created (not ready, 503).
 *
 * A configured key version that the record does not have is no difference: no
 * code has been made with it.  Only who is to make codes with it gets
 * ERROR_UNSAFE.  One that the record has and the configuration lacks is noted
 * (linkstore_missing_keys) and is ERROR_CONFIG for SPACE_TO_RECLAIM if codes
 * were made with it.
 *
 * On success the cursor of a space that has blocks has been noted
 * (linkstore_note_cursor), and how the codes of a hash space are made
 * (linkstore_note_hash_codes).
 */
int space_check(struct redis *redis, const struct link_space *space,
		enum space_use use, struct error *err);

/* err is NULL on success, else as space_check. */
typedef void space_done_fn(void *arg, const struct error *err);
int space_check_async(struct redis_async *redis, const struct link_space *space,
		      enum space_use use, space_done_fn *fn, void *arg,
		      struct error *err);

/* Reads the cursor and notes it.  ERROR_NOTFOUND when there is none. */
int space_read_cursor(struct redis *redis, const struct link_space *space,
		      uint64_t *ret_cursor, struct error *err);

#endif
