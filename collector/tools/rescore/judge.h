/*
 * judge.h - what the distinct user agents of a day come to.  Internal to
 * collector/rescore.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_JUDGE_H
#define COLLECTOR_TOOLS_RESCORE_JUDGE_H

#include "collector/tools/rescore/job.h"

/* Makes and fills the tables `agents`, `map` and `bursts` of the job's run.
 * *ret_count: how many were judged. */
int judge_day(struct job *job, uint64_t *ret_count, struct error *err);

#endif
