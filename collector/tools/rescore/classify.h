/*
 * classify.h - classifies the distinct user agents of a day, by verdict and
 * device class, with the collector's rules.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_CLASSIFY_H
#define COLLECTOR_TOOLS_RESCORE_CLASSIFY_H

#include "collector/tools/rescore/rescore.h"

/* Makes and fills the tables `agents`, `map` and `bursts` of rs->run.
 * *ret_count: number of classified user agents. */
int classify_day(struct rescore *rs, uint64_t *ret_count, struct error *err);

#endif
