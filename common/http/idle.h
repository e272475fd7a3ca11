/*
 * idle.h - which connections of a listener are idle, and for how long.
 *
 * A queue of those that are between requests, or have not sent a byte yet: the
 * one that has been idle longest is first.  One that asks goes behind the
 * others once in IDLE_GRAIN_MS at most, so that the order costs a request
 * nothing; it is right to that time.
 */
#ifndef COMMON_HTTP_IDLE_H
#define COMMON_HTTP_IDLE_H

#include <stdint.h>

#include "common/http/types.h"

enum {
	IDLE_GRAIN_MS = 1000,
};

/* It is idle, since now: by its loop's clock. */
void idle_enter(struct connection *conn, int64_t now);
/* It is not, or is about to go. */
void idle_leave(struct connection *conn);

#endif
