/*
 * link_clicks.h - counts the clicks of one link, in the sources that have them.
 */
#ifndef AGGREGATOR_API_STATISTICS_LINK_CLICKS_H
#define AGGREGATOR_API_STATISTICS_LINK_CLICKS_H

#include "aggregator/api/call.h"
#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"
#include "common/error.h"

/* Fills in the counts of `a`, whose link and buckets are known, and whose
 * groups are empty. */
int link_clicks_fetch(struct call *call, const struct question *q,
		      struct clicks_answer *a, struct error *err);

#endif
