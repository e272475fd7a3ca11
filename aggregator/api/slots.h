/*
 * slots.h - how much is done at once, for one key and for all.
 *
 * Thread-safe.
 */
#ifndef AGGREGATOR_API_SLOTS_H
#define AGGREGATOR_API_SLOTS_H

#include <stdint.h>

#include "common/error.h"

struct slots;

/* 0: no bound. */
struct slots_bounds {
	int64_t of_key, of_all;
};

struct slots *slots_new(const struct slots_bounds *bounds, struct error *err);
void slots_free(struct slots *s); /* NULL accepted */

enum slots_answer {
	SLOTS_TAKEN,
	SLOTS_KEY_FULL, /* the key has as many as it may have */
	SLOTS_ALL_FULL,
	SLOTS_NO_MEMORY,
};

/* Takes a slot for the key of that name; "" is nobody's and has no bound of its
 * own. */
enum slots_answer slots_take(struct slots *s, const char *key);
/* How many of them the key has. */
int64_t slots_held(struct slots *s, const char *key);
/* Gives back what slots_take has taken. */
void slots_give_back(struct slots *s, const char *key);

#endif
