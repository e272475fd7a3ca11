#include "redirector/redirector.h"

#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/host_name.h"
#include "common/network_list.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/domains_follower.h"
#include "linkstore/space/missing_keys.h"
#include "linkstore/space/space_monitor.h"
#include "redirector/counters/counters_report.h"
#include "redirector/events/event_limits.h"
#include "redirector/events/event_sink.h"
#include "redirector/lookup/freshness.h"
#include "redirector/lookup/invalidations.h"
#include "redirector/lookup/lookup_health.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/renewals/renewals_report.h"
#include "redirector/visit/access_log.h"
#include "redirector/visit/deny_file.h"
#include "redirector/visit/host_table.h"
#include "redirector/visit/renew_throttle.h"
#include "redirector/visit/robots.h"

/* --- health --------------------------------------------------------------- */

void redirector_redis_changed(struct redirector *r, unsigned thread,
			      const char *run_id, const struct error *err)
{
	struct redirector_health *h = &r->health;
	bool up = run_id != NULL, changed = false;

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
	if (up)
		invalidations_follow(r->invalidations, run_id);
	if (changed && up)
		log_info(r->log, "Redis connected");
	else if (changed)
		log_warn(r->log, "Redis disconnected", log_err(err));
}

bool redirector_can_redirect(const struct redirector *r)
{
	const struct redirector_health *h = &r->health;

	return health_is_up(h->redis) && health_is_up(h->links) &&
	       domains_follower_is_ready(r->domains) &&
	       denied_hosts_follower_is_ready(r->denied_hosts);
}

bool redirector_await_denied_hosts(const struct redirector *r, struct app *app)
{
	return denied_hosts_follower_await(r->denied_hosts, app);
}

/* Ends the program as an operator would: main waits for that signal. */
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

/* Sets the gauges of all spaces, and finds the first one that has codes of a
 * key that is not configured. */
static bool find_missing_key(const struct redirector *r,
			     char ret_text[MISSING_KEYS_TEXT_MAX])
{
	bool found = false;

	for (size_t i = linkstore_space_count(r->store); i-- > 0;)
		found |= missing_keys_tell(linkstore_space(r->store, i),
					   r->keys_missing[i], ret_text);
	return found;
}

/* One health check covers all spaces.  It is down while a key is missing:
 * another redirector may have the key, and has to redirect the links. */
static void on_space_checked(void *arg, const struct link_space *space,
			     enum space_state state, const struct error *err)
{
	struct redirector *r = arg;
	char text[MISSING_KEYS_TEXT_MAX], clock_text[SPACE_CLOCK_TEXT_MAX];

	if (state == SPACE_DIFFERS)
		end_program(r, err);
	else if (err)
		health_down(r->health.links, err->text);
	else if (find_missing_key(r, text))
		health_down(r->health.links, text);
	else if (!space_monitor_all_ready(r->spaces))
		return;
	else if (space_clock_differs(space, clock_text))
		health_say(r->health.links, clock_text);
	else
		health_up(r->health.links);
}

int redirector_failure(const struct redirector *r, struct error *err)
{
	if (!r->health.failed)
		return 0;
	*err = r->health.failure;
	return -1;
}

/* --- making --------------------------------------------------------------- */

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
	r->health.invalidations = health_register(health, "link changes");
	return 0;
}

/* Makes the lists of peers that are trusted for the client's address. */
static int make_peers(struct redirector *r, struct error *err)
{
	const struct redirector_settings *settings = &r->config->redirector;

	r->proxies = network_list_new_of_peers(
		&settings->trusted_proxies, "redirector.trusted_proxies", err);
	if (!r->proxies || !settings->proxy_protocol.count)
		return r->proxies ? 0 : -1;
	r->proxy_protocol = network_list_new_of_peers(
		&settings->proxy_protocol, "redirector.proxy_protocol", err);
	return r->proxy_protocol ? 0 : -1;
}

static const struct reloadable_kind *const file_kinds[REDIRECTOR_FILES] = {
	[FILE_DENIED] = &deny_file_kind,
	[FILE_PAGES] = &landing_pages_kind,
	[FILE_ROBOTS] = &robots_kind,
};

