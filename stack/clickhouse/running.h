/*
 * running.h - which query ids are in use, as system.processes of a server says.
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

/* Takes the id, which is copied.  In use already: a failure as in failure.h. */
int running_enter(struct running *r, const char *id, struct error *err);
void running_leave(struct running *r, const char *id);

/* The query begins.  It was killed while it waited: a failure. */
int running_begin(struct running *r, const char *id, struct error *err);

/* Those that wait and that `names` is true of will not begin; returns how many
 * others it is true of, which have begun and not ended. */
size_t running_kill(struct running *r,
		    bool (*names)(const char *id, const void *arg),
		    const void *arg);

#endif
