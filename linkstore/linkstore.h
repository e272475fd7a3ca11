/*
 * linkstore.h - the configured spaces and TTL classes, and the keys of codes in
 * Redis.
 *
 * It is made once from the `links` section, then read by every thread; it does
 * no I/O.  The calls to Redis are in linkstore/space/ (data under the hash tag
 * {space}) and linkstore/block/ (data under {space:block}).  Each takes a
 * blocking `struct redis` or, if its name has `_async`, a `struct redis_async`.
 */
#ifndef LINKSTORE_LINKSTORE_H
#define LINKSTORE_LINKSTORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codespace/alias.h"
#include "codespace/codespace.h"
#include "codespace/snowflake_code.h"
#include "codespace/url_code.h"
#include "common/error.h"
#include "common/redis/redis_script.h"
#include "linkstore/links_config.h"

struct linkstore;

/*
 * The highest values that a program has seen of a space (promise 10).  If Redis
 * goes back to an earlier state, for whatever reason, the programs detect it
 * because they have seen more than Redis knows.  Each program that grants,
 * raises the cursor or settles sends Redis its values, and receives those of
 * Redis.
 */
struct high_water {
	uint64_t cursor;     /* one above the highest block; 0: none */
	uint64_t moves;	     /* the record's count: it never goes down */
	uint32_t generation; /* the highest granted; 0: none */
};

/* Raises each member of *high_water to that of `more`. */
static inline void high_water_raise(struct high_water *high_water,
				    const struct high_water *more)
{
	if (high_water->cursor < more->cursor)
		high_water->cursor = more->cursor;
	if (high_water->moves < more->moves)
		high_water->moves = more->moves;
	if (high_water->generation < more->generation)
		high_water->generation = more->generation;
}

struct link_space {
	const char *name;
	unsigned number;
	enum link_strategy strategy;
	unsigned length; /* code length; 0: aliases */
	unsigned base;	 /* number of symbols in codes */
	/* The encoders of the codes; NULL except for the space's strategy. */
	const struct codespace *codes;
	/* indexed by method; NULL if the configuration excludes it */
	const struct url_codes *url_codes[URL_CODE_METHODS];
	const struct snowflake_codes *snowflakes;
	/* For LINK_SEQUENCE; 0 for others, whose links have no block. */
	uint32_t block_size;
	uint64_t blocks;     /* capacity */
	uint64_t safety_gap; /* setting, at most 1/64 of the blocks */
	const struct linkstore *store;
	size_t index; /* among the store's spaces */
};

struct link_class {
	const char *name;    /* "10d" */
	int64_t ttl;	     /* ms, or DURATION_NEVER */
	int64_t renew_below; /* ms: a visit that finds less renews; 0: never */
};

/* `config` must be valid and outlive the store. */
struct linkstore *linkstore_new(const struct links_config *config,
				struct error *err);
void linkstore_free(struct linkstore *ls); /* NULL accepted */

const struct links_config *linkstore_config(const struct linkstore *ls);

/* Returns the scripts for connections to Redis; the store owns them. */
const struct redis_scripts *linkstore_scripts(const struct linkstore *ls);

size_t linkstore_space_count(const struct linkstore *ls);
/* Spaces are numbered from 0 in the order of the file. */
const struct link_space *linkstore_space(const struct linkstore *ls, size_t i);
/* Returns NULL if no space has this name.  A NULL name is the first space. */
const struct link_space *linkstore_space_named(const struct linkstore *ls,
					       const char *name);

size_t linkstore_class_count(const struct linkstore *ls);
const struct link_class *linkstore_class(const struct linkstore *ls, size_t i);
const struct link_class *linkstore_class_named(const struct linkstore *ls,
					       const char *name);
/* Returns the longest TTL that ends, or 0 if every class is `never`. */
int64_t linkstore_longest_ttl(const struct linkstore *ls);
/* Returns link_class.renew_below for a link that stores its own TTL (0:
 * never). */
int64_t linkstore_renew_below(const struct linkstore *ls, uint64_t ttl_ms);

/* Returns whether the links of the space live in blocks; otherwise they are
 * standalone. */
static inline bool link_space_has_blocks(const struct link_space *space)
{
	return space->strategy == LINK_SEQUENCE;
}

#endif
