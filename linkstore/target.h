/*
 * target.h - where a code lives, and what was noted of each space: which
 * decides what can be a code at all.
 */
#ifndef LINKSTORE_TARGET_H
#define LINKSTORE_TARGET_H

#include "linkstore/linkstore.h"

/* Where a code lives, were it issued. */
struct link_target {
	const struct link_space *space;
	uint64_t id;	  /* LINK_SEQUENCE; LINK_SNOWFLAKE: the snowflake */
	uint64_t block;	  /* LINK_SEQUENCE; 0 */
	unsigned version; /* of the key; 0 where there is none */
	char code[ALIAS_TEXT_MAX]; /* the longest there are */
};

/*
 * The space that a text would be a code of, by its length and characters alone:
 * the generated space of its length, or, with - or _ in it or a length that no
 * generated space has, the space of aliases.  NULL: none.  Case counts.
 */
const struct link_space *linkstore_space_for(const struct linkstore *ls,
					     const char *code, size_t len);

/*
 * Decodes a code.  False: it cannot be a link of ours (404 without asking
 * Redis): no space for it, a wrong check character, a block far above the
 * highest cursor noted, if one was read within the last minute, a snowflake of
 * the future.
 */
bool linkstore_locate(const struct linkstore *ls, const char *code, size_t len,
		      struct link_target *ret_target);

/*
 * Where the link of that id lives, were its code made with the key of that
 * version.  False: it cannot be a link of ours; or its code does not follow
 * from its id, as it is in no block; or the space has no such version.
 */
bool linkstore_locate_id(const struct linkstore *ls, uint64_t link_id,
			 unsigned version, struct link_target *ret_target);

/* The space of blocks that the link of that id is of; NULL: none. */
const struct link_space *linkstore_space_of_id(const struct linkstore *ls,
					       uint64_t link_id);

/*
 * Of a text that linkstore_locate refused: might it be a code of ours all the
 * same, made with a key version that is not configured here?  The space's
 * record tells which there are (503, not 404).
 */
bool linkstore_lacks_key(const struct linkstore *ls, const char *code,
			 size_t len);

/* The code of one id of a block, under the space's current key.
 * LINK_SEQUENCE only. */
void linkstore_code(const struct link_space *space, uint64_t block,
		    uint32_t offset, struct link_target *ret_target);

/* The candidate number `attempt`, from 0, for a URL.  LINK_HASH only; see
 * url_code_candidate.  ERROR_NOTFOUND: how the space's codes are made was
 * neither configured nor noted. */
int linkstore_hash_code(const struct link_space *space,
			const struct url_code_subject *of, unsigned attempt,
			struct link_target *ret_target, struct error *err);

/* The code of a snowflake (SNOWFLAKE_CODE_SEQUENCE).  LINK_SNOWFLAKE only. */
void linkstore_snowflake_code(const struct link_space *space, uint64_t id,
			      struct link_target *ret_target);

/*
 * May a new link be called this?  ERROR_INPUT: it is no alias at all.
 * ERROR_TAKEN, not retriable: the word is reserved, or of the length of
 * generated codes, one of which may be this.  ERROR_NOTFOUND: there is no space
 * of aliases.  Whether it is taken, Redis tells.
 */
int linkstore_alias(const struct linkstore *ls, const char *alias, size_t len,
		    struct link_target *ret_target, struct error *err);

/*
 * Tells the store that blocks below `cursor` may have been issued, as Redis
 * answered to what it was asked at `asked` (clock_boottime_ms).  It never goes
 * back.  Until told once, and a minute after it was told last, every block is
 * thought possible.  From any thread.
 */
void linkstore_note_cursor(const struct link_space *space, uint64_t cursor,
			   int64_t asked);

/* Tells the store that it is `redis_ms` by Redis' clock now (ms since 1970).
 * From any thread. */
void linkstore_note_clock(const struct link_space *space, int64_t redis_ms);

/*
 * Redis' clock in ms since 1970: what was noted last and the time since, by a
 * clock that only goes on.  Never ahead of Redis, and behind by as long as an
 * answer took to come; this host's own wall clock until one was noted.  By it
 * links begin and end, as their records do: a host's own clock may be anything.
 */
int64_t linkstore_now_ms(const struct link_space *space);

/* The same of cursor, moves and generation, of no certain time; what is lower
 * is passed over. */
void linkstore_note_high_water(const struct link_space *space,
			       const struct high_water *high_water);

/* The highest noted: zeros when nothing was. */
struct high_water linkstore_noted_high_water(const struct link_space *space);

/* The same of how far the cursor may jump when Redis forgets, as the space
 * record tells it: at least link_space.safety_gap. */
void linkstore_note_gap(const struct link_space *space, uint64_t gap);

/* LINK_HASH: what makes the space's codes, as configured or else as the space
 * record was noted to say; NULL while neither is known, and then any text of
 * its length and symbols may be a code of it. */
const struct url_codes *linkstore_hash_codes(const struct link_space *space);

void linkstore_note_hash_codes(const struct link_space *space,
			       enum url_code_method method);

/* Key versions (bit v: version v) that the space record has and the
 * configuration has not; `used` are those that codes were made with. */
void linkstore_note_missing_keys(const struct link_space *space,
				 unsigned missing, unsigned used);

/* Of these, as noted last: all, or those that codes were made with. */
unsigned linkstore_missing_keys(const struct link_space *space, bool used);

/* The version that the space makes new codes with, or -1: its codes have
 * none. */
int linkstore_key_version(const struct link_space *space);

#endif
