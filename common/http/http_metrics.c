#include "common/http/http_metrics.h"

#include <stdio.h>

static struct metric *register_refusal_counter(struct metrics *m,
					       const char *name,
					       const char *reason)
{
	char labels[128];

	snprintf(labels, sizeof(labels), "listener=\"%s\",reason=\"%s\"", name,
		 reason);
	return metrics_counter(m, "shortloop_http_refused_total", labels,
			       "Requests that the HTTP server refused itself.");
}

void http_metrics_register(struct http_metrics *to, struct metrics *m,
			   const char *name, const struct http_config *config)
{
	char labels[96];

	if (!m)
		return;
	snprintf(labels, sizeof(labels), "listener=\"%s\"", name);
	to->accepted = metrics_counter(m, "shortloop_http_connections_total",
				       labels, "Connections accepted.");
	to->open = metrics_gauge(m, "shortloop_http_connections", labels,
				 "Connections open now.");
	to->requests = metrics_counter(m, "shortloop_http_requests_total",
				       labels, "Requests handled.");
	to->malformed = register_refusal_counter(m, name, "malformed");
	to->too_large = register_refusal_counter(m, name, "too_large");
	to->too_slow = register_refusal_counter(m, name, "too_slow");
	to->overload = register_refusal_counter(m, name, "overload");
	to->proxy_header = register_refusal_counter(m, name, "proxy_header");
	to->made_room = metrics_counter(
		m, "shortloop_http_idle_closed_total", labels,
		"Idle connections that were closed to make room for others.");
	to->buffers = metrics_gauge(m, "shortloop_http_buffer_bytes", labels,
				    "Memory of requests that outgrew their "
				    "first buffer.");
	metric_add(metrics_gauge(m, "shortloop_http_buffer_bytes_max", labels,
				 "What that may be, all threads together."),
		   (uint64_t)config->max_buffer_bytes);
	metric_add(metrics_gauge(m, "shortloop_http_connections_max", labels,
				 "Connections that are allowed, all threads "
				 "together."),
		   (uint64_t)config->max_connections);
}

void http_metrics_refused(const struct http_metrics *m, int status)
{
	struct metric *metric = m->malformed;

	if (status == 408)
		metric = m->too_slow;
	else if (status == 413 || status == 414 || status == 431)
		metric = m->too_large;
	else if (status == 503)
		metric = m->overload;
	metric_add(metric, 1);
}
