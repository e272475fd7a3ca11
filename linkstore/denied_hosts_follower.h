/*
 * denied_hosts_follower.h - keeps the denied hosts of a running program up to
 * date: a thread polls Redis every DENIED_POLL_MS.  It writes the lines of the
 * log, the metrics shortloop_denied_hosts and shortloop_denied_hosts_revision,
 * and the health check `denied hosts`.
 *
 * A host that was seen stays denied until its denial is lifted in Redis: a
 * program that is cut off from Redis, or whose Redis has lost data, goes on
 * with what it has.
 */
#ifndef LINKSTORE_DENIED_HOSTS_FOLLOWER_H
#define LINKSTORE_DENIED_HOSTS_FOLLOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/app/health.h"
#include "common/domain_list.h"
#include "common/error.h"
#include "common/log.h"
#include "common/metrics/metrics.h"
#include "common/redis/redis_config.h"
#include "common/versions.h"
#include "linkstore/linkstore.h"

/* The interval and the time of a poll are well within the promised second. */
#define DENIED_POLL_MS	250
#define DENIED_AWAIT_MS 3000 /* for a Redis that hangs */

/* The hosts in force; one version of them. */
struct denied_hosts {
	uint64_t revision; /* grows with each version; 0: none was seen */
	struct domain_list *list;
};

struct denied_hosts_follower_options {
	const struct linkstore *store;
	const struct redis_config *redis;
	struct log *log;
	struct metrics *metrics;
	struct health *health;
};

struct denied_hosts_follower;

/* All that the options point to must outlive it. */
struct denied_hosts_follower *
denied_hosts_follower_new(const struct denied_hosts_follower_options *options,
			  struct error *err);
/* Ends its thread first.  Called after all users of its versions have left.
 * NULL accepted. */
void denied_hosts_follower_free(struct denied_hosts_follower *f);

int denied_hosts_follower_start(struct denied_hosts_follower *f,
				struct error *err);

/* Returns false before the first poll.  Callable from any thread. */
bool denied_hosts_follower_is_ready(const struct denied_hosts_follower *f);

/* Waits for the first poll, DENIED_AWAIT_MS at most, so that nothing is done
 * before the hosts are known.  A Redis that is away is no reason to wait: its
 * links are away, too.  Returns true if the program has to end. */
bool denied_hosts_follower_await(const struct denied_hosts_follower *f,
				 struct app *app);

/* Returns the versions of struct denied_hosts; they belong to the follower. */
struct versions *
denied_hosts_follower_versions(struct denied_hosts_follower *f);

#endif
