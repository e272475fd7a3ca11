/* query_request.h - the ClickHouse parameters of one HTTP request. */
#ifndef STACK_CLICKHOUSE_QUERY_REQUEST_H
#define STACK_CLICKHOUSE_QUERY_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/http/http_server.h"
#include "common/http/url.h"
#include "stack/clickhouse/coding.h"

#define REQUEST_QUERY_ID_MAX 512

struct query_request {
	struct url_params params; /* owns the strings below */
	const char *query;	  /* the URL's query, or NULL */
	struct http_slice body;	  /* as sent; the HTTP request owns it */
	enum coding body_coding;
	enum coding answer_coding;
	char *database;	      /* or NULL: the default one */
	char *default_format; /* never NULL */
	char query_id[REQUEST_QUERY_ID_MAX];
	bool readonly; /* GET and HEAD may not write */
	bool is_head;
	const char *session_id;	 /* or NULL */
	bool session_check;	 /* the session must exist */
	int64_t session_timeout; /* ms */
};

/* Reads the URL and the headers; errors as in failure.h.  Release with
 * query_request_release, also after a failure. */
int query_request_read(struct query_request *r, const struct http_request *http,
		       struct error *err);
void query_request_release(struct query_request *r);

/* Returns true if this URL parameter is a setting of the engine, to be SET for
 * the query. */
bool query_request_is_setting(const char *name);

#endif
