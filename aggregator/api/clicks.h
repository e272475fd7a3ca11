/*
 * clicks.h - the answer to GET /v1/clicks, written as JSON or CSV.
 */
#ifndef AGGREGATOR_API_CLICKS_H
#define AGGREGATOR_API_CLICKS_H

#include <jansson.h>

#include "aggregator/api/clicks_fetch.h"
#include "aggregator/api/question.h"
#include "common/buf.h"

/* NULL when out of memory. */
json_t *clicks_to_json(const struct question *q, const struct clicks_answer *a);
void clicks_to_csv(const struct question *q, const struct clicks_answer *a,
		   struct buf *out);

#endif
