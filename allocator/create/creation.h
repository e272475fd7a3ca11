/*
 * creation.h - a link on its way, and what strategies do to it.  For
 * allocator/create/ only.
 *
 * create.c leads: it asks the strategy to take a code, hears creation_named,
 * asks it to store the link, hears creation_stored.
 */
#ifndef ALLOCATOR_CREATE_CREATION_H
#define ALLOCATOR_CREATE_CREATION_H

#include "allocator/create/create.h"

struct creation;

struct create_strategy {
	/* Chooses a code and fills target and link, then calls creation_named
	 * or creation_fail, perhaps before it returns. */
	void (*take)(struct creation *c);
	/* Stores the link under its code; ends in creation_stored. */
	void (*store)(struct creation *c);
	/* Storing failed, and not because Redis is away.  Returns whether
	 * another code should be taken; has else ended the creation. */
	bool (*refused)(struct creation *c, const struct error *err);
};

extern const struct create_strategy create_sequence;

struct creation {
	const struct create_parts *parts;
	struct create_order order;
	create_done_fn *done;
	void *arg;
	const struct create_strategy *strategy;
	struct link_target target;
	Shortloop__Link link;
	int64_t started; /* clock_monotonic_ns */
	unsigned tries;
	/* of sequence */
	struct supply_waiter waiter;
	struct link_block block;
};

/* The code and the link are chosen. */
void creation_named(struct creation *c);

/* `expires` counts when err is NULL. */
void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err);

/* Ends it with the problem that this error is to a client. */
void creation_fail(struct creation *c, const struct error *err);

/* Ends it with a problem. */
void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail);

#endif
