#include "allocator/create/creation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/create/idempotency.h"
#include "allocator/create/store_step.h"
#include "allocator/create/strategy.h"
#include "allocator/link/blocked_text.h"
#include "allocator/link/link_view.h"
#include "allocator/link/link_whose.h"
#include "common/clock.h"
#include "common/drop_const.h"
#include "common/http/problem_type.h"

enum {
	TRIES_MAX = 5
};

void creation_metrics_register(struct creation_metrics *cm, struct metrics *m)
{
	static const char name[] = "shortloop_allocator_creates_total";
	static const char help[] = "Links asked for";

	cm->created = metrics_counter(m, name, "outcome=\"created\"", help);
	cm->found = metrics_counter(m, name, "outcome=\"found\"", help);
	cm->replayed = metrics_counter(m, name, "outcome=\"replayed\"", help);
	cm->invalid = metrics_counter(m, name, "outcome=\"invalid\"", help);
	cm->denied = metrics_counter(m, name, "outcome=\"denied\"", help);
	cm->taken = metrics_counter(m, name, "outcome=\"taken\"", help);
	cm->unavailable =
		metrics_counter(m, name, "outcome=\"unavailable\"", help);
	cm->full = metrics_counter(m, name, "outcome=\"full\"", help);
	cm->seconds = metrics_histogram(m, "shortloop_allocator_create_seconds",
					NULL, "Time from a request to its 201",
					metrics_latency_bounds,
					metrics_latency_bound_count);
	cm->conflicts = metrics_counter(
		m, "shortloop_allocator_create_conflicts_total", NULL,
		"Codes under which Redis had a live link already");
	cm->retries =
		metrics_counter(m, "shortloop_allocator_create_retries_total",
				NULL, "Tries to store a link beyond its first");
}

static const struct link_space *space_of(const struct creation *c)
{
	return c->order.request->fields.space;
}

static const struct linkstore *store_of(const struct creation *c)
{
	return space_of(c)->store;
}

/* --- end ------------------------------------------------------------------ */

/* Notes the result of the request.  `link` is the link that exists, or NULL. */
static void end_idempotency(struct creation *c, const Shortloop__Link *link)
{
	if (link && c->strategy->is_repeatable)
		idempotency_note_done(c->idempotency, c->target.code,
				      link->link_id);
	else if (link || c->fate != LINK_UNSURE)
		idempotency_end(c->idempotency, link != NULL);
	idempotency_free(c->idempotency);
}

static void end_creation(struct creation *c,
			 const struct creation_result *result)
{
	creation_done_fn *done = c->done;
	void *arg = c->arg;

	if (c->fate == LINK_NOT_STORED)
		charge_give_back(&c->charge, c->context->redis, store_of(c));
	if (c->idempotency)
		end_idempotency(c, result->link);
	done(arg, result);
	free(c);
}

void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail)
{
	const struct creation_result result = {
		.status = status,
		.detail = detail,
		.type = c->problem,
		/* Other problems would occur again, so they have no
		 * Retry-After. */
		.retry_after =
			c->retry_after
				? c->retry_after
				: outcome == c->context->metrics->unavailable,
	};

	metric_add(outcome, 1);
	end_creation(c, &result);
}

void creation_log_failure(const struct creation_context *context,
			  const struct error *err)
{
	int64_t left_out;

	if (err->outside && log_pace_allows(context->failures, &left_out))
		log_warn(context->log, "a request failed", log_err(err),
			 log_int("others_since_the_last_line", left_out));
}

void creation_fail(struct creation *c, const struct error *err)
{
	const struct creation_metrics *m = c->context->metrics;
	char text[SPACE_STATE_TEXT_MAX + 64];

	if (err->code == ERROR_EXHAUSTED) {
		snprintf(text, sizeof(text),
			 "space %s is full: all its codes are live or in "
			 "quarantine; name another space, or come back when "
			 "links have expired",
			 space_of(c)->name);
		creation_refuse(c, 507, m->full, text);
	} else if (err->code == ERROR_NOTFOUND) {
		space_state_describe(SPACE_MISSING, space_of(c), text);
		creation_refuse(c, 503, m->unavailable, text);
	} else if (err->code == ERROR_INPUT) {
		creation_refuse(c, 400, m->invalid, err->text);
	} else {
		creation_log_failure(c->context, err);
		creation_refuse(c, 503, m->unavailable, error_outside(err));
	}
}

void creation_refuse_blocked(struct creation *c, const char *url)
{
	char text[BLOCKED_TEXT_MAX];

	blocked_text(&c->link, url, c->account, text);
	creation_refuse(c, 451, c->context->metrics->denied, text);
}

static void report_created_link(const struct creation *c,
				const Shortloop__Link *link, int64_t expires)
{
	const struct creation_context *context = c->context;
	const struct audit_entry entry = {c->order.source,
					  c->target.space->name, c->target.code,
					  NULL, link};

	link_events_send(context->events, SHORTLOOP__LINK_CHANGE__LINK_CREATED,
			 entry.space, entry.code, link, expires);
	audit_link(context->audit, AUDIT_CREATED, &entry);
}