/* Returns NULL if there is nothing to read. */
static const void *source_of_file(const struct redirector_config *c,
				  enum redirector_file which)
{
	const void *const sources[REDIRECTOR_FILES] = {
		[FILE_DENIED] = c->redirector.deny_file,
		[FILE_PAGES] = &c->redirector,
		[FILE_ROBOTS] = &c->robots,
	};

	return sources[which];
}

static int make_files(struct redirector *r, struct error *err)
{
	for (enum redirector_file i = 0; i < REDIRECTOR_FILES; i++) {
		const void *source = source_of_file(r->config, i);

		if (!source)
			continue;
		r->files[i] = reloadable_new(file_kinds[i], source, err);
		if (!r->files[i])
			return -1;
	}
	if (r->files[FILE_DENIED])
		reloadable_show(r->files[FILE_DENIED],
				r->metrics.denied_networks);
	return 0;
}

/* Makes the rules: trusted peers, denied and exempt clients, and which links
 * are served at which host. */
static int make_rules(struct redirector *r, struct error *err)
{
	const struct redirector_settings *settings = &r->config->redirector;

	r->store = linkstore_new(&r->config->links, err);
	if (!r->store)
		return -1;
	if (make_peers(r, err) < 0)
		return -1;
	r->limit_exempt = network_list_new(&settings->limit_exempt,
					   "redirector.limit_exempt", err);
	if (!r->limit_exempt)
		return -1;
	if (make_files(r, err) < 0)
		return -1;
	r->hosts_in_use = host_table_new(r->config, r->store, err);
	return r->hosts_in_use ? 0 : -1;
}

static int take_domains(void *arg, const char *shared, size_t *ret_count,
			struct error *err)
{
	struct redirector *r = arg;
	const struct reload_report to = {.log = r->log};
	struct host_reload now;

	if (host_table_reload(r->hosts_in_use, shared, &now, err) < 0)
		return -1;
	if (now.files.count) {
		metric_add(r->metrics.reload_failures, now.files.count);
		reload_report_rejected(
			&to, "app files",
			(struct log_field[RELOAD_FIELDS]){
				log_int("files", (int64_t)now.files.count)},
			&now.files.first);
	}
	*ret_count = now.domains;
	return 0;
}

/* True if domains of the configuration itself name files. */
static bool has_app_files(const struct domains_config *config)
{
	const struct domain_config *all = config->list.items;

	for (size_t i = 0; i < config->list.count; i++)
		if (all[i].apple_app_site_association || all[i].assetlinks ||
		    all[i].robots_txt)
			return true;
	return false;
}

static int make_domains(struct redirector *r, struct health *health,
			struct error *err)
{
	const struct domains_follower_options options = {
		.domains = &r->config->domains,
		.redis = &r->config->redis,
		.log = r->log,
		.metrics = r->registry,
		.health = health,
		.take = take_domains,
		.arg = r,
		.has_files = has_app_files(&r->config->domains),
	};

	r->domains = domains_follower_new(&options, err);
	return r->domains ? 0 : -1;
}

static int make_denied_hosts(struct redirector *r, struct health *health,
			     struct error *err)
{
	const struct denied_hosts_follower_options options = {
		.store = r->store,
		.redis = &r->config->redis,
		.log = r->log,
		.metrics = r->registry,
		.health = health,
	};

	r->denied_hosts = denied_hosts_follower_new(&options, err);
	return r->denied_hosts ? 0 : -1;
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

static int make_invalidations(struct redirector *r, struct error *err)
{
	r->freshness = freshness_new(err);
	if (!r->freshness)
		return -1;
	r->invalidations = invalidations_new(&r->config->redis, r->freshness,
					     r->health.invalidations,
					     r->registry, r->log, err);
	return r->invalidations ? 0 : -1;
}

static int make_lookups(struct redirector *r, struct health *health,
			struct error *err)
{
	const struct redis_config *redis = &r->config->redis;
	const struct lookup_health_options options = {
		.health = health,
		.metrics = r->registry,
		.log = r->log,
		.threads = r->threads,
		.replicas = redis_has_replicas(redis),
	};

