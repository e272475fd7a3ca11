/*
 * day.h - rescores one UTC day.  Internal to collector/rescore.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_DAY_H
#define COLLECTOR_TOOLS_RESCORE_DAY_H

#include "collector/tools/rescore/job.h"

struct day_result {
	uint64_t agents;  /* distinct, judged */
	uint64_t changes; /* rows whose verdict is another */
	uint64_t labels;  /* rows of which only reason, version or class is */
	uint64_t from_to[VERDICT_KIND_COUNT][VERDICT_KIND_COUNT];
	size_t hours; /* to be settled again */
	bool resumed; /* an earlier run had not come to its end */
};

int day_rescore(struct job *job, int64_t day, struct day_result *ret,
		struct error *err);

/* Drops tables that a killed run left behind more than a day ago. */
int day_drop_left_over(struct job *job, struct error *err);

#endif
