#include "stack/clickhouse/query_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/clock.h"
#include "stack/clickhouse/failure.h"

#define SESSION_TIMEOUT_DEFAULT (60 * CLOCK_SECOND)
#define SESSION_TIMEOUT_MAX	(3600 * CLOCK_SECOND)

/* URL parameters for the HTTP interface, not for the engine. */
static const char *const own_params[] = {
	"query",
	"database",
	"default_format",
	"user",
	"password",
	"query_id",
	"quota_key",
	"session_id",
	"session_check",
	"session_timeout",
	"compress",
	"decompress",
	"buffer_size",
	"wait_end_of_query",
	"stacktrace",
	"role",
	"client_protocol_version",
	"close_session",
};

bool query_request_is_setting(const char *name)
{
	for (size_t i = 0; i < sizeof(own_params) / sizeof(own_params[0]); i++)
		if (strcmp(own_params[i], name) == 0)
			return false;
	return strncmp(name, "param_", 6) != 0;
}

static bool is_true(const char *value)
{
	return value && (strcmp(value, "1") == 0 || strcmp(value, "true") == 0);
}

/* Returns a copy of the first that is given: parameter, header, fallback. */
static char *copy_first_given(const char *param, struct http_slice header,
			      const char *fallback)
{
	if (param && param[0])
		return strdup(param);
	if (header.len > 0)
		return strndup(header.data, header.len);
	return fallback ? strdup(fallback) : NULL;
}

/* Makes a random UUID, as ClickHouse does for a query without an id. */
static void make_query_id(char out[REQUEST_QUERY_ID_MAX])
{
	unsigned char b[16] = {0};

	if (getrandom(b, sizeof(b), 0) < 0)
		memset(b, 0, sizeof(b));
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	snprintf(out, REQUEST_QUERY_ID_MAX,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
		 "%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9],
		 b[10], b[11], b[12], b[13], b[14], b[15]);
}

static int read_codings(struct query_request *r,
			const struct http_request *http, struct error *err)
{
	struct http_slice type = http_header_get(http, "Content-Type");
	struct http_slice sent = http_header_get(http, "Content-Encoding");
	struct http_slice accept = http_header_get(http, "Accept-Encoding");

	if (type.len >= 19 && memcmp(type.data, "multipart/form-data", 19) == 0)
		return failure_set(err, FAILURE_NOT_IMPLEMENTED,
				   "External tables in multipart/form-data are "
				   "not supported here");
	if (is_true(url_param_get(&r->params, "compress")) ||
	    is_true(url_param_get(&r->params, "decompress")))
		return failure_set(err, FAILURE_NOT_IMPLEMENTED,
				   "ClickHouse's own compression (compress=1, "
				   "decompress=1) is not supported here; use "
				   "Content-Encoding and Accept-Encoding");
	r->body_coding = coding_named(sent.data, sent.len);
	if (r->body_coding == CODING_UNKNOWN)
		return failure_set(err, FAILURE_NOT_IMPLEMENTED,
				   "Unknown Content-Encoding '%.*s': gzip, "
				   "deflate, zstd and lz4 are known",
				   (int)sent.len, sent.data);
	if (is_true(url_param_get(&r->params, "enable_http_compression")))
		r->answer_coding = coding_accepted(accept.data, accept.len);
	return 0;
}

static int read_session(struct query_request *r, struct error *err)
{
	const char *timeout = url_param_get(&r->params, "session_timeout");
	char *end = NULL;

	r->session_id = url_param_get(&r->params, "session_id");
	r->session_check = is_true(url_param_get(&r->params, "session_check"));
	r->session_timeout = SESSION_TIMEOUT_DEFAULT;
	if (!timeout)
		return 0;
	r->session_timeout = strtoll(timeout, &end, 10) * CLOCK_SECOND;
	if (*end || r->session_timeout < 0 ||
	    r->session_timeout > SESSION_TIMEOUT_MAX)
		return failure_set(err, FAILURE_BAD_ARGUMENTS,
				   "session_timeout is 0 to 3600 seconds");
	return 0;
}

/* An id that is returned in a header has to be valid in one. */
static int read_query_id(struct query_request *r, struct error *err)
{
	const char *id = url_param_get(&r->params, "query_id");

	if (!id || !id[0]) {
		make_query_id(r->query_id);
		return 0;
	}
	for (const char *c = id; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return failure_set(err, FAILURE_BAD_ARGUMENTS,
					   "query_id has a control character");
	if (strlen(id) >= sizeof(r->query_id))
		return failure_set(err, FAILURE_BAD_ARGUMENTS,
				   "query_id is longer than %zu bytes",
				   sizeof(r->query_id) - 1);
	strcpy(r->query_id, id);
	return 0;
}

static int read_params(struct query_request *r, const struct http_request *http,
		       struct error *err)
{
	struct error cause = {0};

	if (url_params_parse(&r->params, http_query(http), &cause) < 0)
		return failure_set(err, FAILURE_BAD_ARGUMENTS, "%s",
				   cause.text);
	r->query = url_param_get(&r->params, "query");
	r->database = copy_first_given(
		url_param_get(&r->params, "database"),
		http_header_get(http, "X-ClickHouse-Database"), NULL);
	r->default_format = copy_first_given(
		url_param_get(&r->params, "default_format"),
		http_header_get(http, "X-ClickHouse-Format"), "TabSeparated");
	return r->default_format ? 0 : error_set_nomem(err);
}

int query_request_read(struct query_request *r, const struct http_request *http,
		       struct error *err)
{
	memset(r, 0, sizeof(*r));
	make_query_id(r->query_id);
	r->body = http_body(http);
	r->is_head = http_method_is(http, "HEAD");
	r->readonly = r->is_head || http_method_is(http, "GET");
	if (read_params(r, http, err) < 0 || read_query_id(r, err) < 0 ||
	    read_codings(r, http, err) < 0)
		return -1;
	return read_session(r, err);
}

void query_request_release(struct query_request *r)
{
	url_params_free(&r->params);
	free(r->database);
	free(r->default_format);
	memset(r, 0, sizeof(*r));
}
