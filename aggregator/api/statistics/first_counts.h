/*
 * first_counts.h - where the range of a question begins that asks for all
 * counts (period=all).
 */
#ifndef AGGREGATOR_API_STATISTICS_FIRST_COUNTS_H
#define AGGREGATOR_API_STATISTICS_FIRST_COUNTS_H

#include "aggregator/api/call.h"
#include "aggregator/api/links/archive.h"
#include "aggregator/api/statistics/question.h"
#include "common/error.h"

/* For a question with PERIOD_ALL: begins it at the midnight before the link was
 * made (its link_id is 0: before the first settled hour), or where counts are
 * kept from, if that is later. */
int first_counts_begin(struct call *call, const struct archived_link *link,
		       struct question *q, struct error *err);

#endif
