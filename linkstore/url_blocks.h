/*
 * url_blocks.h - the URLs to which an account may make no links, since a link
 * of its that leads there was blocked.
 *
 * `blocked:{<account>}` is a hash: under the id of each such URL stand the URL
 * and the decisions about it, each of a link (linkstore/scripts/
 * lib_blocked.lua).  It has no TTL: what a moderator has decided stays until
 * it is lifted.  The account's slot is another than the link's, so a block is
 * two steps:
 *
 *	block	the URLs, then the link
 *	let go	the URLs, then the link
 *
 * The link is written last, so whoever is killed in between leaves a link that
 * still says what it said, which is what the moderator sees: sent again, either
 * is completed.  A Redis that forgets may forget one of the two.  A blocked
 *link whose URLs are forgotten is still met by its own code; to block it once
 *more notes them again.
 */
#ifndef LINKSTORE_URL_BLOCKS_H
#define LINKSTORE_URL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "schemas/link.pb-c.h"

#define LINK_URLS_MAX	16  /* its own, and up to three a device */
#define URL_BLOCK_ID	33  /* 32 hexadecimal digits and the NUL */
#define URL_BLOCK_LINKS 100 /* decisions of links that a URL keeps */

/* Where a link leads: its URL and those of its targets, each once.  They are
 * the link's. */
size_t link_urls(const Shortloop__Link *link, const char *ret[LINK_URLS_MAX]);

/* What tells a URL from others: 128 bits of BLAKE2b. */
void url_block_id(const char *url, char ret[URL_BLOCK_ID]);

/* Whose decision about which link; link_id 0, code "-": about the URL alone. */
struct url_decision {
	uint64_t link_id;
	const char *code;
	const char *key;    /* name of the API key */
	int64_t decided_ms; /* by Redis' clock; of an entry that was read */
};

typedef void url_block_fn(void *arg, const struct error *err);

/* Notes URLs of an account as blocked, up to 2 * LINK_URLS_MAX.  Works in a
 * Redis that is full.  The very same may be sent again. */
int url_block_async(struct redis_async *redis, const struct linkstore *store,
		    const char *account, const struct url_decision *decision,
		    const char *const *urls, size_t count, url_block_fn *fn,
		    void *arg, struct error *err);

/* Takes the decision about this link off these URLs; one without any is free
 * again. */
int url_let_go_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, uint64_t link_id,
		     const char *const *urls, size_t count, url_block_fn *fn,
		     void *arg, struct error *err);

/* Lifts all decisions about the URL of that id.  `number`: 1 if there were any,
 * 0 else. */
typedef void url_lifted_fn(void *arg, int64_t number, const struct error *err);
int url_lift_async(struct redis_async *redis, const char *account,
		   const char *id, url_lifted_fn *fn, void *arg,
		   struct error *err);

struct url_block_entry {
	const char *id;
	const char *url;
	/* The earliest of the decisions, and how many there are. */
	struct url_decision first;
	size_t decisions;
};

/* Calls back once an entry, and then with NULL: with the cursor of the next
 * page, "0" after the last, or with an error. */
typedef void url_blocks_fn(void *arg, const struct url_block_entry *entry,
			   const char *next, const struct error *err);
/* A page of an account's entries from `cursor` on, "0" for the first; an entry
 * may come twice (HSCAN).  With `id` (else NULL) that one alone. */
int url_blocks_read_async(struct redis_async *redis, const char *account,
			  const char *cursor, const char *id, url_blocks_fn *fn,
			  void *arg, struct error *err);

#endif
