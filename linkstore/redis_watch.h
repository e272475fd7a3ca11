/*
 * redis_watch.h - a thread that polls Redis for what all programs share
 * (shared_domains.h, denied_hosts.h), on a connection of its own, and reports
 * each result that differs from the one before.
 */
#ifndef LINKSTORE_REDIS_WATCH_H
#define LINKSTORE_REDIS_WATCH_H

#include <stdint.h>

#include "common/error.h"
#include "common/redis/redis.h"
#include "common/redis/redis_config.h"

/* The callbacks are called on the thread. */
struct redis_watch_options {
	const struct redis_config *redis; /* outlives the watch */
	/* The scripts that `poll` calls; NULL: none. */
	const struct redis_scripts *scripts;
	int64_t every_ms;
	/* Polls once.  Returns -1 if there is something to report. */
	int (*poll)(void *arg, struct redis *redis, struct error *err);
	/* Called after the first poll, and after each poll with another result
	 * than before; err NULL: all is well. */
	void (*looked)(void *arg, const struct error *err);
	void *arg;
};

struct redis_watch;

/* Starts no thread yet. */
struct redis_watch *redis_watch_new(const struct redis_watch_options *options,
				    struct error *err);
int redis_watch_start(struct redis_watch *w, struct error *err);
/* Polls soon.  Thread-safe. */
void redis_watch_wake(struct redis_watch *w);
/* Ends the thread first.  NULL accepted. */
void redis_watch_free(struct redis_watch *w);

#endif
