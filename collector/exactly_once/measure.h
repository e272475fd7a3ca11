/*
 * measure.h - what the server at hand does with tokens, tried on a table like
 * ours that keeps few: is a block that is sent again known, in whole and by the
 * days of its rows, and how many others have to come until it is forgotten?
 * What a version is said to do, or a setting, is not asked.
 */
#ifndef COLLECTOR_EXACTLY_ONCE_MEASURE_H
#define COLLECTOR_EXACTLY_ONCE_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/sink.h"
#include "common/error.h"

/* Tokens that the table keeps, by its settings. */
#define MEASURE_WINDOW 8

struct measured {
	bool done;
	char why[160]; /* not done: why not */
	char flaw[80]; /* "": what was sent again was known again */
	/* How many inserts of others it took until a token was forgotten. */
	unsigned outlived;
};

/* Makes tables called shortloop_guarantee_... and drops them.  A user who may
 * not make them is no error: it is not done then. */
int measure_tokens(struct sink *sink, struct measured *ret, struct error *err);

/* Of a table that keeps `window` tokens by its settings: for how many inserts
 * of others it knows one. */
uint64_t measure_window(const struct measured *m, uint64_t window);

#endif
