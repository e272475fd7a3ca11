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
#include "linkstore/plain/create.h"
#include "linkstore/quota.h"
#include "linkstore/target.h"

struct creation;
struct again;

struct create_strategy {
	/* Chooses a code and fills target and link, then calls creation_named
	 * or creation_fail, perhaps before it returns. */
	void (*take)(struct creation *c);
	/* Stores the link under its code; ends in creation_stored. */
	void (*store)(struct creation *c);
	/* Storing failed, and not because Redis is away.  Returns whether
	 * another code should be taken; has else ended the creation. */
	bool (*refused)(struct creation *c, const struct error *err);
	/* Another link has the code, or its tombstone.  NULL: cannot be. */
	void (*taken)(struct creation *c, const struct plain_result *result);
};

extern const struct create_strategy create_sequence, create_hash,
	create_snowflake, create_alias;

struct creation {
	const struct create_parts *parts;
	struct create_order order;
	create_done_fn *done;
	void *arg;
	const struct create_strategy *strategy;
	/* Of the caller, who may be another by the time it is stored. */
	char account[API_KEY_NAME_MAX], creator[API_KEY_NAME_MAX];
	const struct account_rules *rules; /* of its account; NULL: none */
	struct quota_answer charge;	   /* what was taken for the link */
	int64_t bytes;			   /* of it */
	bool charged;
	bool stored;	      /* a link was, now */
	unsigned retry_after; /* s, to be said of a refusal; 0: as usual */
	struct link_target target;
	Shortloop__Link link;
	int64_t started; /* clock_monotonic_ns */
	unsigned tries;
	bool unsure;	     /* whether an earlier try has stored the link */
	struct again *again; /* NULL: without an Idempotency-Key */
	int64_t asked;	     /* Redis' clock when the key's record was read */
	int64_t deadline;    /* of the store, by Redis' clock; 0: none */
	/* of sequence */
	struct class_pool *pool;
	struct class_pool_request request;
	struct link_block block;
	/* of hash */
	unsigned candidate;
	enum {
		LOOK_OLD, /* from before there were accounts */
		LOOK_OWN,
		LOOK_DONE
	} look; /* for a link that is there */
};

/* The code and the link are chosen. */
void creation_named(struct creation *c);

/* There is room for it. */
void creation_charged(struct creation *c);

/* `expires` counts when err is NULL. */
void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err);

/* The code was taken after all: counts it and tells. */
void creation_conflict(struct creation *c, const struct error *err);

/* Takes another code, unless that was tried often enough. */
void creation_again(struct creation *c, const struct error *err);

/* Ends it with a link that was there, which has `left` ms. */
void creation_found(struct creation *c, const Shortloop__Link *link,
		    int64_t left);

/* Ends it with the link that an earlier request of this key has made; `told`:
 * and has told Kafka and the audit of. */
void creation_replay(struct creation *c, const Shortloop__Link *link,
		     int64_t left, bool told);

/* Ends it with the problem that this error is to a client. */
void creation_fail(struct creation *c, const struct error *err);

/* Ends it with a problem. */
void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail);

#endif
