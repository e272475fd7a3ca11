/*
 * visitors.h - the redirectors of the model, and those who edit and delete
 * links: now, or late with what they read long ago.
 */
#ifndef TESTS_MODEL_VISITORS_H
#define TESTS_MODEL_VISITORS_H

#include "tests/model/lives.h"

/* What was read and is still to be acted upon. */
struct intent {
	struct link_target target;
	Shortloop__Link *link;
};

#define INTENTS 128

struct visitors {
	struct world *world;
	struct lives *lives;
	struct intent late[INTENTS];
	size_t count;
	uint64_t visits, renewals, edits, blocks;
};

void visitors_init(struct visitors *v, struct world *w, struct lives *l);
void visitors_free(struct visitors *v);

/* Looks a link up, compares it with the model, renews it if that is due. */
void visitors_visit(struct visitors *v);
/* A renewal or an edit of something read a while ago. */
void visitors_come_late(struct visitors *v);
void visitors_edit(struct visitors *v);
/* Blocks a link that is live, or lets one go that is blocked. */
void visitors_moderate(struct visitors *v);
/* Lets go whatever is blocked. */
void visitors_let_go(struct visitors *v);

#endif
