/* dlq.h - what the commands about dead letters share.  Internal to
 * collector/dlq. */
#ifndef COLLECTOR_TOOLS_DLQ_DLQ_H
#define COLLECTOR_TOOLS_DLQ_DLQ_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/tools/dlq/choice.h"
#include "collector/tools/dlq/positions.h"
#include "collector/tools/dlq/walk.h"
#include "common/app/app.h"

struct dlq {
	struct app *app;
	const struct collector_config *config;
	struct choice choice;
	bool json, force, dry_run;
	uint64_t limit; /* letters listed */

	struct kafka_reader *reader;
	struct positions
		replayed;      /* where those came from that were sent again */
	struct positions seen; /* and those that were met so far */
	uint64_t walked;
};

/* Reads all marks into `replayed`. */
int dlq_read_marks(struct dlq *d, struct error *err);

/* Counts a record walked over; ERROR_BUSY when the program is to stop. */
int dlq_step(struct dlq *d, struct error *err);

/* 0 done, 1 done, but not all that was chosen; -1 and *err. */
int dlq_list(struct dlq *d, struct error *err);
int dlq_replay(struct dlq *d, struct error *err);

#endif
