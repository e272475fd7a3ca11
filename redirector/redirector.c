#include "redirector/redirector.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "redirector/edge.h"

#define HOST_NAME_SIZE 256

struct redirector {
	const struct redirector_config *config;
	struct log *log;
	struct edge_shared shared;
	struct linkstore *store;
	struct proxy_list *proxies;
	struct domains *domains;
	struct places *places;
	struct health_check *redis_check, *kafka_check;
	struct edge **edges;
	size_t edge_count; /* that were made */
	char host_name[HOST_NAME_SIZE];

	pthread_mutex_t lock; /* of what follows: any thread tells */
	size_t redis_up;      /* threads whose connection is up */
	bool *edge_has_redis;
	bool failed;
	struct error failure;
};

/* --- states ----------------------------------------------------------------
 */

/* Ready only when every thread has its connection. */
static void on_redis(void *arg, unsigned edge, bool up, const struct error *err)
{
	struct redirector *r = arg;
	bool changed = false;

	pthread_mutex_lock(&r->lock);
	if (r->edge_has_redis[edge] != up) {
		r->edge_has_redis[edge] = up;
		r->redis_up += up ? 1 : (size_t)-1;
	}
	if (!up)
		changed = health_down(r->redis_check, err->text);
	else if (r->redis_up == r->shared.threads)
		changed = health_up(r->redis_check);
	pthread_mutex_unlock(&r->lock);
	if (changed && up)
		log_info(r->log, "Redis is there");
	else if (changed)
		log_warn(r->log, "Redis is away", log_err(err));
}

static void on_kafka(void *arg, bool up, const char *reason)
{
	struct redirector *r = arg;

	if (up && health_up(r->kafka_check))
		log_info(r->log, "Kafka is there");
	else if (!up && health_down(r->kafka_check, reason))
		log_warn(r->log, "Kafka is away", log_str("reason", reason));
}

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct redirector *r = arg;

	(void)opaque;
	if (err)
		metric_add(r->shared.counts.kinds[COUNT_DROPPED_EXPIRED], 1);
}

/* Ends the program the way an operator would: main waits for that signal. */
static void on_fatal(void *arg, const struct error *err)
{
	struct redirector *r = arg;

	pthread_mutex_lock(&r->lock);
	if (!r->failed) {
		r->failed = true;
		r->failure = *err;
		kill(getpid(), SIGTERM);
	}
	pthread_mutex_unlock(&r->lock);
}

const struct error *redirector_failure(const struct redirector *r)
{
	return r->failed ? &r->failure : NULL;
}

/* --- building --------------------------------------------------------------
 */

static size_t thread_count(const struct redirector_settings *settings)
{
	cpu_set_t cpus;

	if (settings->threads)
		return (size_t)settings->threads;
	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0)
		return 1;
	return (size_t)CPU_COUNT(&cpus);
}

static const char *edge_name(struct redirector *r)
{
	if (r->config->redirector.edge)
		return r->config->redirector.edge;
	if (gethostname(r->host_name, sizeof(r->host_name) - 1) < 0)
		strcpy(r->host_name, "unnamed");
	return r->host_name;
}

static int make_producer(struct redirector *r, struct metrics *metrics,
			 struct error *err)
{
	const struct redirector_settings *s = &r->config->redirector;
	const struct kafka_producer_options options = {
		.client_id = "shortloop-redirector",
		.topic = r->config->kafka.topic_clicks,
		.compression = s->compression,
		.linger = s->linger,
		.delivery_timeout = s->delivery_timeout,
		.on_delivery = on_delivery,
		.on_state = on_kafka,
		.arg = r,
	};

	r->shared.producer =
		kafka_producer_new(&r->config->kafka, &options, metrics, err);
	return r->shared.producer ? 0 : -1;
}

