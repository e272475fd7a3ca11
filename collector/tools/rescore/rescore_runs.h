/*
 * rescore_runs.h - records which runs over a day were begun and which are done,
 * in the table `rescored`; writes the rows of ingest_progress that make hours
 * settle again.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_RESCORE_RUNS_H
#define COLLECTOR_TOOLS_RESCORE_RESCORE_RUNS_H

#include "collector/tools/rescore/rescore.h"

/* Starts of hours, seconds since 1970, without duplicates. */
struct rescore_hours {
	uint32_t start[25 * 2];
	size_t count;
};

/* Adds the hours of a list like "[1792800000,1792803600]". */
void rescore_hours_read(struct rescore_hours *h, const char *list);

/* Adds the hours of unfinished runs over the day, and their numbers to
 * rs->runs.  A run over the clicks of an account or owner ignores those over
 * another's, since they share no row; runs over more clicks are added to
 * rs->wider, as it cannot finish them. */
int rescore_runs_unfinished(struct rescore *rs, struct rescore_hours *hours,
			    struct error *err);

/* Records that rs->run begins, and adds it to rs->runs. */
int rescore_runs_begin(struct rescore *rs, uint64_t rows,
		       const struct rescore_hours *hours, struct error *err);

/* Reports the hours to the aggregator, then records that rs->runs are done, but
 * not rs->wider. */
int rescore_runs_finish(struct rescore *rs, const struct rescore_hours *hours,
			struct error *err);

#endif
