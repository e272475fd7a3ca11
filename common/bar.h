/*
 * bar.h - how far something long has got: a bar on stderr when that is a
 * terminal, nothing when it is not.
 */
#ifndef COMMON_BAR_H
#define COMMON_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct bar {
	const char *label; /* "clicks 3": may change on the way */
	const char *unit;  /* "events" */
	bool terminal;
	bool drawn;
	int64_t started, shown; /* monotonic ms */
};

void bar_begin(struct bar *b, const char *label, const char *unit);

/* Drawn ten times a second at most, however often this is called.  `total`: as
 * far as is known; 0: not at all. */
void bar_show(struct bar *b, uint64_t done, uint64_t total);

/* Takes it off the screen, before something else is written there. */
void bar_end(struct bar *b);

/* What bar_show draws, `more` behind it ("12 freed"), whatever the time. */
void bar_draw(struct bar *b, uint64_t done, uint64_t total, const char *more);

/* Seconds until `total` are done at this pace, from `done` in `ms`; -1: not
 * known yet. */
int64_t bar_seconds_left(uint64_t done, uint64_t total, int64_t ms);

#endif
