/* http_metrics.h - what a listener counts. */
#ifndef COMMON_HTTP_HTTP_METRICS_H
#define COMMON_HTTP_HTTP_METRICS_H

#include "common/http/http_config.h"
#include "common/metrics/metrics.h"

struct http_metrics {
	struct metric *accepted, *open, *requests;
	struct metric *malformed, *too_large, *too_slow, *overload;
	struct metric *proxy_header;
	struct metric *made_room;
	struct metric *buffers;
};

/* `m` may be NULL; `name` labels them. */
void http_metrics_register(struct http_metrics *to, struct metrics *m,
			   const char *name, const struct http_config *config);

/* The server has refused a request with this status. */
void http_metrics_refused(const struct http_metrics *m, int status);

#endif
