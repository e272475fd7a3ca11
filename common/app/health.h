/*
 * health.h - the state of the dependencies; the answer of /readyz.
 *
 * Register each dependency at start, from one thread; report from any thread.
 * A dependency starts as down, "not connected yet".
 */
#ifndef COMMON_APP_HEALTH_H
#define COMMON_APP_HEALTH_H

#include <stdbool.h>

#include "common/buf.h"

struct health;
struct health_check;

struct health *health_new(void);
void health_free(struct health *h);

/* `name` ("redis", "kafka", "geo") is copied.  Lives as long as `h`. */
struct health_check *health_register(struct health *h, const char *name);

/* Each accepts a NULL check and returns true if the state changed, so that a
 * program can log the change once.  `reason` is copied. */
bool health_up(struct health_check *check);
bool health_down(struct health_check *check, const char *reason);

/* Sets the state to up, with a remark that is shown nevertheless. */
void health_say(struct health_check *check, const char *remark);

/* Returns false for a NULL check. */
bool health_is_up(struct health_check *check);

/* Appends "redis: reason\n" per dependency that is down or has a remark.
 * Returns true if all are up. */
bool health_report(struct health *h, struct buf *out);

#endif
