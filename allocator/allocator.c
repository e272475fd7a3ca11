#include "allocator/allocator.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "allocator/api/api.h"
#include "allocator/worker.h"

enum {
	PAINTERS = 2,	   /* threads that draw QR codes */
	PICTURES_MAX = 64, /* that wait for one */
};

struct allocator {
	struct shared shared;
	size_t worker_count;
	struct worker **workers;
	struct error mismatch; /* why it had to stop by itself */
};

/* On the first worker's thread: going on would issue codes made with other
 * keys, so the program ends as if it had been told to. */
static void on_space_differs(void *arg, const struct error *err)
{
	struct allocator *a = arg;

	a->mismatch = *err;
	kill(getpid(), SIGTERM);
}

static void name_holder(char holder[LINK_HOLDER_MAX])
{
	char host[32] = "";

	if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
		snprintf(host, sizeof(host), "unknown");
	snprintf(holder, LINK_HOLDER_MAX, "%s:%d", host, (int)getpid());
}

static int open_audit(struct shared *s, struct app *app, struct error *err)
{
	const struct audit_options options = {
		.path = s->config->allocator.audit_file,
		.queue_bytes = s->config->allocator.audit_queue_bytes,
		.log = s->log,
		.health = app_health(app),
		.metrics = s->metrics,
	};

	if (!options.path)
		return 0;
	s->audit = audit_new(&options, err);
	return s->audit ? 0 : -1;
}

/* What says which links may be made. */
static int open_rules(struct shared *s, const struct allocator_config *config,
		      struct error *err)
{
	const struct allocator_settings *settings = &config->allocator;
	struct api_keyring_options keys = {
		.path = settings->keys_file,
		.metrics = s->metrics,
		.ttl_classes = &config->links.ttl_classes,
	};

	if (key_rate_read(settings, &keys.rate, err) < 0)
		return -1;
	s->keys = api_keyring_new(&keys, err);
	if (!s->keys)
		return -1;
	s->domains = domains_new(&config->domains, err);
	if (!s->domains)
		return -1;
	s->urls = url_policy_new(&settings->url, s->domains, settings->base_url,
				 err);
	return s->urls ? 0 : -1;
}

static void close_rules(struct shared *s)
{
	url_policy_free(s->urls);
	domains_free(s->domains);
	api_keyring_free(s->keys);
}

static int check_seen(const struct allocator_config *config, struct error *err)
{
	struct linkstore *store = linkstore_new(&config->links, err);
	int rc;

	if (!store)
		return -1;
	rc = seen_file_check(config->allocator.seen_file, store, err);
	linkstore_free(store);
	return rc;
}

int allocator_check(const void *config, struct error *err)
{
	struct shared s = {.metrics = metrics_new()};
	int rc;

	if (!s.metrics)
		return error_set_nomem(err);
	rc = open_rules(&s, config, err);
	if (rc == 0)
		rc = check_seen(config, err);
	close_rules(&s);
	metrics_free(s.metrics);
	return rc;
}

static bool needs_ids(const struct linkstore *store)
{
	for (size_t i = 0; i < linkstore_space_count(store); i++)
		if (!link_space_has_blocks(linkstore_space(store, i)))
			return true;
	return false;
}

static void register_metrics(struct shared *s, struct metrics *m)
{
	const struct allocator_settings *settings = &s->config->allocator;

	s->metrics = m;
	api_metrics_register(&s->api_metrics, m);
	creation_metrics_register(&s->creation_metrics, m);
	batch_metrics_register(&s->batch_metrics, settings, m);
	block_pool_metrics_register(&s->block_pool_metrics, m);
	metric_set(metrics_gauge(m, "shortloop_allocator_creates_waiting_max",
				 NULL, "Bound of those that wait, all threads"),
		   settings->waiting_max * settings->threads);
}

static int open_shared(struct allocator *a,
		       const struct allocator_config *config, struct app *app,
		       struct error *err)
{
	struct shared *s = &a->shared;
	struct link_rules rules;

	s->config = config;
	s->painters = workers_new(PAINTERS, PICTURES_MAX, err);
	if (!s->painters)
		return -1;
	s->log = app_log(app);
	s->redis_check = health_register(app_health(app), "redis");
	register_metrics(s, app_metrics(app));
	name_holder(s->holder);
	if (open_rules(s, config, err) < 0)
		return -1;
	if (open_audit(s, app, err) < 0)
		return -1;
	s->store = linkstore_new(&config->links, err);
	if (!s->store)
		return -1;
	rules = (struct link_rules){.store = s->store,
				    .domains = s->domains,
				    .urls = s->urls,
				    .base_url = config->allocator.base_url};
	if (link_defaults_init(&s->defaults, &config->allocator, &rules, err) <
	    0)
		return -1;
	s->reserve = redis_reserve_new(config->allocator.redis_reserve,
				       s->metrics, s->log, err);
	if (!s->reserve)
		return -1;
	s->seen = seen_file_open(config->allocator.seen_file, s->store, err);
	if (!s->seen)
		return -1;
	if (needs_ids(s->store)) {
		s->ids = id_generator_new((unsigned)config->allocator.node,
					  s->store, s->holder, app_health(app),
					  err);
		if (!s->ids)
			return -1;
	}
	s->spaces = space_watch_new(s->store, app_health(app), s->metrics,
				    config->allocator.space_check_every,
				    on_space_differs, a, err);
	if (!s->spaces)
		return -1;
	space_watch_remember(s->spaces, s->seen);
	s->ledger = ledger_watch_new(s->store, &config->redis,
				     config->allocator.ledger_every, s->metrics,
				     s->log, err);
	if (!s->ledger)
		return -1;
	s->events = link_events_new(config, s->log, app_health(app), s->metrics,
				    err);
	return s->events ? 0 : -1;
}

