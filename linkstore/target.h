/*
 * target.h - the place of a code's link, and the notes on each space, which
 * decide which texts can be codes.
 */
#ifndef LINKSTORE_TARGET_H
#define LINKSTORE_TARGET_H

#include "linkstore/linkstore.h"

/* The place of a code's link, if the code was issued. */
struct link_target {
	const struct link_space *space;
	uint64_t id;	  /* LINK_SEQUENCE; LINK_SNOWFLAKE: the snowflake */
	uint64_t block;	  /* LINK_SEQUENCE; otherwise 0 */
	unsigned version; /* key version; 0 if there is none */
	char code[ALIAS_TEXT_MAX]; /* has room for the longest alias */
};

/* Returns whether all keys of both links are in one slot of a cluster because
 * they are of one block, or are one link. */
bool link_targets_share_slot(const struct link_target *a,
			     const struct link_target *b);

/*
 * Returns the space that a text would be a code of, by its length and
 * characters alone: the generated space of its length, or the space of aliases
 * if the text has - or _ or a length that no generated space has.  NULL: none.
 * Case matters.
 */
const struct link_space *linkstore_space_for(const struct linkstore *ls,
					     const char *code, size_t len);

/*
 * Decodes a code.  Returns false if it cannot be a link of ours (404 without a
 * query to Redis): no space for it, a wrong check character, a block far above
 * the highest cursor noted, if one was read within the last minute, or a
 * snowflake of the future.
 */
bool linkstore_locate(const struct linkstore *ls, const char *code, size_t len,
		      struct link_target *ret_target);

/*
 * Finds the place of the link with that id, if its code was made with the key
 * of that version.  Returns false if it cannot be a link of ours, if it is in
 * no block, so that its code does not follow from its id, or if the space has
 * no such version.
 */
bool linkstore_locate_id(const struct linkstore *ls, uint64_t link_id,
			 unsigned version, struct link_target *ret_target);

/* Returns the space with blocks that the link of that id is in; NULL: none. */
const struct link_space *linkstore_space_of_id(const struct linkstore *ls,
					       uint64_t link_id);

/*
 * Returns whether a text that linkstore_locate refused may still be a code of
 * ours, made with a key version that is not configured here.  The space's
 * record shows which versions exist (503, not 404).
 */
bool linkstore_lacks_key(const struct linkstore *ls, const char *code,
			 size_t len);

/* Writes the code of one id of a block, under the space's current key.
 * LINK_SEQUENCE only. */
void linkstore_code(const struct link_space *space, uint64_t block,
		    uint32_t offset, struct link_target *ret_target);

/* Writes candidate number `attempt`, from 0, for a URL.  LINK_HASH only; see
 * url_code_candidate.  ERROR_NOTFOUND: the way in which the space makes codes
 * was neither configured nor noted. */
int linkstore_hash_code(const struct link_space *space,
			const struct url_code_subject *of, unsigned attempt,
			struct link_target *ret_target, struct error *err);

/* Writes the code of a snowflake (SNOWFLAKE_CODE_SEQUENCE).  LINK_SNOWFLAKE
 * only. */
void linkstore_snowflake_code(const struct link_space *space, uint64_t id,
			      struct link_target *ret_target);

/*
 * Checks whether a new link may have this alias.  ERROR_INPUT: it is not an
 * alias.  ERROR_TAKEN, not retriable: the word is reserved, or it has the
 * length of generated codes, one of which may be equal.  ERROR_NOTFOUND: there
 * is no space of aliases.  Only Redis knows whether the alias is taken.
 */
int linkstore_alias(const struct linkstore *ls, const char *alias, size_t len,
		    struct link_target *ret_target, struct error *err);

/*
 * Notes that blocks below `cursor` may have been issued, by Redis' answer to a
 * query sent at `asked` (clock_boottime_ms).  The noted cursor never goes back.
 * Before the first note, and from a minute after the last, every block counts
 * as possible.  Thread-safe.
 */
void linkstore_note_cursor(const struct link_space *space, uint64_t cursor,
			   int64_t asked);

/* Notes that Redis' clock is at `redis_ms` now (ms since 1970).
 * Thread-safe. */
void linkstore_note_clock(const struct link_space *space, int64_t redis_ms);

/*
 * Returns Redis' clock in ms since 1970: the last note plus the time since, by
 * a monotonic clock.  It is never ahead of Redis, and behind by as long as an
 * answer took; before the first note it is this host's wall clock.  Links begin
 * and end by it, like their records: a host's own clock may be wrong.
 */
int64_t linkstore_now_ms(const struct link_space *space);

/* Notes cursor, moves and generation, without a time; lower values are
 * ignored. */
void linkstore_note_high_water(const struct link_space *space,
			       const struct high_water *high_water);

/* Returns the highest values noted; zeros if there are none. */
struct high_water linkstore_noted_high_water(const struct link_space *space);

/* Notes how far the cursor may jump if Redis loses data, from the space record:
 * at least link_space.safety_gap. */
void linkstore_note_gap(const struct link_space *space, uint64_t gap);

/* For LINK_HASH: returns the encoder of the space's codes, by the configuration
 * or else by the noted space record.  Returns NULL while neither is known; then
 * any text of its length and symbols may be a code. */
const struct url_codes *linkstore_hash_codes(const struct link_space *space);

void linkstore_note_hash_codes(const struct link_space *space,
			       enum url_code_method method);

/* Notes the key versions (bit v: version v) that the space record has and the
 * configuration lacks; `used` are those that made codes. */
void linkstore_note_missing_keys(const struct link_space *space,
				 unsigned missing, unsigned used);

/* Returns the versions of the last note: all, or those that made codes. */
unsigned linkstore_missing_keys(const struct link_space *space, bool used);

/* Returns the version that makes the space's new codes, or -1 if its codes have
 * none. */
int linkstore_key_version(const struct link_space *space);

#endif