	/* The number is taken modulo the number of replicas. */
	r->first_replica = arc4random_uniform(1 << 16);
	r->lookups = lookup_health_new(&options, err);
	return r->lookups ? 0 : -1;
}

static int make_hours(struct redirector *r, struct error *err)
{
	r->hours = calloc(r->threads + 1, sizeof(*r->hours));
	return r->hours ? 0 : error_set_nomem(err);
}

/* Counts are kept even if they are not reported. */
static int make_untold_totals(struct redirector *r, struct error *err)
{
	r->untold = calloc(r->threads + 1, sizeof(*r->untold));
	if (!r->untold)
		return error_set_nomem(err);
	for (size_t i = 0; i <= r->threads; i++)
		hour_writer_init(&r->hours[i], &r->untold[i]);
	return 0;
}

static int make_counters(struct redirector *r, struct error *err)
{
	const struct counters_report_options options = {
		.kafka = &r->config->kafka,
		.settings = &r->config->redirector,
		.edge = r->edge,
		.writers = r->hours,
		.servers = r->threads,
		.metrics = &r->metrics,
		.registry = r->registry,
		.log = r->log,
	};

	if (!*r->config->kafka.topic_counters)
		return make_untold_totals(r, err);
	r->counters = counters_report_new(&options, err);
	return r->counters ? 0 : -1;
}

static int make_renewals_report(struct redirector *r, struct error *err)
{
	const struct kafka_config *kafka = &r->config->kafka;

	if (!*kafka->topic_renewals)
		return 0;
	r->renewals_report =
		renewals_report_new(kafka, r->registry, r->log, err);
	return r->renewals_report ? 0 : -1;
}

static int make_access_log(struct redirector *r, struct error *err)
{
	const struct redirector_settings *s = &r->config->redirector;

	if (!s->access_log)
		return 0;
	r->access_log = access_log_new(s, r->registry, r->log, err);
	return r->access_log ? 0 : -1;
}

static int make_sink(struct redirector *r, struct health *health, bool succeeds,
		     struct error *err)
{
	const struct event_sink_options options = {
		.config = r->config,
		.metrics = &r->metrics,
		.hours = &r->hours[r->threads],
		.threads = r->threads,
		.registry = r->registry,
		.health = health,
		.log = r->log,
		.succeeds = succeeds,
	};

	r->event_limits = event_limits_new(&r->config->redirector, err);
	if (!r->event_limits)
		return -1;
	r->sink = event_sink_new(&options, err);
	return r->sink ? 0 : -1;
}

static int make_parts(struct redirector *r, struct health *health,
		      bool succeeds, struct error *err)
{
	redirector_metrics_register(&r->metrics, r->registry);
	r->reloads = (struct reload_report){
		.log = r->log, .failures = r->metrics.reload_failures};
	if (make_access_log(r, err) < 0 || make_health(r, health, err) < 0 ||
	    make_rules(r, err) < 0 || make_domains(r, health, err) < 0 ||
	    make_denied_hosts(r, health, err) < 0)
		return -1;
	r->renewals = renew_throttle_new(err);
	if (!r->renewals || make_lookups(r, health, err) < 0 ||
	    make_spaces(r, err) < 0 || make_invalidations(r, err) < 0 ||
	    make_hours(r, err) < 0)
		return -1;
	/* The sink makes the folder of the counters' file, and counts from its
	 * start on. */
	if (make_sink(r, health, succeeds, err) < 0 ||
	    make_counters(r, err) < 0 || make_renewals_report(r, err) < 0)
		return -1;
	return event_sink_start(r->sink, err);
}

struct redirector *redirector_new(struct app *app,
				  const struct redirector_config *config,
				  bool succeeds, struct error *err)
{
	struct redirector *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	/* jansson seeds its hash tables on first use, which is not
	 * thread-safe. */
	json_object_seed(0);
	r->config = config;
	r->log = app_log(app);
	r->registry = app_metrics(app);
	r->threads = thread_count(&config->redirector);
	r->edge = edge_name(r);
	pthread_mutex_init(&r->health.lock, NULL);
	if (make_parts(r, app_health(app), succeeds, err) < 0) {
		redirector_free(r);
		return NULL;
	}
	return r;
}

void redirector_free(struct redirector *r)
{
	if (!r)
		return;
	/* The sink counts in `hours` until it is freed, and they in the memory
	 * of the counters. */
	event_sink_free(r->sink);
	for (size_t i = 0; r->hours && i <= r->threads; i++)
		hour_writer_destroy(&r->hours[i]);
	counters_report_free(r->counters);
	renewals_report_free(r->renewals_report);
	event_limits_free(r->event_limits);
	free(r->hours);
	free(r->untold);
	domains_follower_free(r->domains);
	denied_hosts_follower_free(r->denied_hosts);
	invalidations_free(r->invalidations);
	freshness_free(r->freshness);
	space_monitor_free(r->spaces);
	free(r->keys_missing);
	renew_throttle_free(r->renewals);
	lookup_health_free(r->lookups);
	host_table_free(r->hosts_in_use);
	access_log_free(r->access_log, r->config->redirector.drain_timeout);
	for (size_t i = 0; i < REDIRECTOR_FILES; i++)
		reloadable_free(r->files[i]);
	network_list_free(r->limit_exempt);
	network_list_free(r->proxies);
	network_list_free(r->proxy_protocol);
	linkstore_free(r->store);
	free(r->health.thread_connected);
	pthread_mutex_destroy(&r->health.lock);
	free(r);
}

/* --- reloading ------------------------------------------------------------ */

static int check_hosts(const struct redirector_config *config,
		       struct error *err)
{
	struct linkstore *store = linkstore_new(&config->links, err);
	struct host_table *hosts =
		store ? host_table_new(config, store, err) : NULL;
	int status = hosts ? 0 : -1;

