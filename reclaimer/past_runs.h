/*
 * past_runs.h - past runs, in ClickHouse's table reclaim_runs.
 *
 * For information only: no decision of a run depends on it.
 */
#ifndef RECLAIMER_PAST_RUNS_H
#define RECLAIMER_PAST_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"
#include "reclaimer/run_result.h"

/* Writes a row for each result, in one insert. */
int past_runs_write(const struct clickhouse_config *config,
		    const struct run_result *results, size_t count,
		    struct error *err);

/* A row of the table, cut to fit into a line. */
struct past_run {
	char started[32]; /* RFC 3339 */
	uint64_t scanned, freed, live, lost;
	double seconds;
	bool interrupted;
	char error[120]; /* "" if it succeeded */
};

/* Reads the newest runs over a space, newest first. */
int past_runs_newest(struct clickhouse *ch, const char *space, size_t max,
		     struct past_run *ret_runs, size_t *ret_count,
		     struct error *err);

/* --- the last days ---------------------------------------------------------
 */

struct run_sums {
	uint64_t scanned, freed, live, lost, gap, skipped; /* blocks */
	double seconds;
};

struct run_row {
	const char *space;
	const char *started; /* RFC 3339 */
	struct run_sums sums;
	bool interrupted;
	const char *error; /* "" if it succeeded */
	const char *host;
};

struct day_row {
	const char *space;
	const char *day; /* 2026-11-21, UTC */
	uint64_t runs, failed;
	struct run_sums sums;
};

/* Strings point into `text`. */
struct run_rows {
	struct buf text[2];
	struct run_row *runs; /* newest first */
	size_t run_count;
	uint64_t run_total; /* includes those beyond the limit */
	struct day_row *days;
	size_t day_count;
};

struct run_query {
	const char *space; /* NULL: every space */
	uint64_t days;	   /* today (UTC) and the days before */
	size_t runs_max;
};

/* Reads the runs of the last days, and their totals per day.  The caller calls
 * past_runs_free in any case. */
int past_runs_by_day(struct clickhouse *ch, const struct run_query *query,
		     struct run_rows *ret, struct error *err);
void past_runs_free(struct run_rows *rows);

#endif
