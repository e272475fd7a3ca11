/*
 * nodes.h - a cluster of which one part forgets: what the other part held is
 * put aside before Redis is taken back, and put back afterwards.
 */
#ifndef TESTS_MODEL_NODES_H
#define TESTS_MODEL_NODES_H

#include "tests/model/world.h"

enum forgetful {
	ALL_FORGET,
	SPACES_FORGET, /* the accounting; markers and links are as they were */
	BLOCKS_FORGET, /* the other way about */
};

/* What does not forget; NULL with ALL_FORGET. */
redisReply *nodes_put_aside(struct world *w, enum forgetful who);
/* Frees it. */
void nodes_put_back(struct world *w, enum forgetful who, redisReply *aside);

/* As if it had not been started anew: the spaces know its run_id. */
void nodes_keep_run_id(struct world *w);

#endif
