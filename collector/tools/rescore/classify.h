/*
 * classify.h - verdict and device class of the distinct user agents of a day,
 * by the collector's rules.
 */
#ifndef COLLECTOR_TOOLS_RESCORE_CLASSIFY_H
#define COLLECTOR_TOOLS_RESCORE_CLASSIFY_H

#include "collector/tools/rescore/rescore.h"

/* Makes and fills the tables `agents`, `map` and `bursts` of rs->run.
 * *ret_count: how many user agents were classified. */
int classify_day(struct rescore *rs, uint64_t *ret_count, struct error *err);

#endif
