/*
 * checks.h - invariants that hold at any time, read from Redis key by key and
 * compared with the model: each block is in one state, each live link is there,
 * in an open block that ends after it and is not in the pool.
 */
#ifndef TESTS_MODEL_CHECKS_H
#define TESTS_MODEL_CHECKS_H

#include "tests/model/lives.h"

/* Until the first script of a space has noticed a restart of Redis, its pool is
 * wrong, and no program uses it: this function runs such a script. */
void check_let_notice(struct world *w, size_t space);

void check_all(struct world *w, struct lives *l);

/* Call it when nothing is held, everything that can end has ended, and runs
 * were repeated: each block that is still issued must have a reason. */
void check_rest(struct world *w);

#endif
