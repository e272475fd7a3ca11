/*
 * url_blocks.h - the URLs to which an account may make no links, since a link
 * of the account that leads there was blocked.
 *
 * `blocked:{<account>}` is a hash: the id of each such URL maps to the URL and
 * to the decisions on it, each made with a link
 * (linkstore/scripts/lib_blocked.lua).  It has no TTL: a moderator's decision
 * stays until it is lifted.  The account's slot differs from the link's, so a
 * block takes two steps:
 *
 *	block	the URLs, then the link
 *	let go	the URLs, then the link
 *
 * The link is written last.  If a program is killed in between, the link is
 * unchanged, and the moderator sees it so; sending the request again completes
 * it.  A Redis that loses data may lose one of the two.  If the URLs of a
 * blocked link are lost, its own code still answers as blocked; blocking it
 * once more notes them again.
 */
#ifndef LINKSTORE_URL_BLOCKS_H
#define LINKSTORE_URL_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/redis/redis_async.h"
#include "linkstore/linkstore.h"
#include "schemas/link.pb-c.h"

#define LINK_URLS_MAX	16  /* its own, and up to three per device */
#define URL_BLOCK_ID	33  /* 32 hexadecimal digits and the NUL */
#define URL_BLOCK_LINKS 100 /* largest number of decisions kept per URL */

/* Returns where a link leads: its URL and those of its targets, each once.  The
 * link owns the texts. */
size_t link_urls(const Shortloop__Link *link, const char *ret[LINK_URLS_MAX]);

/* Writes the id of a URL: 128 bits of BLAKE2b. */
void url_block_id(const char *url, char ret[URL_BLOCK_ID]);

/* A moderator's decision with a link; link_id 0, code "-": on the URL alone. */
struct url_decision {
	uint64_t link_id;
	const char *code;
	const char *key;    /* name of the API key */
	int64_t decided_ms; /* by Redis' clock; set when read */
};

typedef void url_block_fn(void *arg, const struct error *err);

/* Notes URLs of an account as blocked, up to 2 * LINK_URLS_MAX.  Works even if
 * Redis is full.  The same request may be sent again. */
int url_block_async(struct redis_async *redis, const struct linkstore *store,
		    const char *account, const struct url_decision *decision,
		    const char *const *urls, size_t count, url_block_fn *fn,
		    void *arg, struct error *err);

/* Removes the decision made with this link from these URLs; a URL without a
 * decision is free again. */
int url_let_go_async(struct redis_async *redis, const struct linkstore *store,
		     const char *account, uint64_t link_id,
		     const char *const *urls, size_t count, url_block_fn *fn,
		     void *arg, struct error *err);

/* Lifts all decisions on the URL of that id.  `number`: 1 if there were any,
 * otherwise 0. */
typedef void url_lifted_fn(void *arg, int64_t number, const struct error *err);
int url_lift_async(struct redis_async *redis, const char *account,
		   const char *id, url_lifted_fn *fn, void *arg,
		   struct error *err);

struct url_block_entry {
	const char *id;
	const char *url;
	/* The earliest decision, and the number of decisions. */
	struct url_decision first;
	size_t decisions;
};

/* Called once for each entry, and then with NULL: with the cursor of the next
 * page ("0" after the last), or with an error. */
typedef void url_blocks_fn(void *arg, const struct url_block_entry *entry,
			   const char *next, const struct error *err);
/* Reads a page of an account's entries from `cursor` on, "0" for the first; an
 * entry may come twice (HSCAN).  With `id` (else NULL) only that entry. */
int url_blocks_read_async(struct redis_async *redis, const char *account,
			  const char *cursor, const char *id, url_blocks_fn *fn,
			  void *arg, struct error *err);

#endif
