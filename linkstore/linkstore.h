/*
 * linkstore.h - the configured spaces and TTL classes, and where a code lives.
 *
 * Made once from the `links` section, then read by every thread; it does no
 * I/O.  The calls to Redis are in linkstore/space/ (what lives under the hash
 * tag {space}) and linkstore/block/ (what lives under {space:block}); each
 * takes a blocking `struct redis` or, with `_async` in its name, a
 * `struct redis_async`.
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
#include "linkstore/config.h"

struct linkstore;

/*
 * The highest that a program has seen of a space (promise 10).  A Redis that
 * goes back to what it was before, whatever the reason, is found out by those
 * who have seen more than it knows.  Whoever grants, raises the cursor or
 * settles tells Redis what it has seen, and learns what there is to be seen.
 */
struct high_water {
	uint64_t cursor;     /* one above the highest block; 0: none */
	uint64_t moves;	     /* what the record counted: it never goes down */
	uint32_t generation; /* the highest granted; 0: none */
};

/* Raises each of *high_water to what `more` has. */
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
	unsigned length; /* of a code; 0: aliases */
	unsigned base;	 /* symbols a code is made of */
	/* What makes and reads the codes; NULL but for the strategy's own. */
	const struct codespace *codes;
	/* By method; NULL for one that the configuration rules out. */
	const struct url_codes *url_codes[URL_CODE_METHODS];
	const struct snowflake_codes *snowflakes;
	/* LINK_SEQUENCE; 0 for others, whose links have no block. */
	uint32_t block_size;
	uint64_t blocks;     /* capacity */
	uint64_t safety_gap; /* as configured, but at most 1/64 of them */
	const struct linkstore *store;
	size_t index; /* among the store's spaces */
};

struct link_class {
	const char *name;    /* "10d" */
	int64_t ttl;	     /* ms, or DURATION_NEVER */
	int64_t renew_below; /* ms: a visit renews when less is left; 0: never*/
};

/* `config` must be valid and outlive the store. */
struct linkstore *linkstore_new(const struct links_config *config,
				struct error *err);
void linkstore_free(struct linkstore *ls); /* NULL accepted */

const struct links_config *linkstore_config(const struct linkstore *ls);

/* What a connection to Redis is made with.  The store's. */
const struct redis_scripts *linkstore_scripts(const struct linkstore *ls);

size_t linkstore_space_count(const struct linkstore *ls);
/* Spaces are numbered from 0 in the order of the file. */
const struct link_space *linkstore_space(const struct linkstore *ls, size_t i);
/* NULL when there is none of that name.  A NULL name is the first space. */
const struct link_space *linkstore_space_named(const struct linkstore *ls,
					       const char *name);

size_t linkstore_class_count(const struct linkstore *ls);
const struct link_class *linkstore_class(const struct linkstore *ls, size_t i);
const struct link_class *linkstore_class_named(const struct linkstore *ls,
					       const char *name);
/* The longest TTL that ends, or 0 when every class is `never`. */
int64_t linkstore_longest_ttl(const struct linkstore *ls);
/* As link_class.renew_below, for a link that carries its own TTL (0: never). */
int64_t linkstore_renew_below(const struct linkstore *ls, uint64_t ttl_ms);

/* A space whose links live in blocks; those of others stand alone. */
static inline bool link_space_has_blocks(const struct link_space *space)
{
	return space->strategy == LINK_SEQUENCE;
}

#endif
