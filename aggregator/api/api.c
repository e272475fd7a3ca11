#include "aggregator/api/api.h"

#include <stdlib.h>

#include "aggregator/api/answer_cache.h"
#include "aggregator/api/api_domains.h"
#include "aggregator/api/api_keys.h"
#include "aggregator/api/export/exports.h"
#include "aggregator/api/freshness.h"
#include "aggregator/api/links/redis_links.h"
#include "aggregator/api/live/live.h"
#include "aggregator/api/openapi.h"
#include "aggregator/api/polls.h"
#include "aggregator/api/query_ender.h"
#include "aggregator/api/router.h"
#include "aggregator/api/shares/share_desk.h"
#include "aggregator/api/slots.h"
#include "common/http/serving_thread.h"
#include "common/yaml_json.h"

/* An event loop on a thread of its own. */
struct server {
	struct router_loop at;
	struct serving_thread serving;
	struct log *log;
};

struct api {
	struct router router;
	struct server *servers;
	size_t count;
};

static void register_bounds(const struct api *api, struct metrics *m)
{
	const struct aggregator_settings *s = &api->router.config->aggregator;
	const struct {
		const char *name, *help;
		int64_t value;
	} bounds[] = {
		{"shortloop_aggregator_workers_max",
		 "Queries asked at once (setting workers).", s->workers},
		{"shortloop_aggregator_queue_max",
		 "Requests that may wait (setting queue_max).", s->queue_max},
		{"shortloop_aggregator_key_questions_max",
		 "Requests of a key under way (setting key_questions_max).",
		 s->key_questions_max},
		{"shortloop_aggregator_exports_max",
		 "Exports at once (setting exports_max).", s->exports_max},
		{"shortloop_aggregator_key_exports_max",
		 "Exports of a key at once (setting key_exports_max).",
		 s->key_exports_max},
		{"shortloop_aggregator_buckets_max",
		 "Intervals in an answer (setting buckets_max).",
		 s->buckets_max},
		{"shortloop_aggregator_groups_max",
		 "Groups in an answer (setting groups_max).", s->groups_max},
		{"shortloop_aggregator_raw_rows_max",
		 "Rows read for an answer that settled counts do not have "
		 "(setting raw_rows_max).",
		 s->raw_rows_max},
		{"shortloop_aggregator_exact_rows_max",
		 "Rows counted exactly (setting exact_rows_max).",
		 s->exact_rows_max},
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		metric_set(
			metrics_gauge(m, bounds[i].name, NULL, bounds[i].help),
			bounds[i].value);
}

static int open_questions(struct router *r, struct metrics *metrics,
			  struct error *err)
{
	const struct slots_bounds bounds = {
		.of_key = r->config->aggregator.key_questions_max};
	size_t count = (size_t)r->config->aggregator.workers;

	r->questions = slots_new(&bounds, err);
	if (!r->questions)
		return -1;
	r->answers = answer_cache_new(r->config->aggregator.answer_cache,
				      metrics, err);
	if (!r->answers)
		return -1;
	r->polls = polls_new(metrics, err);
	if (!r->polls)
		return -1;
	r->ender =
		query_ender_new(&r->config->clickhouse, r->log, metrics, err);
	if (!r->ender)
		return -1;
	r->hasty = r->config->clickhouse;
	if (r->hasty.query_timeout > r->config->aggregator.answer_timeout)
		r->hasty.query_timeout = r->config->aggregator.answer_timeout;
	r->connections = calloc(count, sizeof(struct clickhouse *));
	if (!r->connections)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++) {
		r->connections[i] = clickhouse_new(&r->hasty, err);
		if (!r->connections[i])
			return -1;
	}
	r->workers = workers_new((unsigned)count,
				 (size_t)r->config->aggregator.queue_max, err);
	return r->workers ? 0 : -1;
}

static void load_files(struct router *r)
{
	struct error err = {0};

	r->files = static_files_load(r->config->aggregator.web_root, &err);
	if (!r->files)
		log_warn(r->log, "no dashboard: see aggregator.web_root",
			 log_err(&err));
}

static void on_failure(void *arg, const struct error *err)
{
	const struct server *s = arg;

	log_error(s->log, "event loop", log_err(err));
}

static int server_open(struct server *s, struct router *router,
		       struct metrics *metrics, struct error *err)
{
	s->log = router->log;
	s->at.router = router;
	s->at.loop = loop_new(err);
	if (!s->at.loop)
		return -1;
	s->at.live = live_loop_new(router->live, s->at.loop, err);
	if (!s->at.live)
		return -1;
	s->serving = (struct serving_thread){
		.loop = s->at.loop,
		.drain_timeout = router->config->aggregator.drain_timeout,
		.on_failure = on_failure,
		.arg = s,
	};
	s->serving.listener =
		http_listener_new(s->at.loop, router->config->aggregator.listen,
				  &router->config->http, router_handle, &s->at,
				  metrics, "aggregator", err);
	if (!s->serving.listener)
		return -1;
	http_listener_fields(s->serving.listener, router_put_fields);
	http_listener_stream(s->serving.listener, router_streams,
			     router_stream);
	return 0;
}

static int load_openapi(struct router *r, struct error *err)
{
	r->openapi = (struct static_file){.type = "application/json",
					  .etag = "\"" VERSION "\""};
	if (yaml_to_json(openapi_yaml, &r->openapi.forms[ENCODING_IDENTITY],
			 err) < 0)
		return error_wrap(err, "openapi");
	return static_file_encode(&r->openapi, err);
}

