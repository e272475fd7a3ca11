/*
 * rescore_runs.h - which runs over a day were begun and which are done: table
 * `rescored`, and the rows of ingest_progress that make hours settle again.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_RUNS_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_RUNS_H

#include "collector/tools/rescore/rescore.h"

/* Starts of hours, seconds since 1970, each once. */
struct rescore_hours {
	uint32_t start[25 * 2];
	size_t count;
};

/* Adds those of "[1792800000,1792803600]". */
void rescore_hours_read(struct rescore_hours *h, const char *list);

/* Adds the hours of runs over the day that were begun and not finished, and
 * their numbers to rs->runs.  A run over one owner's clicks leaves out those
 * over another's, with which it shares no row; those over everybody's go to
 * rs->wider, as it cannot finish them. */
int rescore_runs_unfinished(struct rescore *rs, struct rescore_hours *hours,
			    struct error *err);

/* Notes that rs->run begins, and adds it to rs->runs. */
int rescore_runs_begin(struct rescore *rs, uint64_t rows,
		       const struct rescore_hours *hours, struct error *err);

/* Reports the hours to the aggregator, then notes that rs->runs are done, and
 * not that rs->wider are. */
int rescore_runs_finish(struct rescore *rs, const struct rescore_hours *hours,
			struct error *err);

#endif
