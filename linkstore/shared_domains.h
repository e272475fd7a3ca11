/*
 * shared_domains.h - the domains that are kept in Redis, so that one command
 * changes them for all programs: their text, as domains_config.h reads it, and
 * its revision, which grows with each change.
 *
 * A thread of its own asks for the revision once a second, and has the text
 * taken when it is higher than the one in use: one that is lower is of a Redis
 * that forgot.  One that is refused is not in use, and is told of as such for
 * as long as Redis has it.
 */
#ifndef LINKSTORE_SHARED_DOMAINS_H
#define LINKSTORE_SHARED_DOMAINS_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "common/redis/redis_config.h"
#include "linkstore/linkstore.h"

#define SHARED_DOMAINS_KEY   "domains"
#define SHARED_DOMAINS_BYTES ((size_t)1 << 20) /* of a text, at most */

struct shared_domains {
	uint64_t revision; /* 0: there never were any */
	char *text;	   /* owned; "": there are none */
};

int shared_domains_read(struct redis *redis, struct shared_domains *ret,
			struct error *err);
void shared_domains_release(struct shared_domains *d);

/* `redis` knows the scripts of `store`.  ERROR_CONFLICT: `revision` is not the
 * one that is there any more. */
int shared_domains_write(struct redis *redis, const struct linkstore *store,
			 uint64_t revision, const char *text,
			 uint64_t *ret_revision, struct error *err);

/* --- whoever takes them --------------------------------------------------- */

/* Both are called on the thread. */
struct shared_domains_options {
	const struct redis_config *redis; /* outlives it */
	/* Takes a text; "" and revision 0: none were found so far.  -1: it is
	 * refused, and what was there stays in use. */
	int (*take)(void *arg, const char *text, uint64_t revision,
		    struct error *err);
	/* It has looked, for the first time or with another result than before;
	 * err NULL: all is well. */
	void (*looked)(void *arg, const struct error *err);
	void *arg;
};

struct shared_domains_watch;

struct shared_domains_watch *
shared_domains_watch_new(const struct shared_domains_options *options,
			 struct error *err);
int shared_domains_watch_start(struct shared_domains_watch *w,
			       struct error *err);
/* Has the last text taken again, soon.  From any thread. */
void shared_domains_watch_again(struct shared_domains_watch *w);
/* Ends the thread first.  NULL accepted. */
void shared_domains_watch_free(struct shared_domains_watch *w);

#endif
