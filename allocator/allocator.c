#include "allocator/allocator.h"

#include "common/app/reloadable.h"
#include "common/host_name.h"
#include "linkstore/config_check.h"
#include "linkstore/space/missing_keys.h"
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The program sends itself the signal that ends it: if it went on, it would
 * issue codes made with other keys. */
static void end_program(struct allocator *a, const struct error *err)
{
	if (a->mismatch.code != ERROR_NONE)
		return;
	a->mismatch = *err;
	kill(getpid(), SIGTERM);
}

/* Runs on the first thread. */
static void on_space_checked(void *arg, const struct link_space *space,
			     enum space_state state, const struct error *err)
{
	struct allocator *a = arg;
	const struct space_report *report = &a->space_reports[space->index];
	char state_text[SPACE_STATE_TEXT_MAX], keys_text[MISSING_KEYS_TEXT_MAX];
	char clock_text[SPACE_CLOCK_TEXT_MAX];

	if (state != SPACE_READY)
		health_down(report->check,
			    space_state_describe(state, space, state_text));
	else if (missing_keys_tell(space, report->keys_missing, keys_text))
		health_down(report->check, keys_text);
	else if (space_clock_differs(space, clock_text))
		health_say(report->check, clock_text);
	else
		health_up(report->check);
	if (state == SPACE_DIFFERS)
		end_program(a, err);
}

static void name_holder(char holder[LINK_HOLDER_MAX])
{
	char host[32];

	host_name(host, sizeof(host), "unknown");
	snprintf(holder, LINK_HOLDER_MAX, "%s:%d", host, (int)getpid());
}

static int open_audit(struct allocator *a, struct app *app, struct error *err)
{
	const struct audit_options options = {
		.path = a->config->allocator.audit_file,
		.queue_bytes = a->config->allocator.audit_queue_bytes,
		.log = a->log,
		.health = app_health(app),
		.metrics = a->metrics,
	};

	if (!options.path)
		return 0;
	a->audit = audit_new(&options, err);
	return a->audit ? 0 : -1;
}

static bool has_space(const void *arg, const char *name)
{
	return links_config_has_space(arg, name);
}

/* Opens the rules that decide which links may be made. */
static int open_rules(struct allocator *a,
		      const struct allocator_config *config, struct error *err)
{
	const struct allocator_settings *settings = &config->allocator;
	const struct url_policy_config urls = allocator_url_policy(settings);
	struct api_keyring_options keys = {
		.path = settings->keys_file,
		.setting = "allocator.keys_file",
		.metrics = a->metrics,
		.limited_metric = "shortloop_allocator_rate_limited_total",
		.limited_help = "Requests refused, and waits of batches, "
				"because a key had used up its rate",
	};

	if (key_rate_read(settings, &keys.rate, err) < 0)
		return -1;
	a->rules.accounts = account_book_new(&config->links, a->metrics, err);
	if (!a->rules.accounts)
		return -1;
	keys.accounts = account_book_reader(a->rules.accounts);
	keys.has_space = has_space;
	keys.has_space_arg = &config->links;
	a->rules.keys = api_keyring_new(&keys, err);
	if (!a->rules.keys)
		return -1;
	a->rules.domains =
		domains_open(&config->domains, &config->links, NULL, err);
	if (!a->rules.domains)
		return -1;
	a->rules.urls = url_policy_new(&urls, a->rules.domains,
				       config->domains.base_url, err);
	return a->rules.urls ? 0 : -1;
}

static void close_rules(struct allocator *a)
{
	domains_follower_free(a->rules.follower);
	url_policy_free(a->rules.urls);
	domains_free(a->rules.domains);
	api_keyring_free(a->rules.keys);
	account_book_free(a->rules.accounts);
}

static int take_domains(void *arg, const char *shared, size_t *ret_count,
			struct error *err)
{
	struct allocator *a = arg;

	if (domains_reload(a->rules.domains, shared, err) < 0)
		return -1;
	*ret_count = domains_count(a->rules.domains);
	return 0;
}

static int follow_domains(struct allocator *a, struct health *health,
			  struct error *err)
{
	const struct domains_follower_options options = {
		.domains = &a->config->domains,
		.redis = &a->config->redis,
		.log = a->log,
		.metrics = a->metrics,
		.health = health,
		.take = take_domains,
		.arg = a,
	};