static int open_workers(struct allocator *a, struct error *err)
{
	size_t count = (size_t)a->shared.config->allocator.threads;

	a->workers = calloc(count, sizeof(a->workers[0]));
	if (!a->workers)
		return error_set_nomem(err);
	for (; a->worker_count < count; a->worker_count++) {
		a->workers[a->worker_count] =
			worker_new(&a->shared, (unsigned)a->worker_count, err);
		if (!a->workers[a->worker_count])
			return -1;
	}
	return 0;
}

struct allocator *allocator_new(const struct allocator_config *config,
				struct app *app, struct error *err)
{
	struct allocator *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set_nomem(err);
		return NULL;
	}
	/* jansson seeds its hash tables on first use, which is not safe from
	 * several threads. */
	json_object_seed(0);
	pthread_mutex_init(&a->shared.redis_lock, NULL);
	if (api_write_openapi(&a->shared.openapi, err) == 0 &&
	    open_shared(a, config, app, err) == 0 && open_workers(a, err) == 0)
		return a;
	allocator_free(a);
	return NULL;
}

void allocator_free(struct allocator *a)
{
	if (!a)
		return;
	/* They report to loops of the workers'. */
	workers_free(a->shared.painters);
	for (size_t i = 0; i < a->worker_count; i++)
		worker_free(a->workers[i]);
	free(a->workers);
	link_events_free(a->shared.events, 0);
	audit_free(a->shared.audit, 0);
	ledger_watch_free(a->shared.ledger);
	buf_free(&a->shared.openapi);
	space_watch_free(a->shared.spaces);
	id_generator_free(a->shared.ids);
	redis_reserve_free(a->shared.reserve);
	seen_file_free(a->shared.seen);
	link_defaults_free(&a->shared.defaults);
	linkstore_free(a->shared.store);
	close_rules(&a->shared);
	pthread_mutex_destroy(&a->shared.redis_lock);
	free(a);
}

int allocator_start(struct allocator *a, struct error *err)
{
	const struct allocator_settings *settings =
		&a->shared.config->allocator;

	if (ledger_watch_start(a->shared.ledger, err) < 0)
		return -1;
	for (size_t i = 0; i < a->worker_count; i++) {
		if (worker_start(a->workers[i], err) < 0)
			return -1;
	}
	log_info(a->shared.log, "serving", log_str("address", settings->listen),
		 log_int("threads", settings->threads),
		 log_int("api_keys",
			 (int64_t)api_keyring_count(a->shared.keys)));
	return 0;
}

static void reload_keys(struct shared *s)
{
	struct error err = {0};
	size_t count;

	if (api_keyring_reload(s->keys, &err) < 0) {
		log_error(s->log, "the API keys stay as they were",
			  log_err(&err));
		return;
	}
	count = api_keyring_count(s->keys);
	log_info(s->log, "API keys read again",
		 log_int("api_keys", (int64_t)count));
	audit_keys_reloaded(s->audit, count);
}

static void reload_urls(struct shared *s)
{
	struct error err = {0};
	size_t allowed, denied;

	if (url_policy_reload(s->urls, &err) < 0) {
		log_error(s->log, "the lists of domains stay as they were",
			  log_err(&err));
		return;
	}
	url_policy_count(s->urls, &allowed, &denied);
	log_info(s->log, "lists of domains read again",
		 log_int("allowed", (int64_t)allowed),
		 log_int("denied", (int64_t)denied));
}

void allocator_reload(struct allocator *a)
{
	audit_reopen(a->shared.audit);
	reload_keys(&a->shared);
	reload_urls(&a->shared);
}

int allocator_stop(struct allocator *a, struct error *err)
{
	for (size_t i = 0; i < a->worker_count; i++)
		worker_stop(a->workers[i]);
	for (size_t i = 0; i < a->worker_count; i++)
		worker_join(a->workers[i]);
	link_events_free(a->shared.events,
			 a->shared.config->allocator.drain_timeout);
	a->shared.events = NULL;
	audit_free(a->shared.audit, a->shared.config->allocator.drain_timeout);
	a->shared.audit = NULL;
	if (a->mismatch.code == ERROR_NONE)
		return 0;
	*err = a->mismatch;
	return -1;
}
