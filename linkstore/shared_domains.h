/*
 * shared_domains.h - the domains that are kept in Redis, so that one command
 * changes them for all programs: their text, in the form that domains_config.h
 * reads, and its revision, which grows with each change.
 *
 * A thread polls the revision once a second, and takes the text if the revision
 * is higher than the one in use.  A lower revision means that Redis has lost
 * data.  A refused revision is not in use; the refusal is reported as long as
 * Redis has it.
 */
#ifndef LINKSTORE_SHARED_DOMAINS_H
#define LINKSTORE_SHARED_DOMAINS_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "common/redis/redis_config.h"
#include "linkstore/linkstore.h"

#define SHARED_DOMAINS_KEY   "domains"
#define SHARED_DOMAINS_BYTES ((size_t)1 << 20) /* largest text */

struct shared_domains {
	uint64_t revision; /* 0: there never was a text */
	char *text;	   /* owned; "": there are none */
};

int shared_domains_read(struct redis *redis, struct shared_domains *ret,
			struct error *err);
void shared_domains_release(struct shared_domains *d);

/* `redis` knows the scripts of `store`.  ERROR_CONFLICT: the revision in Redis
 * is not `revision` any more. */
int shared_domains_write(struct redis *redis, const struct linkstore *store,
			 uint64_t revision, const char *text,
			 uint64_t *ret_revision, struct error *err);

/* --- watch ---------------------------------------------------------------- */

/* The callbacks are called on the thread. */
struct shared_domains_options {
	const struct redis_config *redis; /* outlives the watch */
	/* Takes a text; "" and revision 0: none was found so far.  Returns -1
	 * if it is refused; the previous one stays in use. */
	int (*take)(void *arg, const char *text, uint64_t revision,
		    struct error *err);
	/* Called after the first poll, and after each poll with another result
	 * than before; err NULL: all is well. */
	void (*looked)(void *arg, const struct error *err);
	void *arg;
};

struct shared_domains_watch;

struct shared_domains_watch *
shared_domains_watch_new(const struct shared_domains_options *options,
			 struct error *err);
int shared_domains_watch_start(struct shared_domains_watch *w,
			       struct error *err);
/* Takes the last text again soon.  Thread-safe. */
void shared_domains_watch_again(struct shared_domains_watch *w);
/* Ends the thread first.  NULL accepted. */
void shared_domains_watch_free(struct shared_domains_watch *w);

#endif