	a->rules.follower = domains_follower_new(&options, err);
	return a->rules.follower ? 0 : -1;
}

static int follow_denied_hosts(struct allocator *a, struct health *health,
			       struct error *err)
{
	const struct denied_hosts_follower_options options = {
		.store = a->store,
		.redis = &a->config->redis,
		.log = a->log,
		.metrics = a->metrics,
		.health = health,
	};

	a->rules.denied_hosts = denied_hosts_follower_new(&options, err);
	if (!a->rules.denied_hosts)
		return -1;
	url_policy_follow(a->rules.urls, denied_hosts_follower_versions(
						 a->rules.denied_hosts));
	return 0;
}

int allocator_start_hosts(struct allocator *a, struct error *err)
{
	if (denied_hosts_follower_start(a->rules.denied_hosts, err) < 0)
		return -1;
	return domains_follower_start(a->rules.follower, err);
}

static int check_high_water_file(const struct allocator_config *config,
				 struct error *err)
{
	struct linkstore *store = linkstore_new(&config->links, err);
	int rc;

	if (!store)
		return -1;
	rc = high_water_file_check(config->allocator.high_water_file, store,
				   err);
	linkstore_free(store);
	return rc;
}

int allocator_check(const void *config, struct error *err)
{
	struct allocator a = {.metrics = metrics_new()};
	int rc;

	if (!a.metrics)
		return error_set_nomem(err);
	rc = open_rules(&a, config, err);
	if (rc == 0)
		rc = check_high_water_file(config, err);
	close_rules(&a);
	metrics_free(a.metrics);
	return rc;
}

static bool needs_ids(const struct linkstore *store)
{
	for (size_t i = 0; i < linkstore_space_count(store); i++)
		if (!link_space_has_blocks(linkstore_space(store, i)))
			return true;
	return false;
}

static void register_metrics(struct allocator *a, struct metrics *m)
{
	const struct allocator_settings *settings = &a->config->allocator;

	a->metrics = m;
	api_metrics_register(&a->counts.api, m);
	creation_metrics_register(&a->counts.creation, m);
	batch_metrics_register(&a->counts.batch, settings, m);
	block_pool_metrics_register(&a->counts.block_pool, m);
	metric_set(metrics_gauge(m, "shortloop_allocator_creates_waiting_max",
				 NULL, "Bound of those that wait, all threads"),
		   settings->waiting_max * settings->threads);
}

static int open_rules_and_defaults(struct allocator *a, struct error *err)
{
	const struct allocator_config *config = a->config;
	struct link_rules rules;

	if (open_rules(a, config, err) < 0)
		return -1;
	a->store = linkstore_new(&config->links, err);
	if (!a->store)
		return -1;
	rules = (struct link_rules){.store = a->store,
				    .domains = a->rules.domains,
				    .urls = a->rules.urls};
	return link_defaults_init(&a->rules.defaults, &config->allocator,
				  &rules, err);
}

static void register_space(const struct link_space *space,
			   struct space_report *report, struct health *health,
			   struct metrics *metrics)
{
	char text[SPACE_STATE_TEXT_MAX];

	snprintf(text, sizeof(text), "space %s", space->name);
	report->check = health_register(health, text);
	health_down(report->check,
		    space_state_describe(SPACE_UNCHECKED, space, text));
	report->keys_missing = missing_keys_register(metrics, space);
}

static int open_spaces(struct allocator *a, struct health *health,
		       struct error *err)
{
	const struct space_monitor_options options = {
		.store = a->store,
		.use = SPACE_TO_ISSUE,
		.every = a->config->allocator.space_check_every,
		.high_water_file = a->high_water_file,
		.on_checked = on_space_checked,
		.arg = a,
	};
	size_t count = linkstore_space_count(a->store);

	a->space_reports = calloc(count, sizeof(*a->space_reports));
	if (!a->space_reports)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		register_space(linkstore_space(a->store, i),
			       &a->space_reports[i], health, a->metrics);
	a->spaces = space_monitor_new(&options, err);
	return a->spaces ? 0 : -1;
}

static int open_first_threads(struct allocator *a, struct app *app,
			      struct error *err)
{
	const struct allocator_settings *settings = &a->config->allocator;

