#include "common/http/request_pool.h"

#include <stdlib.h>

/* The number of requests kept for the next connections that need one. */
#define POOL_MAX 256
/* A buffer that has grown beyond this is not kept. */
#define POOLED_BUFFER_MAX 65536

struct http_request *request_pool_take(struct http_listener *l)
{
	struct http_request *req = l->pool;
	size_t headers = (size_t)l->config->max_headers;

	if (req) {
		l->pool = req->next_free;
		l->pooled--;
		return req;
	}
	return calloc(1, sizeof(*req) + headers * sizeof(req->headers[0]));
}

void request_pool_free(struct http_request *req)
{
	buf_free(&req->in);
	buf_free(&req->out);
	free(req);
}

static void trim_pooled_buffer(struct buf *b)
{
	if (b->cap > POOLED_BUFFER_MAX)
		buf_free(b);
	else
		buf_reset(b);
}

void request_pool_give_back(struct http_listener *l, struct http_request *req)
{
	l->grown -= req->grown;
	metric_add(l->metrics.buffers, (uint64_t)0 - req->grown);
	if (l->pooled == POOL_MAX) {
		request_pool_free(req);
		return;
	}
	trim_pooled_buffer(&req->in);
	trim_pooled_buffer(&req->out);
	*req = (struct http_request){
		.next_free = l->pool, .in = req->in, .out = req->out};
	l->pool = req;
	l->pooled++;
}
