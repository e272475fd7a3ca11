/* reply.h - a query's outcome as ClickHouse's HTTP answer. */
#ifndef STACK_CLICKHOUSE_REPLY_H
#define STACK_CLICKHOUSE_REPLY_H

#include "common/error.h"
#include "common/http/http_server.h"
#include "stack/clickhouse/query.h"
#include "stack/clickhouse/query_request.h"

/* What the engine says of itself once, in every answer. */
struct reply_identity {
	char version[64];
	char time_zone[64];
	char display_name[128];
};

/* Answers with the result, or with the failure when it failed. */
void reply_query(struct http_request *http, const struct reply_identity *id,
		 const struct query_request *r, const struct query *q);

/* Answers with a failure in ClickHouse's form ("Code: N. ..."). */
void reply_failure(struct http_request *http, const struct reply_identity *id,
		   const char *query_id, const char *text);

#endif