	a->reserve = redis_reserve_new(settings->redis_reserve, a->metrics,
				       a->log, err);
	if (!a->reserve)
		return -1;
	a->high_water_file =
		high_water_file_open(settings->high_water_file, a->store, err);
	if (!a->high_water_file)
		return -1;
	if (needs_ids(a->store)) {
		a->ids = id_generator_new((unsigned)settings->node, a->store,
					  a->holder, app_health(app), err);
		if (!a->ids)
			return -1;
	}
	return open_spaces(a, app_health(app), err);
}

static int open_all(struct allocator *a, struct app *app, struct error *err)
{
	const struct allocator_config *config = a->config;

	if (api_write_openapi(&a->openapi, err) < 0 ||
	    open_rules_and_defaults(a, err) < 0 ||
	    follow_domains(a, app_health(app), err) < 0 ||
	    follow_denied_hosts(a, app_health(app), err) < 0 ||
	    open_audit(a, app, err) < 0 || open_first_threads(a, app, err) < 0)
		return -1;
	a->ledger = ledger_watch_new(a->store, &config->redis,
				     config->allocator.ledger_every, a->metrics,
				     a->log, err);
	if (!a->ledger)
		return -1;
	a->events = link_events_new(config, a->log, app_health(app), a->metrics,
				    err);
	return a->events ? 0 : -1;
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
	pthread_mutex_init(&a->redis.lock, NULL);
	a->config = config;
	a->log = app_log(app);
	a->redis.check = health_register(app_health(app), "redis");
	register_metrics(a, app_metrics(app));
	name_holder(a->holder);
	if (open_all(a, app, err) == 0)
		return a;
	allocator_free(a);
	return NULL;
}

void allocator_free(struct allocator *a)
{
	if (!a)
		return;
	link_events_free(a->events, 0);
	audit_free(a->audit, 0);
	ledger_watch_free(a->ledger);
	buf_free(&a->openapi);
	space_monitor_free(a->spaces);
	free(a->space_reports);
	id_generator_free(a->ids);
	redis_reserve_free(a->reserve);
	high_water_file_free(a->high_water_file);
	link_defaults_free(&a->rules.defaults);
	denied_hosts_follower_free(a->rules.denied_hosts);
	linkstore_free(a->store);
	close_rules(a);
	pthread_mutex_destroy(&a->redis.lock);
	free(a);
}

/* --- reload --------------------------------------------------------------- */

static int read_urls(void *policy, struct error *err)
{
	return url_policy_reload(policy, err);
}

static void describe_urls(void *policy, struct log_field ret[RELOAD_FIELDS])
{
	size_t allowed, denied;

	url_policy_count(policy, &allowed, &denied);
	ret[0] = log_int("allowed", (int64_t)allowed);
	ret[1] = log_int("denied", (int64_t)denied);
}

static const struct rereadable_kind url_lists = {
	.what = "lists of domains",
	.read = read_urls,
	.describe = describe_urls,
};

void allocator_reload(struct allocator *a)
{
	const struct reload_report to = {.log = a->log};

	audit_reopen(a->audit);
	if (rereadable_reload(&api_keyring_kind, a->rules.keys, &to) == 0)
		audit_keys_reloaded(a->audit, api_keyring_count(a->rules.keys));
	domains_follower_reload(a->rules.follower);
	rereadable_reload(&url_lists, a->rules.urls, &to);
}

/* --- Redis ---------------------------------------------------------------- */

void allocator_redis_state(struct allocator *a, bool was_up, bool up,
			   const struct error *err)
{
	bool all_up, changed;

	pthread_mutex_lock(&a->redis.lock);
	a->redis.connected += (unsigned)up - (unsigned)was_up;
	all_up = a->redis.connected == (unsigned)a->config->allocator.threads;
	changed = all_up ? health_up(a->redis.check)
			 : health_down(a->redis.check,
				       err ? err->text
					   : "a thread is not connected yet");
	pthread_mutex_unlock(&a->redis.lock);
	if (changed && all_up)
		log_info(a->log, "Redis connected");
	else if (changed && err)
		log_warn(a->log, "Redis disconnected", log_err(err));
}

/* --- shutdown ------------------------------------------------------------- */

int allocator_drain(struct allocator *a, struct error *err)
{
	int64_t timeout = a->config->allocator.drain_timeout;

	link_events_free(a->events, timeout);
	a->events = NULL;
	audit_free(a->audit, timeout);
	a->audit = NULL;
	if (a->mismatch.code == ERROR_NONE)
		return 0;
	*err = a->mismatch;
	return -1;
}
