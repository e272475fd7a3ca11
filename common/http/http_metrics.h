/* http_metrics.h - the metrics of a listener. */
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

/* `m` may be NULL; `name` labels the metrics. */
void http_metrics_register(struct http_metrics *to, struct metrics *m,
			   const char *name, const struct http_config *config);

/* Counts a request that the server has refused with this status. */
void http_metrics_refused(const struct http_metrics *m, int status);

#endif