/* Who is who, and what is shown where. */
static int make_rules(struct redirector *r, struct error *err)
{
	const struct redirector_settings *settings = &r->config->redirector;

	r->proxies = proxy_list_new(&settings->trusted_proxies, err);
	if (!r->proxies)
		return -1;
	r->domains = domains_new(&r->config->domains, err);
	if (!r->domains)
		return -1;
	r->places = places_new(r->domains, r->store, settings, err);
	if (!r->places)
		return -1;
	r->shared.proxies = r->proxies;
	r->shared.places = r->places;
	return 0;
}

static int make_shared(struct redirector *r, struct app *app, struct error *err)
{
	struct edge_shared *s = &r->shared;

	s->config = r->config;
	s->name = edge_name(r);
	s->log = r->log;
	s->metrics = app_metrics(app);
	s->on_redis = on_redis;
	s->arg = r;
	counts_shared_register(&s->counts, s->metrics);
	r->redis_check = health_register(app_health(app), "redis");
	r->kafka_check = health_register(app_health(app), "kafka");
	r->store = linkstore_new(&r->config->links, err);
	if (!r->store)
		return -1;
	s->store = r->store;
	if (make_rules(r, err) < 0)
		return -1;
	s->gate = renew_gate_new(err);
	if (!s->gate)
		return -1;
	s->spaces = space_guard_new(r->store,
				    health_register(app_health(app), "links"),
				    s->metrics, on_fatal, r, err);
	if (!s->spaces)
		return -1;
	return make_producer(r, s->metrics, err);
}

static int make_edges(struct redirector *r, struct error *err)
{
	r->shared.threads = thread_count(&r->config->redirector);
	r->edges = calloc(r->shared.threads, sizeof(*r->edges));
	r->edge_has_redis = calloc(r->shared.threads, sizeof(bool));
	if (!r->edges || !r->edge_has_redis)
		return error_set_nomem(err);
	for (; r->edge_count < r->shared.threads; r->edge_count++) {
		struct edge *e =
			edge_new(&r->shared, (unsigned)r->edge_count, err);

		if (!e)
			return -1;
		r->edges[r->edge_count] = e;
	}
	return 0;
}

struct redirector *redirector_new(struct app *app,
				  const struct redirector_config *config,
				  struct error *err)
{
	struct redirector *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->config = config;
	r->log = app_log(app);
	pthread_mutex_init(&r->lock, NULL);
	if (make_shared(r, app, err) < 0 || make_edges(r, err) < 0) {
		redirector_free(r);
		return NULL;
	}
	return r;
}

/* --- life ------------------------------------------------------------------
 */

int redirector_start(struct redirector *r, struct error *err)
{
	for (size_t i = 0; i < r->edge_count; i++) {
		if (edge_start(r->edges[i], err) < 0)
			return -1;
	}
	log_info(r->log, "listening",
		 log_str("address", r->config->redirector.listen),
		 log_int("threads", (int64_t)r->edge_count),
		 log_str("edge", r->shared.name));
	return 0;
}

static void stop_edges(struct redirector *r, int64_t timeout_ms)
{
	for (size_t i = 0; i < r->edge_count; i++)
		edge_drain(r->edges[i], timeout_ms);
	for (size_t i = 0; i < r->edge_count; i++)
		edge_join(r->edges[i]);
}

void redirector_drain(struct redirector *r)
{
	int64_t timeout = r->config->redirector.drain_timeout;
	struct error err;

	stop_edges(r, timeout);
	if (kafka_producer_flush(r->shared.producer, timeout, &err) < 0)
		log_error(r->log, "click events are lost", log_err(&err));
}

void redirector_free(struct redirector *r)
{
	if (!r)
		return;
	stop_edges(r, 0);
	for (size_t i = 0; i < r->edge_count; i++)
		edge_free(r->edges[i]);
	/* The producer and the edges report here until they are gone. */
	kafka_producer_free(r->shared.producer);
	space_guard_free(r->shared.spaces);
	renew_gate_free(r->shared.gate);
	places_free(r->places);
	domains_free(r->domains);
	proxy_list_free(r->proxies);
	linkstore_free(r->store);
	free(r->edges);
	free(r->edge_has_redis);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
