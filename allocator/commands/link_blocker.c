#include "allocator/commands/link_blocker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/audit/audit.h"
#include "allocator/change/link_changer.h"
#include "allocator/link/link_patch.h"
#include "allocator/link_events.h"
#include "common/clock.h"
#include "common/domain_list.h"
#include "linkstore/domains.h"
#include "linkstore/target.h"
#include "linkstore/url_checker.h"
#include "linkstore/visit/link_hosts.h"

enum {
	TAKEN_MAX = 4096,
	IN_FLIGHT_MAX = 256, /* links that are being blocked at a time */
	RETRY_MS = 200,
	TRIES_MAX = 5,	     /* for a link that fails while Redis is there */
	PATIENCE_MS = 30000, /* for Redis to come back */
	FLUSH_MS = 10000,
};

struct taken_link {
	struct link_blocker *blocker;
	char code[ALIAS_TEXT_MAX];
	uint64_t link_id;
	unsigned tries;
};

struct link_blocker {
	struct app *app;
	struct linkstore *store;
	struct domains *domains;
	struct loop *loop;
	struct loop_timer *retry;
	struct redis_async *redis;
	struct log_pace failures;
	struct change_metrics changes;
	struct link_finding_metrics reads;
	struct creation_context creation;
	struct link_rules rules;
	struct link_changer *changer;
	struct link_patch patch;
	struct api_key_info caller;
	struct audit_source source;
	struct domain_list *domain;

	struct taken_link taken[TAKEN_MAX];
	size_t count;
	/* Indexes of links that are to be blocked, from `next` on. */
	size_t waiting[TAKEN_MAX];
	size_t next, end;
	size_t in_flight;
	bool repeats;	  /* blocked links are written again */
	bool is_sending;  /* an answer may come before its order returns */
	bool backs_off;	  /* until the timer: Redis took no command */
	int64_t progress; /* loop_now_ms of the last answer by Redis */
	struct error failure;
	bool failed;
	struct link_blocker_counts counts;
};

/* --- one link ------------------------------------------------------------- */

/* The archive may be behind, and a code may have another link by now. */
static bool is_to_be_blocked(const void *arg, const Shortloop__Link *link,
			     const char *etag)
{
	const struct taken_link *taken = arg;

	(void)etag;
	return link->link_id == taken->link_id &&
	       link_leads_to(link, taken->blocker->domain);
}

static void log_refusal(const struct link_blocker *b,
			const struct taken_link *taken,
			const struct change_result *result)
{
	log_error(b->creation.log, "link not blocked",
		  log_str("code", taken->code),
		  log_int("status", result->status),
		  log_str("reason", result->detail));
}

static void count_answer(struct link_blocker *b, const struct taken_link *taken,
			 const struct change_result *result)
{
	switch (result->status) {
	case 200:
		if (result->changed)
			b->counts.blocked++;
		else
			b->counts.passed_over++;
		break;
	case 404:
	case 410:
	case 412:
		b->counts.passed_over++;
		break;
	default:
		b->counts.refused++;
		log_refusal(b, taken, result);
	}
}

static void send_some(struct link_blocker *b);

static void on_changed(void *arg, const struct change_result *result)
{
	struct taken_link *taken = arg;
	struct link_blocker *b = taken->blocker;

	b->in_flight--;
	/* A damaged record fails while Redis is there, again and again. */
	if (result->status == 503 &&
	    (!redis_async_is_up(b->redis) || ++taken->tries < TRIES_MAX)) {
		b->waiting[b->end++ % TAKEN_MAX] = (size_t)(taken - b->taken);
		error_set_retriable(&b->failure, ERROR_REMOTE, "%.300s",
				    result->detail);
		b->backs_off = true;
		return;
	}
	b->progress = loop_now_ms(b->loop);
	count_answer(b, taken, result);
	send_some(b);
}

static void block_link(struct link_blocker *b, struct taken_link *taken)
{
	const struct change_order order = {
		.code = {taken->code, strlen(taken->code)},
		.caller = &b->caller,
		.source = &b->source,
		.patch = &b->patch,
		.is_expected = is_to_be_blocked,
		.expected = taken,
		.skip_unchanged = !b->repeats,
	};

	b->in_flight++;
	link_changer_change(b->changer, &order, on_changed, taken);
}

/* --- the loop ------------------------------------------------------------- */

static void send_some(struct link_blocker *b)
{
	if (b->is_sending)
		return;
	b->is_sending = true;
	while (b->in_flight < IN_FLIGHT_MAX && b->next != b->end &&
	       !b->backs_off && redis_async_is_up(b->redis))
		block_link(b, &b->taken[b->waiting[b->next++ % TAKEN_MAX]]);
	b->is_sending = false;
	if (b->in_flight == 0 && b->next == b->end)
		loop_stop(b->loop);
}

static void on_retry(void *arg)
{
	struct link_blocker *b = arg;

	if (app_should_stop(b->app, 0)) {
		error_set_retriable(&b->failure, ERROR_STOPPED, "stopped");
		b->failed = true;
	} else if (loop_now_ms(b->loop) - b->progress > PATIENCE_MS) {
		b->failed = true;
	}
	if (b->failed)
		b->next = b->end;
	b->backs_off = false;
	send_some(b);
	loop_timer_set(b->retry, RETRY_MS);
}

static void on_state(void *arg, bool up, const struct error *err)
{
	struct link_blocker *b = arg;

	if (up)
		send_some(b);
	else if (err)
		b->failure = *err;
}

