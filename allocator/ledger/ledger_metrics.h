/* ledger_metrics.h - shortloop_space_*{space}: the ledger on /metrics. */
#ifndef ALLOCATOR_LEDGER_LEDGER_METRICS_H
#define ALLOCATOR_LEDGER_LEDGER_METRICS_H

#include "allocator/ledger/ledger_entry.h"
#include "common/metrics/metrics.h"

/* What "never" is in seconds: a thousand years. */
#define LEDGER_NEVER_SECONDS INT64_C(31556952000)

enum {
	LEDGER_METRICS = 18
};

struct ledger_metrics {
	bool registered;
	struct metric *gauges[LEDGER_METRICS]; /* NULL: not of this space */
};

/* Registers them once a space could be read: until then there is nothing to
 * say, and a 0 would look like a space without a block. */
void ledger_metrics_set(struct ledger_metrics *lm, struct metrics *m,
			const struct ledger_entry *entry);

#endif
