/*
 * idle.h - the queue of a listener's idle connections, by how long they are
 * idle.
 *
 * A connection is idle between requests, or before its first byte: the one that
 * has been idle longest is first.  A connection that sends a request moves to
 * the end at most once in IDLE_GRAIN_MS, so that the order costs a request
 * nothing; the order is exact to that time.
 */
#ifndef COMMON_HTTP_IDLE_H
#define COMMON_HTTP_IDLE_H

#include <stdint.h>

#include "common/http/types.h"

enum {
	IDLE_GRAIN_MS = 1000,
};

/* The connection is idle from `now` on, a time of its loop's clock. */
void idle_enter(struct connection *conn, int64_t now);
/* The connection is no longer idle, or is about to be closed. */
void idle_leave(struct connection *conn);

#endif
