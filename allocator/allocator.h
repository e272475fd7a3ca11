/*
 * allocator.h - what the threads of a running allocator share: which links may
 * be made and by whom, the store, and what reports on links.
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
#include "linkstore/domains.h"
#include "linkstore/shared_domains.h"
#include "linkstore/space/high_water_file.h"
#include "linkstore/space/space_monitor.h"

/* What is told of a space. */
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
	struct error mismatch; /* why it had to stop by itself */

	/* Which links may be made. */
	struct {
		struct account_book *accounts;
		struct api_keyring *keys;
		struct domains *domains;
		struct shared_domains_watch *shared; /* NULL: none */
		struct metric *domains_revision;
		struct health_check *domains_check;
		struct url_policy *urls;
		struct link_defaults defaults;
	} rules;

	/* What reports on links and on spaces. */
	struct link_events *events;
	struct audit *audit; /* NULL: none */
	struct ledger_watch *ledger;
	struct space_report *space_reports; /* by space index */
	struct buf openapi;

	/* These run on the first thread. */
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

/* Begins to look for domains in Redis, if they are shared. */
int allocator_start_domains(struct allocator *a, struct error *err);

/* Opens the audit file and reads the API keys and the lists of domains again; a
 * failure is logged and changes nothing. */
void allocator_reload(struct allocator *a);

/* A thread's connection to Redis was made (`up`) or could not be, or was lost;
 * err: why.  From any thread. */
void allocator_redis_state(struct allocator *a, bool was_up, bool up,
			   const struct error *err);

/*
 * Once no thread runs: waits for the link events and the audit, each for
 * allocator.drain_timeout at most.  Returns -1 when the allocator could not
 * have gone on anyway (a space record differs from the configuration): it has
 * sent itself SIGTERM then.
 */
int allocator_drain(struct allocator *a, struct error *err);

#endif