static int open_redis_links(struct router *r, struct metrics *metrics,
			    struct health *health, struct error *err)
{
	const struct redis_links_options options = {
		.config = r->config,
		.log = r->log,
		.metrics = metrics,
		.health = health,
	};

	if (r->config->links.spaces.count == 0)
		return 0;
	r->redis = redis_links_new(&options, err);
	return r->redis ? 0 : -1;
}

static int open_shares(struct router *r, struct metrics *metrics,
		       struct error *err)
{
	const struct share_desk_uses uses = {
		.config = r->config,
		.keys = r->keys,
		.redis = r->redis,
		.metrics = metrics,
	};

	if (!r->keys || !r->redis)
		return 0;
	r->shares = share_desk_new(&uses, err);
	return r->shares ? 0 : -1;
}

static int open_exports(struct router *r, struct metrics *metrics,
			struct error *err)
{
	const struct exports_uses uses = {
		.config = r->config,
		.keys = r->keys,
		.freshness = r->freshness,
		.redis = r->redis,
		.ender = r->ender,
		.log = r->log,
		.metrics = metrics,
	};

	r->exports = exports_new(&uses, err);
	return r->exports ? 0 : -1;
}

static int open_live(struct router *r, struct metrics *metrics,
		     struct error *err)
{
	const struct live_options options = {
		.config = r->config,
		.log = r->log,
		.metrics = metrics,
		.keys = r->keys,
		.workers = r->workers,
		.connections = r->connections,
		.redis = r->redis,
		.ender = r->ender,
		.questions = r->questions,
		.refused = r->refused,
	};

	r->live = live_new(&options, err);
	return r->live ? 0 : -1;
}

static int open_parts(struct api *api, struct metrics *metrics,
		      struct health *health, struct error *err)
{
	struct router *r = &api->router;
	size_t count = (size_t)r->config->aggregator.threads;

	if (router_register_metrics(r, metrics, err) < 0 ||
	    load_openapi(r, err) < 0 ||
	    api_keys_open(&r->config->aggregator, r->log, metrics, &r->keys,
			  err) < 0)
		return -1;
	r->domains = api_domains_new(r->config, r->log, metrics, health, err);
	r->freshness =
		r->domains ? freshness_new(r->config, health, err) : NULL;
	if (!r->freshness || open_questions(r, metrics, err) < 0 ||
	    open_redis_links(r, metrics, health, err) < 0 ||
	    open_shares(r, metrics, err) < 0 ||
	    open_exports(r, metrics, err) < 0 || open_live(r, metrics, err) < 0)
		return -1;
	api->servers = calloc(count, sizeof(*api->servers));
	if (!api->servers)
		return error_set_nomem(err);
	for (; api->count < count; api->count++) {
		if (server_open(&api->servers[api->count], r, metrics, err) <
		    0) {
			api->count++; /* half-built, but has to be freed */
			return -1;
		}
	}
	return 0;
}

struct api *api_new(const struct aggregator_config *config, struct log *log,
		    struct metrics *metrics, struct health *health,
		    struct error *err)
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
	if (open_parts(api, metrics, health, err) < 0) {
		api_free(api);
		return NULL;
	}
	return api;
}

int api_start(struct api *api, struct error *err)
{
	if (api_domains_start(api->router.domains, err) < 0 ||
	    freshness_start(api->router.freshness, err) < 0 ||
	    (api->router.redis &&
	     redis_links_start(api->router.redis, err) < 0) ||
	    live_start(api->router.live, err) < 0)
		return -1;
	for (size_t i = 0; i < api->count; i++) {
		if (serving_thread_start(&api->servers[i].serving, err) < 0)
			return -1;
	}
	log_info(api->router.log, "serving",
		 log_str("address", api->router.config->aggregator.listen));
	return 0;
}

void api_reload(struct api *api)
{
	api_keys_reload(api->router.keys, api->router.log);
	api_domains_reload(api->router.domains);
}

/* Workers end before the loops that they answer to are freed. */
static void stop_threads(struct api *api)
{
	for (size_t i = 0; i < api->count; i++)
		serving_thread_drain(&api->servers[i].serving);
	for (size_t i = 0; i < api->count; i++)
		serving_thread_join(&api->servers[i].serving);
	live_stop(api->router.live);
	workers_free(api->router.workers);
	exports_stop(api->router.exports);
}

void api_free(struct api *api)
{
	struct router *r;

	if (!api)
		return;
	r = &api->router;
	stop_threads(api);
	for (size_t i = 0; i < api->count; i++) {
		http_listener_free(api->servers[i].serving.listener);
		loop_free(api->servers[i].at.loop);
	}
	for (int64_t i = 0; r->connections && i < r->config->aggregator.workers;
	     i++)
		clickhouse_free(r->connections[i]);
	free(r->connections);
	free(r->seconds);
	live_free(r->live);
	exports_free(r->exports);
	share_desk_free(r->shares);
	redis_links_free(r->redis);
	api_domains_free(r->domains);
	query_ender_free(r->ender);
	slots_free(r->questions);
	polls_free(r->polls);
	answer_cache_free(r->answers);
	freshness_free(r->freshness);
	api_keyring_free(r->keys);
	static_files_free(r->files);
	static_file_release(&r->openapi);
	free(api->servers);
	free(api);
}
