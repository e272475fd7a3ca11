/*
 * ledger.h - what was begun and what is done: table `rescored`, and the rows of
 * ingest_progress that make hours settle again.  Internal to collector/rescore.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_LEDGER_H
#define COLLECTOR_TOOLS_RESCORE_LEDGER_H

#include "collector/tools/rescore/job.h"

/* Starts of hours, seconds since 1970, each once. */
struct hours {
	uint32_t start[25 * 2];
	size_t count;
};

void hours_add(struct hours *h, uint32_t start);
/* Adds those of "[1792800000,1792803600]". */
void hours_read(struct hours *h, const char *list);

/* Adds the hours of runs over the day that were begun and not finished, and
 * their numbers to the job's. */
int ledger_unfinished(struct job *job, struct hours *hours, struct error *err);

/* Adds its own number to the job's. */
int ledger_begin(struct job *job, uint64_t rows, const struct hours *hours,
		 struct error *err);

/* Tells the aggregator of the hours, then ends the job's runs. */
int ledger_finish(struct job *job, const struct hours *hours,
		  struct error *err);

#endif
