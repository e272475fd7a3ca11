/*
 * stepper.h - stands between a reclaimer's run and Redis and passes its
 * commands one by one, so that anything can happen between two of them, or the
 * run can end there.
 *
 * It listens on a socket of its own and belongs to the test's thread; the run
 * is in another thread and waits as for a slow Redis.
 */
#ifndef TESTS_MODEL_STEPPER_H
#define TESTS_MODEL_STEPPER_H

#include <stdbool.h>

struct stepper;

/* `path`: its socket; `upstream`: the socket of Redis; `done_fd` becomes
 * readable when the run has ended. */
struct stepper *stepper_new(const char *path, const char *upstream,
			    int done_fd);
void stepper_free(struct stepper *s);

/* Passes one command and its answer.  Returns false if the run has ended. */
bool stepper_step(struct stepper *s);

/* Ends every connection for good, as a kill does.  `reach`: the waiting command
 * still reaches Redis, and its answer is dropped. */
void stepper_cut(struct stepper *s, bool reach);

#endif
