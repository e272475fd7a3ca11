/* block_pool_metrics.h - the metrics of the block pools of all threads. */
#ifndef ALLOCATOR_BLOCK_POOL_BLOCK_POOL_METRICS_H
#define ALLOCATOR_BLOCK_POOL_BLOCK_POOL_METRICS_H

#include "common/metrics/metrics.h"

struct block_pool_metrics {
	struct metric *held;	       /* gauge: blocks that we hold open */
	struct metric *waiting;	       /* gauge: requests without a block */
	struct metric *waited;	       /* requests that waited for a block */
	struct metric *grants;	       /* granted */
	struct metric *grants_failed;  /* refused or lost */
	struct metric *blocks_granted; /* all blocks of the grants */
	struct metric *opens_refused;  /* another process opened the block */
	struct metric *blocks_dropped; /* lost while in use */
	struct metric *blocks_expired; /* held for hold_max */
	struct metric *blocks_returned;
};
void block_pool_metrics_register(struct block_pool_metrics *pm,
				 struct metrics *m);

#endif
