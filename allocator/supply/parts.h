/*
 * parts.h - what the supply is made of: slots, and in them lots.
 *
 * A slot issues the codes of one space under one TTL class.  A lot is one
 * granted range with the state of each of its blocks.  For allocator/supply/
 * only.
 */
#ifndef ALLOCATOR_SUPPLY_PARTS_H
#define ALLOCATOR_SUPPLY_PARTS_H

#include <stdbool.h>

#include "allocator/supply/supply.h"
#include "linkstore/range.h"
#include "linkstore/space/grant.h"

enum block_use {
	USE_UNOPENED, /* granted; its open was not answered well */
	USE_OPENING,
	USE_OPEN, /* no code taken yet */
	USE_ISSUING,
	USE_SPENT,   /* no code left, or not ours */
	USE_CLOSING, /* untouched, on its way back */
	USE_CLOSED,  /* may be handed back */
};

struct lot_block {
	struct lot *lot;
	enum block_use use;
};

struct lot {
	struct slot *slot;
	struct lot *next;
	struct block_range range; /* shrinks from its end while handed back */
	char holder[LINK_HOLDER_MAX];
	int64_t hold_until; /* clock_boottime_ms */
	bool confirmed;	    /* Redis knows that it is in use */
	bool retired;	    /* no longer in the slot's list */
	size_t opening;	    /* opens not answered, and the confirmation */
	size_t closing;	    /* closes not answered */
	size_t at;	    /* the block codes come from */
	size_t closed_run;  /* blocks being handed back, from `at` on */
	uint32_t offset;    /* the next code in it */
	size_t count;
	struct lot_block blocks[];
};

struct slot {
	struct supply *supply;
	const struct link_space *space;
	const struct link_class *ttl;
	struct lot *lots; /* the first is in use */
	struct supply_waiter *waiters, **waiters_end;
	size_t open_blocks; /* USE_OPEN in `lots` */
	size_t blocks;	    /* asked for last */
	size_t opening;
	bool granting;
	bool granted;	     /* since `asked` */
	int64_t asked;	     /* clock_boottime_ms before the grant */
	int64_t grows_old;   /* loop time: what was granted last ends soon */
	unsigned fruitless;  /* grants in a row that gave no code */
	int64_t retry_at;    /* loop time before which no grant is tried */
	struct error failed; /* why the last one was not had */
};

struct supply {
	struct supply_options options;
	const struct links_config *links;
	size_t class_count;
	struct loop_timer *timer;
	size_t waiting;
	size_t retiring; /* lots on their way back */
	size_t granting; /* grants asked for */
	bool closing;
	void (*on_closed)(void *arg);
	void *closed_arg;
	size_t slot_count;
	struct slot *slots;
};

/* lot.c: the lot's own affairs. */

/* Puts a lot of a grant at the end of the slot's list. */
struct lot *lot_add(struct slot *slot, const struct grant *grant,
		    const struct block_range *range, int64_t hold_until,
		    struct error *err);
void lot_set_use(struct lot *lot, size_t i, enum block_use use);
struct link_block lot_block_at(const struct lot *lot, size_t i);
/* Asks Redis to open all its blocks, and says that they are in use from then
 * on; slot_opened is told of each. */
int lot_open_all(struct lot *lot, struct error *err);
bool lot_is_expired(const struct lot *lot);
/* Takes the lot out of its slot, hands untouched blocks back and frees it. */
void lot_retire(struct lot *lot);

/* give_back.c */
/* Starts when nothing is opening any more; ends in lot_gone. */
void lot_give_back(struct lot *lot);
void lot_gone(struct lot *lot);

/* slot.c: granting and issuing. */

void slot_request(struct slot *slot, struct supply_waiter *waiter);
/* An open was answered. */
void slot_opened(struct slot *slot, const struct error *err);
/* Fails all that wait. */
void slot_fail(struct slot *slot, const struct error *err);

/* supply.c */
/* Tells on_closed when nothing is under way any more. */
void supply_check_closed(struct supply *s);

#endif
