/*
 * allocator.h - what the threads of a running allocator share: the rules for
 * new links, the store, and the reporters of links and spaces.
 */
#ifndef ALLOCATOR_ALLOCATOR_H
#define ALLOCATOR_ALLOCATOR_H

#include <pthread.h>
#include <stdbool.h>

#include "allocator/allocator_config.h"
#include "allocator/api/api.h"
#include "allocator/batch/batch.h"
#include "allocator/block_pool/block_pool_metrics.h"
#include "allocator/create/creation.h"
#include "allocator/create/id_generator.h"
#include "allocator/keys/account_book.h"
#include "allocator/ledger/ledger_watch.h"
#include "allocator/link/link_defaults.h"
#include "allocator/link_events.h"
#include "allocator/policy/url_policy.h"
#include "allocator/redis_reserve.h"
#include "common/app/app.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/domains.h"
#include "linkstore/domains_follower.h"
#include "linkstore/space/high_water_file.h"
#include "linkstore/space/space_monitor.h"

/* The health check and the metric of one space. */
struct space_report {
	struct health_check *check;
	struct metric *keys_missing;
};

struct allocator {
	const struct allocator_config *config;
	struct log *log;
	struct metrics *metrics;
	char holder[LINK_HOLDER_MAX]; /* this process: host and pid */
	struct linkstore *store;
	struct high_water_file *high_water_file;
	struct error mismatch; /* why the program had to stop by itself */

	/* The rules for new links. */
	struct {
		struct account_book *accounts;
		struct api_keyring *keys;
		struct domains *domains;
		struct domains_follower *follower; /* of the domains */
		struct denied_hosts_follower *denied_hosts;
		struct url_policy *urls;
		struct link_defaults defaults;
	} rules;

	/* The reporters of links and spaces. */
	struct link_events *events;
	struct audit *audit; /* NULL: none */
	struct ledger_watch *ledger;
	struct space_report *space_reports; /* by space index */
	struct buf openapi;

	/* Run by the first thread. */
	struct space_monitor *spaces;
	struct redis_reserve *reserve;
	struct id_generator *ids; /* NULL: not needed */

	struct {
		struct api_metrics api;
		struct creation_metrics creation;
		struct batch_metrics batch;
		struct block_pool_metrics block_pool;
	} counts;
	struct log_pace failures;

	struct {
		pthread_mutex_t lock;
		struct health_check *check;
		unsigned connected; /* threads */
	} redis;
};

/* For --check: reads the API keys and lists of domains, as a start does.
 * `config` is a struct allocator_config.  A bad file is ERROR_CONFIG. */
int allocator_check(const void *config, struct error *err);

/* Opens everything but the threads.  All arguments must outlive it. */
struct allocator *allocator_new(const struct allocator_config *config,
				struct app *app, struct error *err);
void allocator_free(struct allocator *a); /* NULL accepted */

/* Starts to poll Redis for denied hosts, and for domains, if they are shared.
 */
int allocator_start_hosts(struct allocator *a, struct error *err);

/* Reopens the audit file and reads the API keys and the lists of domains again.
 * A failure is logged and changes nothing. */
void allocator_reload(struct allocator *a);

/* The connection of a thread to Redis was made (`up`), or was lost or could not
 * be made (err: why).  Thread-safe. */
void allocator_redis_state(struct allocator *a, bool was_up, bool up,
			   const struct error *err);

/*
 * Call it when no thread runs any more.  It waits for the link events and for
 * the audit, each for allocator.drain_timeout at most.  Returns -1 if the
 * allocator could not have gone on anyway (a space record differs from the
 * configuration); the allocator has sent itself SIGTERM then.
 */
int allocator_drain(struct allocator *a, struct error *err);

#endif
