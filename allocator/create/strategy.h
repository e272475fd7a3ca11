/*
 * strategy.h - the ways in which a space chooses the codes of its links.
 *
 * Each strategy is in the source of its name: sequence_strategy.c,
 * hash_strategy.c, snowflake_strategy.c and alias_strategy.c.
 */
#ifndef ALLOCATOR_CREATE_STRATEGY_H
#define ALLOCATOR_CREATE_STRATEGY_H

#include <stdbool.h>

#include "common/error.h"

struct creation;
struct standalone_result;

struct strategy {
	/* Chooses a code and fills target and link, then calls
	 * creation_code_chosen or creation_fail, perhaps before it returns. */
	void (*take)(struct creation *c);
	/* Stores the link under its code; ends in creation_stored. */
	void (*store)(struct creation *c);
	/* Storing failed, and Redis was not away.  Returns true if another code
	 * should be taken; otherwise it has ended the creation. */
	bool (*refused)(struct creation *c, const struct error *err);
	/* Another link or a tombstone has the code.  NULL: this cannot
	 * happen. */
	void (*taken)(struct creation *c,
		      const struct standalone_result *result);
	/* The same request gets the same code, so it may be sent again while
	 * the first one is under way (idempotency.h). */
	bool is_repeatable;
};

extern const struct strategy strategy_sequence, strategy_hash,
	strategy_snowflake, strategy_alias;

#endif
