#include "redirector/edge.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/loop/loop.h"
#include "common/redis/redis_async.h"
#include "linkstore/target.h"
#include "redirector/link_cache.h"
#include "redirector/lookups.h"
#include "redirector/responder.h"
#include "redirector/visit.h"
#include "redirector/visit_counter.h"

struct edge_gauges {
	struct metric *entries, *bytes, *evictions;
	uint64_t evictions_told;
};

struct edge {
	const struct edge_shared *shared;
	const struct redirector_settings *settings;
	unsigned number;
	struct loop *loop;
	struct redis_async *redis;
	struct http_listener *listener;
	struct link_cache *cache;
	struct lookups *lookups;
	struct visit_counter *visits;
	struct responder *responder;
	struct counts counts;
	struct edge_gauges gauges;
	int64_t quiet_until; /* no more complaints before */
	int64_t drain_timeout;
	pthread_t thread;
	bool running;
};

/* --- finding ---------------------------------------------------------------
 */

/* One line a second at most: visits come by the thousand. */
static void complain(struct edge *e, const struct error *err)
{
	int64_t now = loop_now_ms(e->loop);

	if (now < e->quiet_until)
		return;
	e->quiet_until = now + CLOCK_SECOND;
	log_warn(e->shared->log, "a link could not be looked up", log_err(err));
}

static void serve(struct edge *e, struct http_request *req,
		  struct http_slice code, const struct cached_link *link)
{
	struct error err;

	if (respond_link(e->responder, req, code, link, loop_now_ms(e->loop)))
		return;
	if (visit_count(e->visits, req, code, link, &err) == 0)
		return;
	complain(e, &err);
	respond_unavailable(e->responder, req);
}

static void on_counted(void *arg, struct http_request *req,
		       const struct cached_link *link, const struct error *err)
{
	struct edge *e = arg;

	if (link) {
		respond_counted(e->responder, req, link, loop_now_ms(e->loop));
		return;
	}
	complain(e, err);
	respond_unavailable(e->responder, req);
}

/* Redis did not tell.  A link that was there and has not expired still is, as
 * far as anybody knows; of anything else nothing can be said. */
static void answer_blind(struct edge *e, struct http_request *req,
			 struct http_slice code)
{
	const struct cached_link *link =
		link_cache_get(e->cache, code, loop_now_ms(e->loop));

	/* Nobody could count the visit. */
	if (link && link->max_visits)
		link = NULL;
	if (link && loop_now_ms(e->loop) < link->stale_until) {
		count(&e->counts, COUNT_STALE);
		serve(e, req, code, link);
		return;
	}
	respond_unavailable(e->responder, req);
}

static void on_found(void *arg, struct http_request *req,
		     struct http_slice code, const struct cached_link *link,
		     const struct error *err)
{
	struct edge *e = arg;

	if (link) {
		serve(e, req, code, link);
		return;
	}
	complain(e, err);
	answer_blind(e, req, code);
}

static void look_up(struct edge *e, struct http_request *req,
		    struct http_slice code)
{
	const struct link_space *space =
		linkstore_space_for(e->shared->store, code.data, code.len);
	struct link_target target;
	struct error err;

	count(&e->counts, COUNT_MISSES);
	if (space &&
	    space_guard_state(e->shared->spaces, space) == SPACE_WAITING) {
		answer_blind(e, req, code);
		return;
	}
	if (!space ||
	    !linkstore_locate(e->shared->store, code.data, code.len, &target)) {
		if (linkstore_lacks_key(e->shared->store, code.data,
					code.len)) {
			answer_blind(e, req, code);
			return;
		}
		count(&e->counts, COUNT_REFUSED_CODES);
		respond_unknown(e->responder, req, code);
		return;
	}
	if (lookups_start(e->lookups, &target, req, &err) < 0)
		answer_blind(e, req, code);
}

static void on_request(struct http_request *req, void *arg)
{
	struct edge *e = arg;
	struct http_slice code;
	const struct cached_link *link;

	if (!http_method_is(req, "GET") && !http_method_is(req, "HEAD")) {
		respond_no_method(e->responder, req);
		return;
	}
	if (places_refuse_some(e->shared->places) &&
	    places_refuse(e->shared->places, http_header_get(req, "Host"))) {
		respond_refused_host(e->responder, req);
		return;
	}
	code = visit_code(http_path(req));
	if (!code.data) {
		respond_no_code(e->responder, req);
		return;
	}
	link = link_cache_get(e->cache, code, loop_now_ms(e->loop));
	if (!link || loop_now_ms(e->loop) >= link->fresh_until) {
		look_up(e, req, code);
		return;
	}
	count(&e->counts, COUNT_HITS);
	serve(e, req, code, link);
}

/* --- life ------------------------------------------------------------------
 */

static void on_redis(void *arg, bool up, const struct error *err)
{
	struct edge *e = arg;

	e->shared->on_redis(e->shared->arg, e->number, up, err);
}

static void on_turn_end(void *arg)
{
	struct edge *e = arg;
	struct link_cache_stats stats = link_cache_stats(e->cache);

	counts_add_up(&e->counts);
	metric_set(e->gauges.entries, (int64_t)stats.entries);
	metric_set(e->gauges.bytes, (int64_t)stats.bytes);
	if (stats.evictions != e->gauges.evictions_told) {
		metric_add(e->gauges.evictions,
			   stats.evictions - e->gauges.evictions_told);
		e->gauges.evictions_told = stats.evictions;
	}
}

