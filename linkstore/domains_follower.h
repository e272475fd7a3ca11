/*
 * domains_follower.h - keeps the domains of a running program up to date: it
 * takes those in Redis as they change (shared_domains.h), or reads the file
 * again when it is asked to.  It writes the lines of the log, the metric
 * shortloop_domains_revision and the health check `domains`.
 */
#ifndef LINKSTORE_DOMAINS_FOLLOWER_H
#define LINKSTORE_DOMAINS_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/app/health.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_config.h"
#include "linkstore/domains_config.h"

struct domains_follower_options {
	const struct domains_config *domains;
	const struct redis_config *redis;
	struct log *log;
	struct metrics *metrics;
	struct health *health;
	/* Takes domains, as domains_reload does; `shared` "" stands for those
	 * of the configuration or of its file.  Returns their number in
	 * *ret_count, or -1: they were refused, and the old ones stay.  Called
	 * on the follower's thread if domains are shared, otherwise on that of
	 * domains_follower_reload. */
	int (*take)(void *arg, const char *shared, size_t *ret_count,
		    struct error *err);
	void *arg;
	/* `take` reads further files, which the configuration names: it is
	 * called at a reload even if there is no file of domains. */
	bool has_files;
};

struct domains_follower;

/* All that the options point to must outlive it. */
struct domains_follower *
domains_follower_new(const struct domains_follower_options *options,
		     struct error *err);
/* Ends its thread first.  NULL accepted. */
void domains_follower_free(struct domains_follower *f);

/* Starts to poll Redis for domains, if they are shared. */
int domains_follower_start(struct domains_follower *f, struct error *err);

/* Takes the present domains again: soon, if they are shared. */
void domains_follower_reload(struct domains_follower *f);

/* Returns false while shared domains were not found yet.  Callable from any
 * thread; true for NULL. */
bool domains_follower_is_ready(const struct domains_follower *f);

#endif
