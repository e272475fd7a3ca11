/* second_opinion.h - the findings of `reclaimer verify` in a space at rest. */
#ifndef TESTS_MODEL_SECOND_OPINION_H
#define TESTS_MODEL_SECOND_OPINION_H

#include "tests/model/lives.h"

/* Fails on every finding that the history does not explain. */
void second_opinion(struct world *w, const struct lives *l);

#endif