static void register_gauges(struct edge *e, size_t cache_bytes)
{
	struct metrics *m = e->shared->metrics;
	char labels[32];

	snprintf(labels, sizeof(labels), "thread=\"%u\"", e->number);
	e->gauges.entries =
		metrics_gauge(m, "shortloop_redirector_cache_entries", labels,
			      "Codes in the cache");
	e->gauges.bytes = metrics_gauge(m, "shortloop_redirector_cache_bytes",
					labels, "Memory of the cache");
	e->gauges.evictions = metrics_counter(
		m, "shortloop_redirector_cache_evictions_total", labels,
		"Codes put out of the cache for want of room");
	metric_set(metrics_gauge(m, "shortloop_redirector_cache_bytes_max",
				 labels, "Bound of the cache's memory"),
		   (int64_t)cache_bytes);
}

static int make_lookups(struct edge *e, struct error *err)
{
	const struct redirector_settings *s = e->settings;
	const struct lookups_options lookups = {
		.loop = e->loop,
		.redis = e->redis,
		.store = e->shared->store,
		.cache = e->cache,
		.gate = e->shared->gate,
		.counts = &e->counts,
		.times = {s->cache_ttl, s->cache_negative_ttl, s->cache_stale},
	};
	struct visit_counter_options visits = {
		.loop = e->loop,
		.redis = e->redis,
		.store = e->shared->store,
		.cache = e->cache,
		.counts = &e->counts,
		.negative_ttl = s->cache_negative_ttl,
	};

	e->lookups = lookups_new(&lookups, on_found, e, err);
	if (!e->lookups)
		return -1;
	visits.lookups = e->lookups;
	e->visits = visit_counter_new(&visits, on_counted, e, err);
	return e->visits ? 0 : -1;
}

static int make_parts(struct edge *e, struct error *err)
{
	const struct redirector_settings *s = e->settings;
	const struct edge_shared *shared = e->shared;
	const struct responder_parts responder = {s,
						  shared->name,
						  shared->proxies,
						  shared->places,
						  shared->producer,
						  &e->counts};
	size_t cache_bytes = (size_t)s->cache_size / shared->threads;

	e->cache = link_cache_new(cache_bytes, err);
	e->responder = responder_new(&responder, err);
	if (!e->cache || !e->responder)
		return -1;
	register_gauges(e, cache_bytes);
	e->redis = redis_async_new(e->loop, &shared->config->redis, on_redis, e,
				   err);
	return e->redis ? make_lookups(e, err) : -1;
}

static int make_listener(struct edge *e, struct error *err)
{
	e->listener = http_listener_new(e->loop, e->settings->listen,
					&e->shared->config->http, on_request, e,
					e->shared->metrics, "redirector", err);
	if (!e->listener)
		return -1;
	if (loop_on_turn_end(e->loop, on_turn_end, e, err) < 0)
		return -1;
	if (e->number != 0)
		return 0;
	return space_guard_start(e->shared->spaces, e->loop, e->redis,
				 e->settings->cursor_every, err);
}

struct edge *edge_new(const struct edge_shared *shared, unsigned number,
		      struct error *err)
{
	struct edge *e = calloc(1, sizeof(*e));

	if (!e) {
		error_set_nomem(err);
		return NULL;
	}
	e->shared = shared;
	e->settings = &shared->config->redirector;
	e->number = number;
	e->counts.shared = &shared->counts;
	e->loop = loop_new(err);
	if (!e->loop || make_parts(e, err) < 0 || make_listener(e, err) < 0) {
		edge_free(e);
		return NULL;
	}
	return e;
}

static void *run(void *arg)
{
	struct edge *e = arg;
	struct error err;

	if (loop_run(e->loop, &err) < 0)
		log_error(e->shared->log, "a thread has stopped",
			  log_err(&err));
	return NULL;
}

int edge_start(struct edge *e, struct error *err)
{
	errno = pthread_create(&e->thread, NULL, run, e);
	if (errno != 0)
		return error_set_errno(err, "cannot start a thread");
	e->running = true;
	return 0;
}

static void on_drained(void *arg)
{
	struct edge *e = arg;

	loop_stop(e->loop);
}

static void drain(void *arg)
{
	struct edge *e = arg;

	http_listener_drain(e->listener, e->drain_timeout, on_drained, e);
}

void edge_drain(struct edge *e, int64_t timeout_ms)
{
	struct error ignored;

	e->drain_timeout = timeout_ms;
	if (loop_post(e->loop, drain, e, &ignored) < 0)
		loop_stop(e->loop);
}

void edge_join(struct edge *e)
{
	if (!e->running)
		return;
	pthread_join(e->thread, NULL);
	e->running = false;
	on_turn_end(e);
}

void edge_free(struct edge *e)
{
	if (!e)
		return;
	/* Redis first: what is in flight is answered through the others. */
	redis_async_free(e->redis);
	if (e->number == 0)
		space_guard_stop(e->shared->spaces);
	http_listener_free(e->listener);
	visit_counter_free(e->visits);
	lookups_free(e->lookups);
	link_cache_free(e->cache);
	responder_free(e->responder);
	loop_free(e->loop);
	free(e);
}
