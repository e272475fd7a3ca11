/*
 * Any bytes as a request, read in both ways: what scan.c accepts, llhttp and
 * the checks accept too, with the same result.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/http/parse.h"
#include "common/http/scan.h"

#define HEADERS_MAX 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A listener that may stream scans no request. */
static bool choose_none(const struct http_request *req, void *arg)
{
	(void)req;
	(void)arg;
	return false;
}

static struct http_config config;
static struct http_listener quick = {.config = &config};
static struct http_listener slow = {.config = &config, .choose = choose_none};
static struct connection quick_conn = {.listener = &quick};
static struct connection slow_conn = {.listener = &slow};

static struct http_request *request_of(struct connection *conn,
				       const uint8_t *data, size_t size)
{
	struct http_request *req =
		calloc(1, sizeof(*req) + HEADERS_MAX * sizeof(req->headers[0]));

	if (!req)
		abort();
	req->conn = conn;
	buf_append(&req->in, data, size);
	return req;
}

static void free_request(struct http_request *req)
{
	buf_free(&req->in);
	free(req);
}

static bool slices_are_equal(struct http_slice a, struct http_slice b)
{
	return a.len == b.len && (!a.len || memcmp(a.data, b.data, a.len) == 0);
}

static void compare_requests(const struct http_request *a,
			     const struct http_request *b)
{
	assert(a->parsed == b->parsed && a->start == b->start);
	assert(a->url == b->url && a->url_len == b->url_len);
	assert(a->header_len == b->header_len && a->body == b->body);
	assert(a->body_len == b->body_len && !b->body_bytes);
	assert(a->keep_alive == b->keep_alive);
	assert(a->headers_done && b->headers_done && a->begun && b->begun);
	assert(!b->expects && !b->unadmitted && !b->refusal && !a->refusal);
	assert(a->parser.method == b->parser.method);
	assert(a->parser.http_minor == b->parser.http_minor);
	assert(slices_are_equal(a->path, b->path) &&
	       slices_are_equal(a->query, b->query));
	assert(a->header_count == b->header_count);
	for (size_t i = 0; i < a->header_count; i++) {
		assert(slices_are_equal(http_header_at(a, i).name,
					http_header_at(b, i).name));
		assert(slices_are_equal(http_header_at(a, i).value,
					http_header_at(b, i).value));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request *a, *b;

	if (size == 0)
		return 0;
	config = http_config_default;
	config.max_headers = HEADERS_MAX;
	config.max_header_bytes = 512;
	a = request_of(&quick_conn, data, size);
	b = request_of(&slow_conn, data, size);
	if (scan_request(a)) {
		assert(parse_target(a) == 0);
		assert(parse_request(b) == PARSE_COMPLETE);
		compare_requests(a, b);
	}
	free_request(a);
	free_request(b);
	return 0;
}