static void complete_creation(struct creation *c, int64_t expires)
{
	const struct creation_context *context = c->context;
	const struct creation_result result = {
		.status = 201,
		.space = space_of(c),
		.code = c->target.code,
		.link = &c->link,
		.expires = expires,
	};

	c->fate = LINK_STORED;
	report_created_link(c, &c->link, expires);
	context->created[result.space->index]++;
	metric_add(context->metrics->created, 1);
	metric_observe(context->metrics->seconds,
		       (double)(clock_monotonic_ns() - c->started) / 1e9);
	end_creation(c, &result);
}

static void end_with(struct creation *c, const Shortloop__Link *link,
		     int64_t left, int status, bool replayed)
{
	const struct creation_result result = {
		.status = status,
		.replayed = replayed,
		.space = c->target.space,
		.code = c->target.code,
		.link = link,
		.expires = link_view_expires(left),
	};

	end_creation(c, &result);
}

void creation_found(struct creation *c, const Shortloop__Link *link,
		    int64_t left)
{
	metric_add(c->context->metrics->found, 1);
	end_with(c, link, left, 200, false);
}

/* Ends it with the link that an earlier request with this key created. */
static void answer_with_earlier_link(struct creation *c,
				     const struct idempotency_answer *answer)
{
	c->target = *answer->target;
	if (!answer->reported)
		report_created_link(c, answer->link,
				    link_view_expires(answer->left));
	if (answer->link->state == SHORTLOOP__LINK_STATE__LINK_BLOCKED) {
		/* The link was created, so the key creates no other. */
		idempotency_end(c->idempotency, true);
		idempotency_free(c->idempotency);
		c->idempotency = NULL;
		creation_refuse_blocked(c, NULL);
		return;
	}
	metric_add(c->context->metrics->replayed, 1);
	end_with(c, answer->link, answer->left, 201, true);
}

/* --- charge and plan ------------------------------------------------------ */

bool creation_might_be_refused(const struct creation *c)
{
	return charge_has_quota(&c->charge) ||
	       redis_reserve_is_reached(c->context->reserve);
}

static void plan_or_store(struct creation *c)
{
	if (c->idempotency)
		idempotency_plan(c->idempotency, c->target.code,
				 c->link.link_id);
	else
		c->strategy->store(c);
}

static void on_charged(void *arg, const struct quota_answer *answer,
		       const struct error *err)
{
	struct creation *c = arg;
	char text[CHARGE_TEXT_MAX];

	if (err) {
		creation_fail(c, err);
	} else if (!answer->taken) {
		charge_refusal(answer, c->charge.rules, c->account, text);
		c->retry_after = (unsigned)clock_whole_seconds(answer->wait_ms);
		c->problem = PROBLEM_QUOTA;
		creation_refuse(c, 429, c->context->metrics->denied, text);
	} else {
		charge_set_taken(&c->charge, answer);
		plan_or_store(c);
	}
}

void creation_code_chosen(struct creation *c)
{
	struct error err;

	if (redis_reserve_is_reached(c->context->reserve))
		creation_refuse(
			c, 507, c->context->metrics->full,
			"Redis is nearly full: the rest of its memory is "
			"reserved for changes to existing links; try again "
			"when links have expired, or give Redis more memory");
	else if (c->charge.taken || !charge_has_quota(&c->charge))
		plan_or_store(c);
	else if (charge_take(
			 &c->charge, c->context->redis, store_of(c),
			 (int64_t)shortloop__link__get_packed_size(&c->link),
			 on_charged, c, &err) < 0)
		creation_fail(c, &err);
}

static void on_idempotency(void *arg, const struct idempotency_answer *answer)
{
	const struct creation_metrics *m;
	struct creation *c = arg;

	m = c->context->metrics;
	switch (answer->outcome) {
	case IDEMPOTENCY_PROCEED:
		c->strategy->take(c);
		break;
	case IDEMPOTENCY_PLANNED:
		c->deadline = answer->deadline;
		c->strategy->store(c);
		break;
	case IDEMPOTENCY_REPLAY:
		answer_with_earlier_link(c, answer);
		break;
	case IDEMPOTENCY_REFUSED:
		creation_refuse(c, answer->status,
				answer->temporary ? m->unavailable : m->invalid,
				answer->detail);
		break;
	case IDEMPOTENCY_FAILED:
		creation_fail(c, answer->err);
		break;
	}
}

/* --- store ---------------------------------------------------------------- */

/* Returns false if the creation has ended. */
static bool may_try_again(struct creation *c, const struct error *err)
{
	struct error why;

	if (++c->tries < TRIES_MAX) {
		metric_add(c->context->metrics->retries, 1);
		return true;
	}
	error_set_retriable(&why, ERROR_REMOTE,
			    "no code could be stored in %d tries: %.300s",
			    TRIES_MAX, err->text);
	error_keep_inside(&why, err->outside);
	creation_fail(c, &why);
	return false;
}

