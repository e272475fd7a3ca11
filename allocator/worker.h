/*
 * worker.h - one thread of the allocator.  Share what `struct shared` holds;
 * everything else is its own.
 */
#ifndef ALLOCATOR_WORKER_H
#define ALLOCATOR_WORKER_H

#include <pthread.h>

#include "allocator/allocator_config.h"
#include "allocator/api/api.h"
#include "allocator/policy/url_policy.h"
#include "allocator/redis_reserve.h"
#include "linkstore/domains.h"

/* What all workers use. */
struct shared {
	const struct allocator_config *config;
	struct log *log;
	struct linkstore *store;
	struct domains *domains;
	struct url_policy *urls;
	struct link_defaults defaults;
	struct api_keyring *keys;
	struct link_events *events;
	struct redis_reserve *reserve; /* run by the first worker */
	struct audit *audit;	       /* NULL: none */
	struct ledger_watch *ledger;
	struct buf openapi;
	struct space_watch *spaces; /* run by the first worker */
	struct id_generator *ids;   /* likewise; NULL: not needed */
	struct metrics *metrics;
	struct api_metrics api_metrics;
	struct creation_metrics creation_metrics;
	struct batch_metrics batch_metrics;
	struct block_pool_metrics block_pool_metrics;
	struct seen_file *seen;
	struct workers *painters; /* draw QR codes */
	struct log_pace failures;
	char holder[LINK_HOLDER_MAX];

	pthread_mutex_t redis_lock; /* of the two below */
	struct health_check *redis_check;
	unsigned redis_up; /* workers with a connection */
};

struct worker;

/* Binds the port.  `shared` must outlive it. */
struct worker *worker_new(struct shared *shared, unsigned index,
			  struct error *err);
/* After worker_join, or when it was never started.  NULL accepted. */
void worker_free(struct worker *w);

int worker_start(struct worker *w, struct error *err);
/* Asks it to drain and end; from any thread. */
void worker_stop(struct worker *w);
void worker_join(struct worker *w);

#endif
