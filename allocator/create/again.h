/*
 * again.h - creations that carry an Idempotency-Key.  For allocator/create/
 * only.
 *
 * The flow of linkstore/idempotency.h: read the record; if it says that the
 * link is there, answer it; else plan, store before the plan's deadline, note
 * that it was done.  Links of strategy hash need no plan, their code follows
 * from the request: what came of them is noted afterwards.
 */
#ifndef ALLOCATOR_CREATE_AGAIN_H
#define ALLOCATOR_CREATE_AGAIN_H

#include "allocator/create/creation.h"

/* What a creation with a key carries; NULL in one without. */
struct again;

/* Reads the record and goes on: takes a code, or ends the creation. */
void again_begin(struct creation *c);

/* Plans what was chosen, then has it stored. */
void again_plan(struct creation *c);

/* The creation ends: `stored` tells whether a link came of it; otherwise, when
 * it is `sure` that none will, the plan is dropped. */
void again_end(struct creation *c, const Shortloop__Link *stored, bool sure);

#endif