	host_table_free(hosts);
	linkstore_free(store);
	return status;
}

int redirector_check(const void *config, struct error *err)
{
	const struct redirector_config *c = config;
	int status = check_hosts(c, err);

	for (enum redirector_file i = 0; status == 0 && i < REDIRECTOR_FILES;
	     i++) {
		const void *source = source_of_file(c, i);

		if (source)
			status = reloadable_check(file_kinds[i], source, err);
	}
	return status;
}

/* --- the rest ------------------------------------------------------------- */

void redirector_flush_events(struct redirector *r, int64_t timeout_ms)
{
	event_sink_flush(r->sink, timeout_ms);
}

void redirector_reload(struct redirector *r)
{
	access_log_reopen(r->access_log);
	for (size_t i = 0; i < REDIRECTOR_FILES; i++)
		reloadable_reload(r->files[i], &r->reloads);
	domains_follower_reload(r->domains);
}

void redirector_log_lookup_failure(struct redirector *r,
				   const struct error *err)
{
	int64_t left_out;

	if (log_pace_allows(&r->lookups_failed, &left_out))
		log_warn(r->log, "a link could not be looked up", log_err(err),
			 log_int("left_out", left_out));
}

int redirector_start_hosts(struct redirector *r, struct error *err)
{
	if (denied_hosts_follower_start(r->denied_hosts, err) < 0)
		return -1;
	return domains_follower_start(r->domains, err);
}

int redirector_start_invalidations(struct redirector *r, struct error *err)
{
	return invalidations_start(r->invalidations, err);
}

void redirector_stop_invalidations(struct redirector *r)
{
	invalidations_stop(r->invalidations);
}

int redirector_start_counters(struct redirector *r, struct error *err)
{
	return r->counters ? counters_report_start(r->counters, err) : 0;
}

void redirector_end_reports(struct redirector *r, int64_t timeout_ms)
{
	int64_t until = clock_monotonic_ms() + timeout_ms;

	/* The sink counts the results of the last events before it returns. */
	event_sink_end(r->sink);
	if (r->counters)
		counters_report_end(r->counters, timeout_ms);
	/* Records of renewals were sent meanwhile. */
	timeout_ms = until - clock_monotonic_ms();
	if (r->renewals_report)
		renewals_report_end(r->renewals_report,
				    timeout_ms > 0 ? timeout_ms : 0);
}
