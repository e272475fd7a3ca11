/*
 * visitors.h - the redirectors of the model, and editors who change and delete
 * links: at once, or late, by what they read long ago.
 */
#ifndef TESTS_MODEL_VISITORS_H
#define TESTS_MODEL_VISITORS_H

#include "tests/model/lives.h"

/* A link that was read for a later action. */
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
	uint64_t visits, renewals, edits, restores, blocks;
};

void visitors_init(struct visitors *v, struct world *w, struct lives *l);
void visitors_free(struct visitors *v);

/* Looks a link up, compares it with the model, and renews it if that is due. */
void visitors_visit(struct visitors *v);
/* Renews or edits a link that was read a while ago. */
void visitors_come_late(struct visitors *v);
/* Edits, pauses or deletes a link, or restores a deleted one. */
void visitors_edit(struct visitors *v);
/* Blocks a live link, or lets a blocked one go. */
void visitors_moderate(struct visitors *v);
/* Lets all blocked links go. */
void visitors_let_go(struct visitors *v);

#endif
