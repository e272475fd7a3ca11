/* block_pool_metrics.h - what is counted of the block pools of all threads. */
#ifndef ALLOCATOR_BLOCK_POOL_BLOCK_POOL_METRICS_H
#define ALLOCATOR_BLOCK_POOL_BLOCK_POOL_METRICS_H

#include "common/metrics/metrics.h"

struct block_pool_metrics {
	struct metric *held;	       /* gauge: blocks open in our hands */
	struct metric *waiting;	       /* gauge: requests without a block */
	struct metric *waited;	       /* those that ever had none */
	struct metric *grants;	       /* granted */
	struct metric *grants_failed;  /* refused or lost */
	struct metric *blocks_granted; /* all blocks of the grants */
	struct metric *opens_refused;  /* opened by someone else */
	struct metric *blocks_dropped; /* taken from us while in use */
	struct metric *blocks_expired; /* held for hold_max */
	struct metric *blocks_returned;
};
void block_pool_metrics_register(struct block_pool_metrics *pm,
				 struct metrics *m);

#endif
