/*
 * running.h - the query ids in use, as in system.processes of a server.
 *
 * A request has its id from when its head was read until its query has ended,
 * also while it waits for a worker.  Thread-safe.
 */
#ifndef STACK_CLICKHOUSE_RUNNING_H
#define STACK_CLICKHOUSE_RUNNING_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct running;

struct running *running_new(struct error *err);
void running_free(struct running *r); /* NULL accepted */

/* Takes the id, which is copied.  An id already in use is a failure as in
 * failure.h. */
int running_enter(struct running *r, const char *id, struct error *err);
void running_leave(struct running *r, const char *id);

/* Marks the query as begun.  Fails if it was killed while it waited. */
int running_begin(struct running *r, const char *id, struct error *err);

/* Keeps the waiting queries that match `names` from beginning; returns the
 * number of matching ones that have begun and not ended. */
size_t running_kill(struct running *r,
		    bool (*names)(const char *id, const void *arg),
		    const void *arg);

#endif
