/*
 * run_rows.h - the runs of the last days and their totals per day, out of
 * ClickHouse's table reclaim_runs.
 */
#ifndef RECLAIMER_RUNS_RUN_ROWS_H
#define RECLAIMER_RUNS_RUN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct run_sums {
	uint64_t scanned, freed, live, lost, gap, skipped; /* blocks */
	double seconds;
};

struct run_row {
	const char *space;
	const char *started; /* RFC 3339 */
	struct run_sums sums;
	bool interrupted;
	const char *error; /* "" when it went well */
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
	uint64_t run_total; /* also those beyond the limit */
	struct day_row *days;
	size_t day_count;
};

struct run_question {
	const char *space; /* NULL: every space */
	uint64_t days;	   /* today (UTC) and those before */
	size_t runs_max;
};

/* run_rows_free in any case. */
int run_rows_read(struct clickhouse *ch, const struct run_question *question,
		  struct run_rows *ret, struct error *err);
void run_rows_free(struct run_rows *rows);

#endif
