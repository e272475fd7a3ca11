/*
 * slots.h - limits on how much is done at once, for one key and for all.
 *
 * Thread-safe.
 */
#ifndef AGGREGATOR_API_SLOTS_H
#define AGGREGATOR_API_SLOTS_H

#include <stdint.h>

#include "common/error.h"

struct slots;

/* 0: no limit. */
struct slots_bounds {
	int64_t of_key, of_all;
};

struct slots *slots_new(const struct slots_bounds *bounds, struct error *err);
void slots_free(struct slots *s); /* NULL accepted */

enum slots_answer {
	SLOTS_TAKEN,
	SLOTS_KEY_FULL, /* the key has reached its limit */
	SLOTS_ALL_FULL,
	SLOTS_NO_MEMORY,
};

/* Takes a slot for the key of that name; "" is no key, and has no limit of its
 * own. */
enum slots_answer slots_take(struct slots *s, const char *key);
/* Returns how many slots the key has. */
int64_t slots_held(struct slots *s, const char *key);
/* Gives back a slot that slots_take has taken. */
void slots_give_back(struct slots *s, const char *key);

#endif