int link_blocker_finish(struct link_blocker *b, struct error *err)
{
	if (b->count == 0)
		return 0;
	b->next = 0;
	b->end = b->count;
	for (size_t i = 0; i < b->count; i++)
		b->waiting[i] = i;
	b->count = 0;
	b->progress = clock_monotonic_ms();
	loop_timer_set(b->retry, 0);
	if (loop_run(b->loop, err) < 0)
		return -1;
	loop_timer_stop(b->retry);
	if (!b->failed)
		return 0;
	*err = b->failure;
	return -1;
}

int link_blocker_take(struct link_blocker *b, const char *code,
		      uint64_t link_id, struct error *err)
{
	struct taken_link *taken = &b->taken[b->count];

	*taken = (struct taken_link){.blocker = b, .link_id = link_id};
	snprintf(taken->code, sizeof(taken->code), "%s", code);
	return ++b->count < TAKEN_MAX ? 0 : link_blocker_finish(b, err);
}

int link_blocker_set_domain(struct link_blocker *b, const char *domain,
			    struct error *err)
{
	struct domain_list *list = domain_list_of(&domain, 1, err);

	if (!list)
		return -1;
	domain_list_free(b->domain);
	b->domain = list;
	return 0;
}

void link_blocker_repeat(struct link_blocker *b)
{
	b->repeats = true;
}

int link_blocker_flush(struct link_blocker *b, struct error *err)
{
	return link_events_flush(b->creation.events, FLUSH_MS, err);
}

struct link_blocker_counts link_blocker_counts(const struct link_blocker *b)
{
	return b->counts;
}

/* --- making --------------------------------------------------------------- */

static int open_audit(struct link_blocker *b,
		      const struct allocator_config *config, struct error *err)
{
	const struct audit_options options = {
		.path = config->allocator.audit_file,
		.queue_bytes = config->allocator.audit_queue_bytes,
		.log = app_log(b->app),
		.health = app_health(b->app),
		.metrics = app_metrics(b->app),
	};

	if (!options.path)
		return 0;
	b->creation.audit = audit_new(&options, err);
	return b->creation.audit ? 0 : -1;
}

static int open_store(struct link_blocker *b,
		      const struct allocator_config *config, struct error *err)
{
	b->store = linkstore_new(&config->links, err);
	if (!b->store)
		return -1;
	b->domains = domains_open(&config->domains, &config->links, NULL, err);
	if (!b->domains)
		return -1;
	b->rules.store = b->store;
	b->rules.domains = b->domains;
	return 0;
}

static int open_redis(struct link_blocker *b,
		      const struct allocator_config *config, struct error *err)
{
	b->loop = loop_new(err);
	if (!b->loop)
		return -1;
	b->retry = loop_timer_new(b->loop, on_retry, b, err);
	if (!b->retry)
		return -1;
	b->redis =
		redis_async_new(b->loop, &config->redis,
				linkstore_scripts(b->store), on_state, b, err);
	if (!b->redis)
		return -1;
	b->creation.redis = b->redis;
	b->creation.urls = url_checker_new(b->loop, b->redis, err);
	return b->creation.urls ? 0 : -1;
}

static int open_changer(struct link_blocker *b, struct error *err)
{
	static const char patch[] = "{\"state\":\"blocked\"}";
	const struct link_changer_options options = {
		.loop = b->loop,
		.creation = &b->creation,
		.rules = &b->rules,
		.metrics = &b->changes,
		.reads = &b->reads,
	};

	change_metrics_register(&b->changes, app_metrics(b->app));
	link_finding_metrics_register(&b->reads, app_metrics(b->app));
	b->creation.log = app_log(b->app);
	b->creation.failures = &b->failures;
	b->changer = link_changer_new(&options, err);
	if (!b->changer)
		return -1;
	return link_patch_parse(&b->patch, &b->rules,
				(struct http_slice){patch, sizeof(patch) - 1},
				err);
}

static int open_blocker(struct link_blocker *b,
			const struct allocator_config *config,
			struct error *err)
{
	if (open_store(b, config, err) < 0 || open_redis(b, config, err) < 0)
		return -1;
	b->creation.events =
		link_events_new(config, app_log(b->app), app_health(b->app),
				app_metrics(b->app), err);
	if (!b->creation.events || open_audit(b, config, err) < 0)
		return -1;
	return open_changer(b, err);
}

struct link_blocker *link_blocker_new(struct app *app,
				      const struct allocator_config *config,
				      const char *who, struct error *err)
{
	struct link_blocker *b = calloc(1, sizeof(*b));

	if (!b) {
		error_set_nomem(err);
		return NULL;
	}
	b->app = app;
	b->caller.roles = API_ADMIN;
	snprintf(b->caller.name, sizeof(b->caller.name), "%s", who);
	b->source.key = who;
	if (open_blocker(b, config, err) == 0)
		return b;
	link_blocker_free(b);
	return NULL;
}

void link_blocker_free(struct link_blocker *b)
{
	if (!b)
		return;
	link_changer_stop(b->changer);
	redis_async_free(b->redis);
	url_checker_free(b->creation.urls);
	link_changer_free(b->changer);
	loop_timer_free(b->retry);
	loop_free(b->loop);
	link_events_free(b->creation.events, FLUSH_MS);
	audit_free(b->creation.audit, FLUSH_MS);
	link_patch_release(&b->patch);
	domain_list_free(b->domain);
	domains_free(b->domains);
	linkstore_free(b->store);
	free(b);
}
