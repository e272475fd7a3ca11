#include "redirector/redirector.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/host_name.h"
#include "linkstore/domains.h"
#include "redirector/client_address.h"
#include "redirector/renew_throttle.h"
#include "redirector/space_guard.h"
#include "redirector/virtual_host.h"

/* --- health ----------------------------------------------------------------
 */

void redirector_redis_changed(struct redirector *r, unsigned thread, bool up,
			      const struct error *err)
{
	struct redirector_health *h = &r->health;
	bool changed = false;

	pthread_mutex_lock(&h->lock);
	if (h->thread_connected[thread] != up) {
		h->thread_connected[thread] = up;
		h->connected += up ? 1 : (size_t)-1;
	}
	if (!up)
		changed = health_down(h->redis, err->text);
	else if (h->connected == r->threads)
		changed = health_up(h->redis);
	pthread_mutex_unlock(&h->lock);
	if (changed && up)
		log_info(r->log, "Redis connected");
	else if (changed)
		log_warn(r->log, "Redis disconnected", log_err(err));
}

static void on_kafka(void *arg, bool up, const char *reason)
{
	struct redirector *r = arg;

	if (up && health_up(r->health.kafka))
		log_info(r->log, "Kafka connected");
	else if (!up && health_down(r->health.kafka, reason))
		log_warn(r->log, "Kafka disconnected",
			 log_str("reason", reason));
}

static void on_delivery(void *arg, void *opaque, const struct error *err)
{
	struct redirector *r = arg;

	(void)opaque;
	if (err)
		metric_add(r->metrics.counters[COUNTER_DROPPED_EXPIRED], 1);
}

/* Ends the program the way an operator would: main waits for that signal. */
static void on_fatal(void *arg, const struct error *err)
{
	struct redirector *r = arg;

	pthread_mutex_lock(&r->health.lock);
	if (!r->health.failed) {
		r->health.failed = true;
		r->health.failure = *err;
		kill(getpid(), SIGTERM);
	}
	pthread_mutex_unlock(&r->health.lock);
}

int redirector_failure(const struct redirector *r, struct error *err)
{
	if (!r->health.failed)
		return 0;
	*err = r->health.failure;
	return -1;
}

/* --- making ----------------------------------------------------------------
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
	host_name(r->host_name, sizeof(r->host_name), "unnamed");
	return r->host_name;
}

static int make_health(struct redirector *r, struct health *health,
		       struct error *err)
{
	r->health.thread_connected = calloc(r->threads, sizeof(bool));
	if (!r->health.thread_connected)
		return error_set_nomem(err);
	r->health.redis = health_register(health, "redis");
	r->health.kafka = health_register(health, "kafka");
	return 0;
}

/* Whose word on the client's address is taken, which links are shown where. */
static int make_rules(struct redirector *r, struct error *err)
{
	const struct redirector_settings *settings = &r->config->redirector;

	r->store = linkstore_new(&r->config->links, err);
	if (!r->store)
		return -1;
	r->proxies = proxy_list_new(&settings->trusted_proxies, err);
	if (!r->proxies)
		return -1;
	r->domains = domains_new(&r->config->domains, err);
	if (!r->domains)
		return -1;
	r->virtual_hosts =
		virtual_hosts_new(r->domains, r->store, settings, err);
	return r->virtual_hosts ? 0 : -1;
}

static int make_producer(struct redirector *r, struct error *err)
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

	r->producer = kafka_producer_new(&r->config->kafka, &options,
					 r->registry, err);
	return r->producer ? 0 : -1;
}

static int make_parts(struct redirector *r, struct health *health,
		      struct error *err)
{
	redirector_metrics_register(&r->metrics, r->registry);
	if (make_health(r, health, err) < 0 || make_rules(r, err) < 0)
		return -1;
	r->renewals = renew_throttle_new(err);
	if (!r->renewals)
		return -1;
	r->spaces = space_guard_new(r->store, health_register(health, "links"),
				    r->registry, on_fatal, r, err);
	if (!r->spaces)
		return -1;
	return make_producer(r, err);
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
	r->registry = app_metrics(app);
	r->threads = thread_count(&config->redirector);
	r->edge = edge_name(r);
	pthread_mutex_init(&r->health.lock, NULL);
	if (make_parts(r, app_health(app), err) < 0) {
		redirector_free(r);
		return NULL;
	}
	return r;
}

void redirector_free(struct redirector *r)
{
	if (!r)
		return;
	/* The producer reports here until it is gone. */
	kafka_producer_free(r->producer);
	space_guard_free(r->spaces);
	renew_throttle_free(r->renewals);
	virtual_hosts_free(r->virtual_hosts);
	domains_free(r->domains);
	proxy_list_free(r->proxies);
	linkstore_free(r->store);
	free(r->health.thread_connected);
	pthread_mutex_destroy(&r->health.lock);
	free(r);
}

void redirector_flush_events(struct redirector *r, int64_t timeout_ms)
{
	struct error err;

	if (kafka_producer_flush(r->producer, timeout_ms, &err) < 0)
		log_error(r->log, "click events dropped", log_err(&err));
}
