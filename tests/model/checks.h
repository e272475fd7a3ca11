/*
 * checks.h - what must hold at any time, read from Redis key by key and
 * compared with the model: each block is in one state, each live link is there,
 * in an open block that ends after it and is not in the pool.
 */
#ifndef TESTS_MODEL_CHECKS_H
#define TESTS_MODEL_CHECKS_H

#include "tests/model/lives.h"

/* Until the first script of a space has noticed that Redis was restarted, its
 * pool is not to be believed, and nobody does: this is one. */
void check_let_notice(struct world *w, size_t space);

void check_all(struct world *w, struct lives *l);

/* Nothing is held and all that can end has ended, and run after run was made:
 * what is still issued is there for a reason. */
void check_rest(struct world *w);

#endif
