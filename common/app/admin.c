#include "common/app/admin.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/http/address.h"
#include "common/http/serving_thread.h"

struct admin {
	struct serving_thread serving;
	struct metrics *metrics;
	struct health *health;
};

static void reply_buf(struct http_request *req, int status, const char *type,
		      struct buf *body)
{
	const struct http_field fields[] = {{"Content-Type", type},
					    {"Cache-Control", "no-store"},
					    {NULL, NULL}};

	if (body->failed)
		http_reply_problem(req, 500, NULL, "out of memory");
	else
		http_reply(req, status, fields, body->data, body->len);
	buf_free(body);
}

static void serve_ready(struct admin *a, struct http_request *req)
{
	struct buf body = {0};
	bool ready = health_report(a->health, &body);

	if (ready)
		buf_puts(&body, "ok\n");
	reply_buf(req, ready ? 200 : 503, "text/plain; charset=utf-8", &body);
}

static void serve_metrics(struct admin *a, struct http_request *req)
{
	struct buf body = {0};

	metrics_render(a->metrics, &body);
	reply_buf(req, 200, "text/plain; version=0.0.4; charset=utf-8", &body);
}

static void handle_admin_request(struct http_request *req, void *arg)
{
	const struct http_field allow[] = {{"Allow", "GET, HEAD"},
					   {NULL, NULL}};
	struct http_slice path = http_path(req);
	struct admin *a = arg;

	if (!http_method_is(req, "GET") && !http_method_is(req, "HEAD"))
		http_reply_problem(req, 405, allow, "only GET and HEAD");
	else if (http_slice_is(path, "/healthz"))
		http_reply_text(req, 200, "ok\n");
	else if (http_slice_is(path, "/readyz"))
		serve_ready(a, req);
	else if (http_slice_is(path, "/metrics"))
		serve_metrics(a, req);
	else
		http_reply_problem(req, 404, NULL,
				   "here are /healthz, /readyz and /metrics");
}

struct admin *admin_new_at(int fd, const struct http_config *config,
			   struct metrics *metrics, struct health *health,
			   struct error *err)
{
	struct admin *a = calloc(1, sizeof(*a));

	if (!a) {
		close(fd);
		error_set_nomem(err);
		return NULL;
	}
	a->metrics = metrics;
	a->health = health;
	/* The loop fails only if epoll does; then the port stops answering,
	 * which a probe notices. */
	a->serving.loop = loop_new(err);
	if (!a->serving.loop) {
		close(fd);
		goto fail;
	}
	a->serving.listener = http_listener_new_at(a->serving.loop, fd, config,
						   handle_admin_request, a,
						   metrics, "admin", err);
	if (!a->serving.listener)
		goto fail;
	http_listener_open(a->serving.listener);
	if (serving_thread_start(&a->serving, err) == 0)
		return a;
fail:
	admin_free(a);
	return NULL;
}

struct admin *admin_new(const char *address, const struct http_config *config,
			struct metrics *metrics, struct health *health,
			struct error *err)
{
	int fd;

	/* The port is not shared: a second program with that address is
	 * refused. */
	if (address_bind(address, false, &fd, err) < 0)
		return NULL;
	return admin_new_at(fd, config, metrics, health, err);
}

void admin_leave(struct admin *a, int64_t timeout_ms)
{
	a->serving.end = http_listener_leave;
	a->serving.drain_timeout = timeout_ms;
	serving_thread_drain(&a->serving);
}

void admin_free(struct admin *a)
{
	if (!a)
		return;
	if (a->serving.loop)
		loop_stop(a->serving.loop);
	serving_thread_join(&a->serving);
	http_listener_free(a->serving.listener);
	loop_free(a->serving.loop);
	free(a);
}
