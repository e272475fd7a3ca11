/*
 * query.h - executes one request on the engine, on a worker's thread.
 *
 * It decodes the body, finds statement and data, applies the settings, runs the
 * statement and encodes the answer.
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
	size_t max_body;	 /* bytes of a request's body, decompressed */
	size_t max_result_bytes; /* bytes of an answer; 0: no limit */
};

/* Starts zeroed; query_release frees what it holds. */
struct query {
	struct statement statement;
	struct buf body;    /* decoded; empty if it was not encoded */
	struct buf text;    /* URL and body joined, if necessary */
	struct buf answer;  /* encoded; empty if it is sent unencoded */
	struct buf failure; /* the whole text of a failure */
	struct engine_result result;
	bool failed;
};

/*
 * Runs `r` in `session`, or in a session of its own if that is NULL.  Its id is
 * in `running`, unless that is NULL.  `failed` and `failure` have the outcome.
 */
void query_run(struct query *q, const struct query_request *r,
	       struct engine *engine, struct engine_session *session,
	       struct running *running, const struct query_limits *limits);

/* Returns the answer's body as it is sent. */
struct http_slice query_answer(const struct query *q);

/* Returns the name of the answer's format. */
const char *query_format(const struct query *q, const struct query_request *r);

void query_release(struct query *q, struct engine *engine);

#endif
