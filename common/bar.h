/*
 * bar.h - the progress of a long task: a bar on stderr if that is a terminal,
 * nothing otherwise.
 */
#ifndef COMMON_BAR_H
#define COMMON_BAR_H

#include <stdbool.h>
#include <stdint.h>

struct bar {
	const char *label; /* "clicks 3": may change meanwhile */
	const char *unit;  /* "events" */
	bool terminal;
	bool drawn;
	int64_t started, shown; /* monotonic ms */
};

void bar_begin(struct bar *b, const char *label, const char *unit);

/* Draws the bar at most ten times a second, however often it is called.
 * `total`: as far as it is known; 0: unknown. */
void bar_show(struct bar *b, uint64_t done, uint64_t total);

/* Removes the bar from the screen, before other output. */
void bar_end(struct bar *b);

/* Draws what bar_show draws, followed by `more` ("12 freed"), whatever the
 * time. */
void bar_draw(struct bar *b, uint64_t done, uint64_t total, const char *more);

/* Returns the seconds until `total` are done at this pace, with `done` in `ms`;
 * -1: not known yet. */
int64_t bar_seconds_left(uint64_t done, uint64_t total, int64_t ms);

#endif
