/*
 * clock.h - the current time, and the text form of durations and instants.
 *
 * Milliseconds in int64_t everywhere.  Real time is ms since 1970 (UTC).
 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define CLOCK_SECOND INT64_C(1000)
#define CLOCK_MINUTE (60 * CLOCK_SECOND)
#define CLOCK_HOUR   (60 * CLOCK_MINUTE)
#define CLOCK_DAY    (24 * CLOCK_HOUR)

/* The year 2100.  A later time comes from a wrong clock or a bad message; hours
 * of ClickHouse are seconds in 32 bits, which end in 2106. */
#define CLOCK_REAL_MAX INT64_C(4102444800000)

/* A duration that never ends. */
#define DURATION_NEVER INT64_MAX

int64_t clock_real_ms(void);

static inline int64_t clock_earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t clock_later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* For timeouts; stops while the machine sleeps. */
int64_t clock_monotonic_ms(void);
int64_t clock_monotonic_ns(void);

/* For leases and holds: includes suspend, so that a machine that slept past the
 * end of its hold notices that.  In a virtual machine that its host pauses it
 * stops as well. */
int64_t clock_boottime_ms(void);

/*
 * Reads "250ms", "30s", "15m", "12h", "10d" or "never".  Returns -1 with
 * ERROR_INPUT for anything else, zero ("0s") included as valid.
 */
int duration_parse(const char *text, int64_t *ret_ms, struct error *err);

/* Converts to seconds, rounded up, so that at least `ms` have passed after
 * them. */
static inline int64_t clock_whole_seconds(int64_t ms)
{
	return ms / CLOCK_SECOND + (ms % CLOCK_SECOND > 0);
}

#define DURATION_TEXT_MAX 32
/* Writes the shortest exact form; returns `text`. */
const char *duration_format(int64_t ms, char text[DURATION_TEXT_MAX]);

/* Clocks set over the network differ by less than a second; if two differ by
 * more than this, one of them is wrong. */
#define CLOCK_APART_MAX	     (5 * CLOCK_MINUTE)
#define CLOCK_APART_TEXT_MAX (DURATION_TEXT_MAX + 16)

static inline bool clock_is_apart(int64_t ms)
{
	return ms > CLOCK_APART_MAX || ms < -CLOCK_APART_MAX;
}

/* Returns "3d ahead of" or "200s behind", to a whole second, or minute from an
 * hour on. */
const char *clock_apart_format(int64_t ms, char text[CLOCK_APART_TEXT_MAX]);

#define RFC3339_TEXT_MAX 40
/* "2026-11-21T01:02:03Z", with ".456" only when ms is not a whole second.
 * Returns `text`. */
const char *rfc3339_format(int64_t real_ms, char text[RFC3339_TEXT_MAX]);

/*
 * Reads RFC 3339 with `Z` or an offset, or a bare date (midnight UTC).
 * Returns -1 with ERROR_INPUT otherwise.
 */
int rfc3339_parse(const char *text, int64_t *ret_real_ms, struct error *err);

#endif
