/*
 * query.h - carries one request out on the engine, on a worker's thread.
 *
 * From the request: decodes the body, finds statement and data, applies the
 * settings, runs it, encodes the answer.
 */
#ifndef STACK_CLICKHOUSE_QUERY_H
#define STACK_CLICKHOUSE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"
#include "stack/clickhouse/engine.h"
#include "stack/clickhouse/query_request.h"
#include "stack/clickhouse/running.h"
#include "stack/clickhouse/statement.h"

struct query_limits {
	size_t max_body;	 /* of a request, decompressed */
	size_t max_result_bytes; /* of an answer, 0: none */
};

/* Starts zeroed; what it holds is released by query_release. */
struct query {
	struct statement statement;
	struct buf body;    /* decoded; empty when it came as it is */
	struct buf text;    /* URL and body joined, when they had to be */
	struct buf answer;  /* encoded; empty when it goes out as it is */
	struct buf failure; /* the whole text of a failure */
	struct engine_result result;
	bool failed;
};

/*
 * Runs `r`, whose id is entered in `running` (NULL: it is not), in `session`,
 * or in one of its own when that is NULL.  `failed` and `failure` tell how it
 * went.
 */
void query_run(struct query *q, const struct query_request *r,
	       struct engine *engine, struct engine_session *session,
	       struct running *running, const struct query_limits *limits);

/* The answer's body as it goes out. */
struct http_slice query_answer(const struct query *q);

/* The name of the answer's format. */
const char *query_format(const struct query *q, const struct query_request *r);

void query_release(struct query *q, struct engine *engine);

#endif
