#include "redirector/redirector.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/host_name.h"
#include "linkstore/domains.h"
#include "linkstore/space/missing_keys.h"
#include "linkstore/space/space_monitor.h"
#include "redirector/client_address.h"
#include "redirector/counters_report.h"
#include "redirector/event_sink.h"
#include "redirector/renew_throttle.h"
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

/* Ends the program the way an operator would: main waits for that signal. */
static void end_program(struct redirector *r, const struct error *err)
{
	pthread_mutex_lock(&r->health.lock);
	if (!r->health.failed) {
		r->health.failed = true;
		r->health.failure = *err;
		kill(getpid(), SIGTERM);
	}
	pthread_mutex_unlock(&r->health.lock);
}

/* Finds the first space with codes of a key that is not configured, and sets
 * the gauges of all. */
static bool find_missing_key(const struct redirector *r,
			     char ret_text[MISSING_KEYS_TEXT_MAX])
{
	bool found = false;

	for (size_t i = linkstore_space_count(r->store); i-- > 0;)
		found |= missing_keys_tell(linkstore_space(r->store, i),
					   r->keys_missing[i], ret_text);
	return found;
}

/* One health check tells of all spaces.  It is down while a key is missing, as
 * others may have it: it is for them to redirect its links. */
static void on_space_checked(void *arg, const struct link_space *space,
			     enum space_state state, const struct error *err)
{
	struct redirector *r = arg;
	char text[MISSING_KEYS_TEXT_MAX];

	(void)space;
	if (state == SPACE_DIFFERS)
		end_program(r, err);
	else if (err)
		health_down(r->health.links, err->text);
	else if (find_missing_key(r, text))
		health_down(r->health.links, text);
	else if (space_monitor_all_ready(r->spaces))
		health_up(r->health.links);
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
	r->health.links = health_register(health, "links");
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

static int make_spaces(struct redirector *r, struct error *err)
{
	const struct space_monitor_options options = {
		.store = r->store,
		.use = SPACE_TO_READ,
		.every = r->config->redirector.space_check_every,
		.on_checked = on_space_checked,
		.arg = r,
	};
	size_t count = linkstore_space_count(r->store);

	r->keys_missing = calloc(count, sizeof(struct metric *));
	if (!r->keys_missing)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		r->keys_missing[i] = missing_keys_register(
			r->registry, linkstore_space(r->store, i));
	r->spaces = space_monitor_new(&options, err);
	return r->spaces ? 0 : -1;
}

static int make_hours(struct redirector *r, struct error *err)
{
	r->hours = calloc(r->threads + 1, sizeof(*r->hours));
	if (!r->hours)
		return error_set_nomem(err);
	for (size_t i = 0; i <= r->threads; i++)
		hour_writer_init(&r->hours[i]);
	if (!*r->config->kafka.topic_counters)
		return 0;
	r->counters = counters_report_new(
		&r->config->kafka, &r->config->redirector, r->edge, r->hours,
		r->threads, r->registry, r->log, err);
	return r->counters ? 0 : -1;
}

static int make_sink(struct redirector *r, struct health *health,
		     struct error *err)
{
	const struct event_sink_options options = {
		.config = r->config,
		.metrics = &r->metrics,
		.hours = &r->hours[r->threads],
		.registry = r->registry,
		.health = health,
		.log = r->log,
	};

	r->sink = event_sink_new(&options, err);
	return r->sink ? 0 : -1;
}

static int make_parts(struct redirector *r, struct health *health,
		      struct error *err)
{
	redirector_metrics_register(&r->metrics, r->registry);
	if (make_health(r, health, err) < 0 || make_rules(r, err) < 0)
		return -1;
	r->renewals = renew_throttle_new(err);
	if (!r->renewals || make_spaces(r, err) < 0 || make_hours(r, err) < 0)
		return -1;
	return make_sink(r, health, err);
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
	/* It counts in `hours` until it is gone. */
	event_sink_free(r->sink);
	counters_report_free(r->counters);
	for (size_t i = 0; r->hours && i <= r->threads; i++)
		hour_writer_destroy(&r->hours[i]);
	free(r->hours);
	space_monitor_free(r->spaces);
	free(r->keys_missing);
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
	event_sink_flush(r->sink, timeout_ms);
}

int redirector_start_counters(struct redirector *r, struct error *err)
{
	return r->counters ? counters_report_start(r->counters, err) : 0;
}

void redirector_end_counters(struct redirector *r, int64_t timeout_ms)
{
	/* What becomes of the last events is counted before it returns. */
	event_sink_end(r->sink);
	if (r->counters)
		counters_report_end(r->counters, timeout_ms);
}
