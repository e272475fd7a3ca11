/*
 * link_check.h - every link of a space that Redis has, against the marker of
 * its block.
 *
 * The keys are found by SCAN, so that links are found, too, where none should
 * be: of blocks never issued, or under another block than their code says.
 * What ZSCAN promises of sets (members.h), SCAN promises of keys.  Of each link
 * its expiry is read first and the marker after it: a renewal raises the marker
 * first, so that it cannot look like a mistake.  What looks like one is asked
 * again by one script in the block's slot, which sees both at one moment.
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
	LINK_KEY_DAMAGED,    /* no key that a link of the space can have */
	LINK_RECORD_DAMAGED, /* does not begin as a link does */
	LINK_MISPLACED,	     /* its code or link_id is of another block */
	LINK_NEVER_ISSUED,   /* its block is beyond the cursor */
	LINK_UNMARKED,	     /* its block has no marker, or a damaged one */
	LINK_CLOSED,	     /* its block is closed */
	LINK_OTHER_OWNER,    /* of another generation than its block */
	LINK_OUTLIVES,	     /* it ends after its block */
	LINK_UNCOUNTED,	     /* it is blocked, and its block does not know */
};

/* "its block is closed" */
const char *link_trouble_text(enum link_trouble trouble);

/* A link may seem to end so much later than its block: the two are written
 * within one script, but by two readings of the clock (ms). */
#define LINK_CHECK_SLACK 20

struct link_facts {
	int64_t expires; /* ms; DURATION_NEVER; 0: there is no such link */
	const void *head;
	size_t head_len;
	const char *marker; /* its text */
	size_t marker_len;
	bool blocked; /* the link is, as far as is known: it does not end */
};

/* Pure: what is wrong with the link of this key. `cursor`: the first block
 * never issued.  *ret_block is set unless the key is damaged. */
enum link_trouble link_judge(const struct link_space *space, uint64_t cursor,
			     const char *key, size_t key_len,
			     const struct link_facts *facts,
			     uint64_t *ret_block);

struct link_finding {
	enum link_trouble trouble;
	uint64_t block; /* 0 when the key is damaged */
	const char *key;
	size_t key_len;
};

struct link_check {
	struct redis *redis;
	const struct link_space *space;
	/* Called for each link in trouble. */
	void (*found)(void *arg, const struct link_finding *finding);
	/* Called after each page with the number of links so far and keys
	 * looked through, of about `total`; true ends the walk. */
	bool (*pause)(void *arg, uint64_t links, uint64_t keys, uint64_t total);
	void *arg;
	uint64_t links; /* looked at; its own */
};

int link_check_run(struct link_check *check, struct error *err);

#endif
