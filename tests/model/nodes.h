/*
 * nodes.h - a cluster of which one part forgets: the data of the other part are
 * saved before Redis is taken back, and restored afterwards.
 */
#ifndef TESTS_MODEL_NODES_H
#define TESTS_MODEL_NODES_H

#include "tests/model/world.h"

enum forgetful {
	ALL_FORGET,
	SPACES_FORGET, /* the accounting; markers and links stay */
	BLOCKS_FORGET, /* markers and links; the accounting stays */
};

/* Returns the data that are not forgotten; NULL with ALL_FORGET. */
redisReply *nodes_put_aside(struct world *w, enum forgetful who);
/* Restores the data and frees the reply. */
void nodes_put_back(struct world *w, enum forgetful who, redisReply *aside);

/* Sets the run_id that the spaces know, as if Redis had not restarted. */
void nodes_keep_run_id(struct world *w);

#endif
