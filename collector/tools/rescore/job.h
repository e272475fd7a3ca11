/*
 * job.h - what the parts of a rescoring share.  Internal to collector/rescore.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_JOB_H
#define COLLECTOR_TOOLS_RESCORE_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/enrich/lookups.h"
#include "collector/enrich/verdict.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"

enum {
	OUTCOMES_MAX = 1000,
	RUN_TEXT = 17,
};

/* What a user agent can come to, with the headers it came with. */
struct outcome {
	struct verdict verdict;
	const char *device_class;
};

struct job {
	struct app *app;
	const struct collector_config *config;
	const struct collector_settings *settings;
	struct clickhouse *ch;
	struct enrich_lookups *lookups;
	bool dry_run;
	char host[256];

	/* Of the day being worked on. */
	int64_t day;	     /* days since 1970 */
	char partition[16];  /* "20261121" */
	uint64_t run;	     /* a number by chance */
	char name[RUN_TEXT]; /* the same, in tables' names */
	struct buf runs;     /* "1,2": it and those whose hours it tells */
	struct outcome outcomes[OUTCOMES_MAX];
	size_t outcome_count;
};

/* Runs `sql` and empties it; the answer, if any, goes to `out`. */
int job_query(struct job *job, struct buf *sql, struct buf *out,
	      struct error *err);

/* One number; 0 when there is no row. */
int job_number(struct job *job, struct buf *sql, uint64_t *ret,
	       struct error *err);

/* True, with *err filled, when the operator wants an end. */
bool job_is_stopped(struct job *job, int wait_ms, struct error *err);

#endif
