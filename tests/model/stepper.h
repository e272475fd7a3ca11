/*
 * stepper.h - stands between a reclaimer's run and Redis, and lets its commands
 * through one by one, so that anything can happen between any two of them, or
 * the run end there.
 *
 * It listens on a socket of its own.  Belongs to the test's thread; the run is
 * in another and waits, as it would for a slow Redis.
 */
#ifndef TESTS_MODEL_STEPPER_H
#define TESTS_MODEL_STEPPER_H

#include <stdbool.h>

struct stepper;

/* `path`: its socket; `upstream`: that of Redis; `done_fd` becomes readable
 * when the run has ended. */
struct stepper *stepper_new(const char *path, const char *upstream,
			    int done_fd);
void stepper_free(struct stepper *s);

/* Lets one command through and its answer back.  False: the run has ended. */
bool stepper_step(struct stepper *s);

/* Ends every connection, for good: what a kill leaves behind.  `reach`: the
 * command that waits still reaches Redis; its answer goes nowhere. */
void stepper_cut(struct stepper *s, bool reach);

#endif
