/*
 * url_checker.h - may an account make links to these URLs (url_blocks.h)?
 *
 * All checks of an account and a loop turn are one question to Redis, whether
 * anything is blocked for it at all; only of an account for which something is,
 * the URLs themselves are asked for.
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
/* After `redis` was freed.  Checks that were not sent get their callback with
 * an error.  NULL accepted. */
void url_checker_free(struct url_checker *checker);

/* `blocked` is the first of the URLs that is, or NULL, and counts when err is
 * NULL. */
typedef void url_checked_fn(void *arg, const char *blocked,
			    const struct error *err);

/* Queues a check for the end of this loop turn.  `account` and the URLs, of
 * which LINK_URLS_MAX count, stay the caller's until the one callback, which
 * never comes before this returns. */
int url_checker_check(struct url_checker *checker, const char *account,
		      const char *const *urls, size_t count, url_checked_fn *fn,
		      void *arg, struct error *err);

#endif
