/*
 * rescore.h - what the parts of a rescoring share.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/collector_config.h"
#include "collector/enrich/lookups.h"
#include "common/agent/verdict.h"
#include "common/app/app.h"
#include "common/clickhouse/rows.h"

enum {
	CLASSIFICATIONS_MAX = 1000,
	RUN_TEXT = 17,
};

/* What a user agent and the headers it came with are classified as. */
struct classification {
	struct verdict verdict;
	const char *device_class;
};

struct rescore {
	struct app *app;
	const struct collector_config *config;
	const struct collector_settings *settings;
	struct clickhouse *ch;
	struct enrich_lookups *lookups;
	bool dry_run;
	const char *owner; /* whose links' clicks; NULL: everybody's */
	char host[256];

	/* The day being rescored. */
	int64_t day;	     /* days since 1970 */
	char partition[16];  /* "20261121" */
	uint64_t run;	     /* a random number */
	char name[RUN_TEXT]; /* `run` as tables' names have it */
	struct buf runs;     /* "1,2": `run` and those that it finishes */
	struct buf wider;    /* those of everybody's clicks that it only ends */
	struct classification classifications[CLASSIFICATIONS_MAX];
	size_t classification_count;
};

/* Runs `sql`, which has no answer, and empties it. */
int rescore_run(struct rescore *rs, struct buf *sql, struct error *err);

/* Asks `sql`, reads the answer as clickhouse_rows does and empties `sql`. */
int rescore_rows(struct rescore *rs, struct buf *sql, const char *columns,
		 clickhouse_row_fn *fn, void *arg, struct error *err);

/* The same for a question whose answer is always one row. */
int rescore_row(struct rescore *rs, struct buf *sql, const char *columns,
		clickhouse_row_fn *fn, void *arg, struct error *err);

/* True, with *err filled, when the operator wants an end. */
bool rescore_is_stopped(struct rescore *rs, int wait_ms, struct error *err);

#endif
