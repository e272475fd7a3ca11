#include "aggregator/api/api.h"

#include <pthread.h>
#include <stdlib.h>

#include "aggregator/api/openapi.h"
#include "aggregator/api/router.h"
#include "common/yaml_json.h"

/* An event loop on a thread of its own. */
struct server {
	struct router_loop at;
	struct http_listener *listener;
	struct log *log;
	int64_t drain_timeout;
	pthread_t thread;
	bool started;
};

struct api {
	struct router router;
	struct server *servers;
	size_t count;
};

static void register_bounds(struct api *api, struct metrics *m)
{
	const struct api_settings *s = &api->router.config->own.api;
	const struct {
		const char *name, *help;
		int64_t value;
	} bounds[] = {
		{"shortloop_aggregator_workers_max",
		 "Queries asked at once (setting workers).", s->workers},
		{"shortloop_aggregator_queue_max",
		 "Requests that may wait (setting queue_max).", s->queue_max},
		{"shortloop_aggregator_buckets_max",
		 "Intervals in an answer (setting buckets_max).",
		 s->buckets_max},
		{"shortloop_aggregator_groups_max",
		 "Groups in an answer (setting groups_max).", s->groups_max},
		{"shortloop_aggregator_exact_rows_max",
		 "Rows counted exactly (setting exact_rows_max).",
		 s->exact_rows_max},
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		metric_set(
			metrics_gauge(m, bounds[i].name, NULL, bounds[i].help),
			bounds[i].value);
	router_register_metrics(&api->router, m);
}

static int open_connections(struct router *r, struct error *err)
{
	size_t count = (size_t)r->config->own.api.workers;

	r->connections = calloc(count, sizeof(struct clickhouse *));
	if (!r->connections)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		r->connections[i] = clickhouse_new(&r->config->clickhouse, err);
		if (!r->connections[i])
			return -1;
	}
	r->workers = workers_new((unsigned)count,
				 (size_t)r->config->own.api.queue_max, err);
	return r->workers ? 0 : -1;
}

static void load_files(struct router *r)
{
	struct error err = {0};

	r->files = static_files_load(r->config->own.api.web_root, &err);
	if (!r->files)
		log_warn(r->log, "no dashboard: see aggregator.web_root",
			 log_err(&err));
}

static int server_open(struct server *s, struct router *router,
		       struct metrics *metrics, struct error *err)
{
	s->log = router->log;
	s->drain_timeout = router->config->own.api.drain_timeout;
	s->at.router = router;
	s->at.loop = loop_new(err);
	if (!s->at.loop)
		return -1;
	s->listener =
		http_listener_new(s->at.loop, router->config->own.api.listen,
				  &router->config->http, router_handle, &s->at,
				  metrics, "aggregator", err);
	return s->listener ? 0 : -1;
}

static int open_parts(struct api *api, struct metrics *metrics,
		      struct error *err)
{
	struct router *r = &api->router;
	size_t count = (size_t)r->config->own.api.threads;

	if (yaml_to_json(openapi_yaml, &r->openapi, err) < 0)
		return error_wrap(err, "openapi");
	if (open_connections(r, err) < 0)
		return -1;
	api->servers = calloc(count, sizeof(*api->servers));
	if (!api->servers)
		return error_set_nomem(err);
	for (; api->count < count; api->count++) {
		if (server_open(&api->servers[api->count], r, metrics, err) <
		    0) {
			api->count++; /* half-built: to be freed too */
			return -1;
		}
	}
	return 0;
}

struct api *api_new(const struct aggregator_config *config, struct log *log,
		    struct metrics *metrics, struct error *err)
{
	struct api *api = calloc(1, sizeof(*api));

	if (!api) {
		error_set_nomem(err);
		return NULL;
	}
	api->router.config = config;
	api->router.log = log;
	register_bounds(api, metrics);
	load_files(&api->router);
	if (open_parts(api, metrics, err) < 0) {
		api_free(api);
		return NULL;
	}
	return api;
}

static void *serve(void *arg)
{
	struct server *s = arg;
	struct error err = {0};

	if (loop_run(s->at.loop, &err) < 0)
		log_error(s->log, "event loop", log_err(&err));
	return NULL;
}

int api_start(struct api *api, struct error *err)
{
	for (size_t i = 0; i < api->count; i++) {
		struct server *s = &api->servers[i];

		if (pthread_create(&s->thread, NULL, serve, s))
			return error_set(err, ERROR_SYSTEM, "api: no thread");
		s->started = true;
	}
	log_info(api->router.log, "serving",
		 log_str("address", api->router.config->own.api.listen));
	return 0;
}

static void on_drained(void *arg)
{
	struct server *s = arg;

	loop_stop(s->at.loop);
}

static void drain(void *arg)
{
	struct server *s = arg;

	http_listener_drain(s->listener, s->drain_timeout, on_drained, s);
}

/* Workers end before the loops that they answer to are freed. */
static void stop(struct api *api)
{
	struct error err = {0};

	for (size_t i = 0; i < api->count; i++) {
		struct server *s = &api->servers[i];

		if (s->started && loop_post(s->at.loop, drain, s, &err) < 0)
			loop_stop(s->at.loop);
	}
	for (size_t i = 0; i < api->count; i++) {
		if (api->servers[i].started)
			pthread_join(api->servers[i].thread, NULL);
	}
	workers_free(api->router.workers);
}

void api_free(struct api *api)
{
	struct router *r;

	if (!api)
		return;
	r = &api->router;
	stop(api);
	for (size_t i = 0; i < api->count; i++) {
		if (api->servers[i].listener)
			http_listener_free(api->servers[i].listener);
		loop_free(api->servers[i].at.loop);
	}
	for (int64_t i = 0; r->connections && i < r->config->own.api.workers;
	     i++)
		clickhouse_free(r->connections[i]);
	free(r->connections);
	static_files_free(r->files);
	buf_free(&r->openapi);
	free(api->servers);
	free(api);
}
