/*
 * history.h - the runs so far, in ClickHouse's table reclaim_runs.
 *
 * A convenience: nothing that a run decides depends on it.
 */
#ifndef RECLAIMER_HISTORY_H
#define RECLAIMER_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "reclaimer/outcome.h"

/* Writes a row for each outcome, in one insert. */
int history_write(const struct clickhouse_config *config,
		  const struct outcome *outcomes, size_t count,
		  struct error *err);

/* One row of the table, as much of it as fits into a line. */
struct past_run {
	char started[32]; /* RFC 3339 */
	uint64_t scanned, freed, live, lost;
	double seconds;
	bool interrupted;
	char error[120]; /* "" when it went well */
};

/* The newest runs over a space, newest first. */
int history_read(struct clickhouse *ch, const char *space, size_t max,
		 struct past_run *ret_runs, size_t *ret_count,
		 struct error *err);

#endif
