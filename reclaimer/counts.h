/* counts.h - a run's numbers in /metrics. */
#ifndef RECLAIMER_COUNTS_H
#define RECLAIMER_COUNTS_H

#include "common/metrics/metrics.h"
#include "reclaimer/reclaimer_config.h"
#include "reclaimer/space/tally.h"

struct counts {
	struct metric *freed, *live, *lost, *gap, *skipped, *sampled;
	struct tally told; /* of the present space, so far */
};

void counts_register(struct counts *counts, struct metrics *metrics,
		     const struct reclaimer_settings *settings);

/* The tally of the next space begins at zero. */
void counts_next_space(struct counts *counts);
void counts_update(struct counts *counts, const struct tally *tally);

#endif
