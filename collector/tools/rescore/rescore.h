/*
 * rescore.h - data and functions that the parts of a rescoring share.
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

/* The classification of a user agent with its headers. */
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
	/* The clicks' links are theirs; NULL: anybody's.  An owner has an
	 * account. */
	const char *account, *owner;
	char host[256];

	/* The day being rescored. */
	int64_t day;	     /* days since 1970 */
	char partition[16];  /* e.g. "20261121" */
	uint64_t run;	     /* a random number */
	char name[RUN_TEXT]; /* `run` as in names of tables */
	struct buf runs;     /* "1,2": `run` and the runs that it finishes */
	/* Runs over more clicks, which this run only ends. */
	struct buf wider;
	struct classification classifications[CLASSIFICATIONS_MAX];
	size_t classification_count;
};

/* Runs `sql`, which has no answer, and empties it. */
int rescore_run(struct rescore *rs, struct buf *sql, struct error *err);

/* Queries `sql`, reads the answer as clickhouse_rows does and empties `sql`. */
int rescore_rows(struct rescore *rs, struct buf *sql, const char *columns,
		 clickhouse_row_fn *fn, void *arg, struct error *err);

/* Does the same for a query whose answer is always one row. */
int rescore_row(struct rescore *rs, struct buf *sql, const char *columns,
		clickhouse_row_fn *fn, void *arg, struct error *err);

/* Returns true, with *err filled, when the operator stops the command. */
bool rescore_is_stopped(struct rescore *rs, int wait_ms, struct error *err);

#endif
