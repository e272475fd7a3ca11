#include "allocator/create/create.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/create/again.h"
#include "allocator/create/charge.h"
#include "allocator/create/creation.h"
#include "allocator/link/link_view.h"
#include "common/clock.h"
#include "common/unconst.h"

enum {
	TRIES_MAX = 5
};

void create_metrics_register(struct create_metrics *cm, struct metrics *m)
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

/* --- the end -------------------------------------------------------------- */

static void end(struct creation *c, const struct create_result *result)
{
	create_done_fn *done = c->done;
	void *arg = c->arg;

	charge_end(c);
	if (c->again)
		again_end(c, result->link, !c->unsure);
	done(arg, result);
	free(c);
}

void creation_refuse(struct creation *c, int status, struct metric *outcome,
		     const char *detail)
{
	const struct create_result result = {
		.status = status,
		.detail = detail,
		/* What fails for another reason would fail again. */
		.retry_after =
			c->retry_after
				? c->retry_after
				: outcome == c->parts->metrics->unavailable,
	};

	metric_add(outcome, 1);
	end(c, &result);
}

void create_log_failure(const struct create_parts *parts,
			const struct error *err)
{
	int64_t left_out;

	if (err->outside && log_pace_allows(parts->failures, &left_out))
		log_warn(parts->log, "a request failed", log_err(err),
			 log_int("others_since_the_last_line", left_out));
}

void creation_fail(struct creation *c, const struct error *err)
{
	const struct create_metrics *m = c->parts->metrics;
	char text[SPACE_STATE_TEXT_MAX + 64];

	if (err->code == ERROR_BUSY) {
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
		create_log_failure(c->parts, err);
		creation_refuse(c, 503, m->unavailable, error_outside(err));
	}
}

static void tell(const struct creation *c, const Shortloop__Link *link,
		 int64_t expires)
{
	const struct create_parts *parts = c->parts;
	const struct audit_entry entry = {c->order.source,
					  c->target.space->name, c->target.code,
					  NULL, link};

	link_events_send(parts->events, SHORTLOOP__LINK_CHANGE__LINK_CREATED,
			 entry.space, entry.code, link, expires);
	audit_link(parts->audit, AUDIT_CREATED, &entry);
}

static void succeed(struct creation *c, int64_t expires)
{
	const struct create_parts *parts = c->parts;
	const struct create_result result = {
		.status = 201,
		.space = space_of(c),
		.code = c->target.code,
		.link = &c->link,
		.expires = expires,
	};

	c->stored = true;
	tell(c, &c->link, expires);
	parts->created[result.space->index]++;
	metric_add(parts->metrics->created, 1);
	metric_observe(parts->metrics->seconds,
		       (double)(clock_monotonic_ns() - c->started) / 1e9);
	end(c, &result);
}

static void end_with(struct creation *c, const Shortloop__Link *link,
		     int64_t left, int status, bool replayed)
{
	const struct create_result result = {
		.status = status,
		.replayed = replayed,
		.space = c->target.space,
		.code = c->target.code,
		.link = link,
		.expires = link_view_expires(left),
	};

	end(c, &result);
}

void creation_found(struct creation *c, const Shortloop__Link *link,
		    int64_t left)
{
	metric_add(c->parts->metrics->found, 1);
	end_with(c, link, left, 200, false);
}

void creation_replay(struct creation *c, const Shortloop__Link *link,
		     int64_t left, bool told)
{
	if (!told)
		tell(c, link, link_view_expires(left));
	metric_add(c->parts->metrics->replayed, 1);
	end_with(c, link, left, 201, true);
}

/* --- trying --------------------------------------------------------------- */

void creation_named(struct creation *c)
{
	charge(c);
}

void creation_charged(struct creation *c)
{
	if (c->again)
		again_plan(c);
	else
		c->strategy->store(c);
}

/* False: the creation has ended. */
static bool may_try_again(struct creation *c, const struct error *err)
{
	struct error why;

	if (++c->tries < TRIES_MAX) {
		metric_add(c->parts->metrics->retries, 1);
		return true;
	}
	error_set_retriable(&why, ERROR_REMOTE,
			    "no code could be stored in %d tries: %.300s",
			    TRIES_MAX, err->text);
	error_keep_inside(&why, err->outside);
	creation_fail(c, &why);
	return false;
}

void creation_conflict(struct creation *c, const struct error *err)
{
	metric_add(c->parts->metrics->conflicts, 1);
	log_error(c->parts->log, "a fresh code has a live link already",
		  log_str("code", c->target.code), log_err(err));
}

void creation_again(struct creation *c, const struct error *err)
{
	if (may_try_again(c, err))
		c->strategy->take(c);
}

void creation_stored(struct creation *c, int64_t expires,
		     const struct error *err)
{
	bool lost = err && err->code == ERROR_REMOTE && err->retriable;
	/* Redis is away; or another link might be the second one of this key.
	 */
	bool hopeless = lost ? !redis_async_is_up(c->parts->redis)
			     : c->unsure && c->again;

	c->unsure = c->unsure || lost;
	if (!err)
		succeed(c, expires);
	else if (hopeless)
		creation_fail(c, err);
	else if (lost && may_try_again(c, err))
		/* The very same link counts once. */
		c->strategy->store(c);
	else if (!lost && c->strategy->refused(c, err))
		creation_again(c, err);
}

/* --- the beginning -------------------------------------------------------- */

static const struct create_strategy *strategy_of(const struct link_space *space)
{
	switch (space->strategy) {
	case LINK_HASH:
		return &create_hash;
	case LINK_SNOWFLAKE:
		return &create_snowflake;
	case LINK_ALIAS:
		return &create_alias;
	case LINK_SEQUENCE:
		break;
	}
	return &create_sequence;
}

bool create_key_is_good(struct http_slice key)
{
	for (size_t i = 0; i < key.len; i++) {
		if (key.data[i] <= ' ' || key.data[i] > '~')
			return false;
	}
	return key.len >= 1 && key.len <= CREATE_KEY_MAX;
}

void create_link(const struct create_parts *parts,
		 const struct create_order *order, create_done_fn *done,
		 void *arg)
{
	static const struct create_result no_memory = {
		.status = 500, .detail = "out of memory"};
	struct creation *c = calloc(1, sizeof(*c));
	char text[SPACE_STATE_TEXT_MAX];
	enum space_state state;

	if (!c) {
		done(arg, &no_memory);
		return;
	}
	c->parts = parts;
	c->order = *order;
	c->done = done;
	c->arg = arg;
	c->started = clock_monotonic_ns();
	c->strategy = strategy_of(space_of(c));
	link_request_fill(order->request, &c->link);
	c->link.created_ms = (uint64_t)clock_real_ms();
	memcpy(c->account, order->caller->account, sizeof(c->account));
	memcpy(c->creator, order->caller->name, sizeof(c->creator));
	c->link.account = c->account;
	c->link.creator = c->creator;
	c->rules = order->caller->rules;
	if (!charge_may_begin(c, order->caller))
		return;
	state = space_watch_state(parts->spaces, space_of(c));
	if (state == SPACE_READY && order->key.len)
		again_begin(c);
	else if (state == SPACE_READY)
		c->strategy->take(c);
	else
		creation_refuse(c, 503, parts->metrics->unavailable,
				space_state_describe(state, space_of(c), text));
}
