/*
 * url_checker.h - checks whether an account may make links to URLs
 * (url_blocks.h).
 *
 * All checks of an account in one loop turn are one query to Redis: whether the
 * account has any blocked URL.  The URLs themselves are queried only if it has.
 */
#ifndef LINKSTORE_URL_CHECKER_H
#define LINKSTORE_URL_CHECKER_H

#include <stddef.h>

#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/url_blocks.h"

struct url_checker;

/* Belongs to the loop's thread. */
struct url_checker *url_checker_new(struct loop *loop,
				    struct redis_async *redis,
				    struct error *err);
/* Call it after `redis` was freed.  Checks that were not sent get their
 * callback with an error.  NULL accepted. */
void url_checker_free(struct url_checker *checker);

/* `blocked` is the first blocked URL, or NULL; it is valid if err is NULL. */
typedef void url_checked_fn(void *arg, const char *blocked,
			    const struct error *err);

/* Queues a check for the end of this loop turn.  `account` and the URLs, of
 * which LINK_URLS_MAX count, belong to the caller until the callback, which is
 * called once and never before this returns. */
int url_checker_check(struct url_checker *checker, const char *account,
		      const char *const *urls, size_t count, url_checked_fn *fn,
		      void *arg, struct error *err);

#endif