void creation_count_conflict(struct creation *c, const struct error *err)
{
	metric_add(c->context->metrics->conflicts, 1);
	log_error(c->context->log, "a fresh code has a live link already",
		  log_str("code", c->target.code), log_err(err));
}

void creation_retry(struct creation *c, const struct error *err)
{
	if (may_try_again(c, err))
		c->strategy->take(c);
}

void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err)
{
	enum store_step step =
		store_next_step(err, redis_async_is_up(c->context->redis),
				c->fate == LINK_UNSURE, c->idempotency != NULL);

	if (store_answer_is_lost(err))
		c->fate = LINK_UNSURE;
	switch (step) {
	case STORE_DONE:
		complete_creation(c, expires);
		break;
	case STORE_AGAIN:
		if (may_try_again(c, err))
			c->strategy->store(c);
		break;
	case STORE_ELSEWHERE:
		if (c->strategy->refused(c, err))
			creation_retry(c, err);
		break;
	case STORE_FAILED:
		creation_fail(c, err);
		break;
	}
}

/* --- start ---------------------------------------------------------------- */

/* Returns false and ends the creation unless the caller may create links of
 * this owner and this TTL class. */
static bool is_allowed(struct creation *c, const struct api_key_info *caller)
{
	const struct link_class *ttl = c->order.request->fields.ttl;
	struct metric *denied = c->context->metrics->denied;
	const struct key_link whose = link_whose(&c->link);
	char text[ACCOUNT_TTL_MAX + API_KEY_NAME_MAX + 64];

	if (!key_may(caller, KEY_CREATES_LINK, &whose)) {
		creation_refuse(c, 403, denied,
				"owner: this API key may not write for it");
		return false;
	}
	if (!account_rules_allow_ttl(caller->rules, ttl->name)) {
		metric_add(caller->rules->ttl_refused, 1);
		snprintf(text, sizeof(text), "ttl: the account '%s' may use %s",
			 c->account, caller->rules->ttl);
		creation_refuse(c, 403, denied, text);
		return false;
	}
	return true;
}

static int open_idempotency(struct creation *c)
{
	const struct idempotency_request request = {
		.account = c->account,
		.key = c->order.key,
		.line = c->order.line,
		.body = c->order.body,
		.ttl = c->order.request->fields.ttl->ttl,
		.is_repeatable = c->strategy->is_repeatable,
	};

	if (!c->order.key.len)
		return 0;
	c->idempotency = idempotency_new(&request, c->context->redis,
					 store_of(c), on_idempotency, c);
	return c->idempotency ? 0 : -1;
}

static void on_checked(void *arg, const char *blocked, const struct error *err)
{
	struct creation *c = arg;

	if (err)
		creation_fail(c, err);
	else if (blocked)
		creation_refuse_blocked(c, blocked);
	else if (c->idempotency)
		idempotency_read(c->idempotency);
	else
		c->strategy->take(c);
}

/* Members of the order that are valid during create_link only are read here. */
static void check_urls(struct creation *c)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(&c->link, urls);
	struct error err;

	if (open_idempotency(c) < 0) {
		error_set_nomem(&err);
		creation_fail(c, &err);
	} else if (url_checker_check(c->context->urls, c->account, urls, count,
				     on_checked, c, &err) < 0) {
		creation_fail(c, &err);
	}
}

static struct creation *creation_new(const struct creation_context *context,
				     const struct creation_order *order,
				     const struct strategy *strategy)
{
	struct creation *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->context = context;
	c->order = *order;
	c->strategy = strategy;
	c->started = clock_monotonic_ns();
	memcpy(c->account, order->caller->account, sizeof(c->account));
	memcpy(c->creator, order->caller->name, sizeof(c->creator));
	c->charge = (struct charge){.account = c->account,
				    .rules = order->caller->rules};
	link_request_fill(order->request, &c->link);
	c->link.created_ms = (uint64_t)clock_real_ms();
	c->link.account = c->account;
	c->link.creator = c->creator;
	c->link.source = order->line ? SHORTLOOP__LINK_SOURCE__SOURCE_BATCH
				     : SHORTLOOP__LINK_SOURCE__SOURCE_SINGLE;
	return c;
}

void creation_begin(const struct creation_context *context,
		    const struct creation_order *order,
		    const struct strategy *strategy, creation_done_fn *done,
		    void *arg)
{
	static const struct creation_result no_memory = {
		.status = 500, .detail = "out of memory"};
	struct creation *c = creation_new(context, order, strategy);
	char text[SPACE_STATE_TEXT_MAX];
	enum space_state state;

	if (!c) {
		done(arg, &no_memory);
		return;
	}
	c->done = done;
	c->arg = arg;
	if (!is_allowed(c, order->caller))
		return;
	state = space_monitor_state(context->spaces, space_of(c));
	if (state == SPACE_READY)
		check_urls(c);
	else
		creation_refuse(c, 503, context->metrics->unavailable,
				space_state_describe(state, space_of(c), text));
}
