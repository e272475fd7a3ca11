/*
 * probe.h - asks ClickHouse whether it is there and has our tables, what it
 * promises (exactly_once/guarantee.h) and what time it is.  A job of the insert
 * workers.
 */
#ifndef COLLECTOR_INGEST_PROBE_H
#define COLLECTOR_INGEST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/guarantee.h"
#include "collector/ingest/insert_workers.h"
#include "common/error.h"

struct housekeeping;

struct probe {
	struct insert_job job;
	struct housekeeping *housekeeping;
	int status;
	struct error err;
	struct guarantee guarantee;
	struct measured measured; /* what is known; measured when it is not */
	bool is_fresh;		  /* it was not */
	bool clock_known;
	int64_t clock_ahead_ms; /* this host's, of ClickHouse's */
};
void probe_run(struct insert_job *job, struct sink *sink);

#endif
