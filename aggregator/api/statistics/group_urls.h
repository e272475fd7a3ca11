/* group_urls.h - the text of the URLs in groups by `url`, whose values are
 * digests. */
#ifndef AGGREGATOR_API_STATISTICS_GROUP_URLS_H
#define AGGREGATOR_API_STATISTICS_GROUP_URLS_H

#include "aggregator/api/statistics/clicks_answer.h"
#include "aggregator/api/statistics/question.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

/*
 * Finds the texts in the archive, by links of any account: a link with this
 * digest has the very URL to which the visitors of the caller's links were
 * sent.  A URL that no archived link has any more stays without text.
 */
int group_urls_find(struct clickhouse *ch, const struct question *q,
		    struct clicks_answer *a, struct error *err);

#endif
