/*
 * link_check.h - checks every link of a space in Redis against the marker of
 * its block.
 *
 * SCAN finds the keys, so that links are also found where none should be: in
 * blocks never issued, or under another block than that of their code.  SCAN
 * guarantees for keys what ZSCAN guarantees for sets (members.h).  For each
 * link its expiry is read first and the marker afterwards: a renewal raises the
 * marker first, so it cannot look like an error.  A link that looks wrong is
 * checked again by one script in the block's slot, which reads both at the same
 * moment.
 */
#ifndef LINKSTORE_BLOCK_LINK_CHECK_H
#define LINKSTORE_BLOCK_LINK_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis.h"
#include "linkstore/linkstore.h"

enum link_trouble {
	LINK_SOUND,
	LINK_KEY_DAMAGED,    /* the key is not one of this space's links */
	LINK_RECORD_DAMAGED, /* the record does not begin like a link */
	LINK_MISPLACED,	     /* its code or link_id is in another block */
	LINK_NEVER_ISSUED,   /* its block is beyond the cursor */
	LINK_UNMARKED,	     /* its block has no marker, or a damaged one */
	LINK_CLOSED,	     /* its block is closed */
	LINK_OTHER_OWNER,    /* its generation is not that of its block */
	LINK_OUTLIVES,	     /* it ends after its block */
	LINK_UNCOUNTED,	     /* blocked, but not counted by its block */
};

/* Returns a text such as "its block is closed". */
const char *link_trouble_text(enum link_trouble trouble);

/* A link may seem to end this much later (ms) than its block: one script writes
 * both, but reads the clock twice. */
#define LINK_CHECK_SLACK 20

struct link_facts {
	int64_t expires; /* ms; DURATION_NEVER; 0: there is no such link */
	const void *head;
	size_t head_len;
	const char *marker; /* text of the marker */
	size_t marker_len;
	bool blocked; /* known to be blocked: it does not end then */
};

/* Evaluates the facts on the link of this key, without I/O.  `cursor`: the
 * first block never issued.  *ret_block is set unless the key is damaged. */
enum link_trouble link_judge(const struct link_space *space, uint64_t cursor,
			     const char *key, size_t key_len,
			     const struct link_facts *facts,
			     uint64_t *ret_block);

struct link_finding {
	enum link_trouble trouble;
	uint64_t block; /* 0 if the key is damaged */
	const char *key;
	size_t key_len;
};

struct link_check {
	struct redis *redis;
	const struct link_space *space;
	/* Called for each link in trouble. */
	void (*found)(void *arg, const struct link_finding *finding);
	/* Called after each page with the number of links checked and of keys
	 * read so far, out of about `total`; true ends the walk. */
	bool (*pause)(void *arg, uint64_t links, uint64_t keys, uint64_t total);
	void *arg;
	uint64_t links; /* links checked; set by link_check_run */
};

int link_check_run(struct link_check *check, struct error *err);

#endif
