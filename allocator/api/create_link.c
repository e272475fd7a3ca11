/*
 * POST /v1/links: read and check, take a code, store the link, tell Kafka,
 * answer 201.
 *
 * A block that turns out not to be ours, or a code that is taken, costs a try
 * with another code; an answer of Redis that was lost costs a try with the very
 * same link, which then counts once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "allocator/api/handlers.h"
#include "common/clock.h"
#include "common/unconst.h"

enum {
	TRIES_MAX = 5
};

struct creation {
	struct api_parts *api;
	struct http_request *req;
	struct link_request request;
	struct supply_waiter waiter;
	struct link_block block;
	struct link_target target;
	Shortloop__Link link;
	int64_t started; /* clock_monotonic_ns */
	unsigned tries;
};

static void on_code(void *arg, const struct link_block *block, uint32_t offset,
		    const struct error *err);
static void on_created(void *arg, int64_t expires, const struct error *err);

static void creation_free(struct creation *c)
{
	link_request_release(&c->request);
	free(c);
}

/* --- the end -------------------------------------------------------------- */

static void fail(struct creation *c, const struct error *err)
{
	const struct api_metrics *m = c->api->metrics;
	char text[SPACE_STATE_TEXT_MAX];

	if (err->code == ERROR_BUSY) {
		metric_add(m->full, 1);
		http_reply_problem(c->req, 507, NULL,
				   "space %s is full: all its codes are live "
				   "or in quarantine; name another space, or "
				   "come back when links have expired",
				   c->request.space->name);
	} else if (err->code == ERROR_NOTFOUND) {
		metric_add(m->unavailable, 1);
		reply_unavailable(c->req,
				  space_state_describe(SPACE_MISSING,
						       c->request.space, text));
	} else {
		metric_add(m->unavailable, 1);
		reply_unavailable(c->req, err->text);
	}
	creation_free(c);
}

static void succeed(struct creation *c, int64_t expires)
{
	struct api_parts *api = c->api;
	const struct link_view view = {
		.base_url = api->base_url,
		.space = c->request.space->name,
		.code = c->target.code,
		.link = &c->link,
		.expires = expires,
	};
	char location[64];

	link_events_created(api->events, view.space, view.code, &c->link,
			    expires);
	api->created[c->request.space->index]++;
	metric_add(api->metrics->created, 1);
	metric_observe(api->metrics->create_seconds,
		       (double)(clock_monotonic_ns() - c->started) / 1e9);
	snprintf(location, sizeof(location), "/v1/links/%s", view.code);
	reply_link(api, c->req, 201, location, &view);
	creation_free(c);
}

/* --- trying ----------------------------------------------------------------
 */

static void store(struct creation *c)
{
	struct error err = {0};

	if (link_writer_create(c->api->writer, &c->block, c->target.code,
			       &c->link, on_created, c, &err) < 0)
		fail(c, &err);
}

static void take_code(struct creation *c)
{
	c->waiter = (struct supply_waiter){.fn = on_code, .arg = c};
	supply_request(c->api->supply, c->request.space, c->request.ttl,
		       &c->waiter);
}

static void on_code(void *arg, const struct link_block *block, uint32_t offset,
		    const struct error *err)
{
	struct creation *c = arg;
	struct error why = {0};

	if (err) {
		fail(c, err);
		return;
	}
	c->block = *block;
	linkstore_code(block->space, block->number, offset, &c->target);
	if (link_prepare(&c->block, offset, &c->link, &why) < 0)
		fail(c, &why);
	else
		store(c);
}

static void note_conflict(struct creation *c, const struct error *err)
{
	metric_add(c->api->metrics->conflicts, 1);
	log_error(c->api->log, "a fresh code has a live link already",
		  log_str("code", c->target.code), log_err(err));
}

static void on_created(void *arg, int64_t expires, const struct error *err)
{
	struct creation *c = arg;
	bool same_again = err && err->code == ERROR_REMOTE && err->retriable &&
			  redis_async_is_up(c->api->redis);
	struct error why = {0};

	if (!err) {
		succeed(c, expires);
		return;
	}
	if (err->code == ERROR_BUSY)
		supply_refused(c->api->supply, &c->block);
	else if (err->code == ERROR_UNSAFE)
		note_conflict(c, err);
	else if (!same_again) {
		fail(c, err);
		return;
	}
	if (++c->tries >= TRIES_MAX) {
		error_set_retriable(
			&why, ERROR_REMOTE,
			"no code could be stored in %d tries: %.300s",
			TRIES_MAX, err->text);
		fail(c, &why);
		return;
	}
	metric_add(c->api->metrics->retries, 1);
	if (same_again)
		store(c);
	else
		take_code(c);
}

/* --- the beginning ------------------------------------------------------- */

static bool is_json(const struct http_request *req)
{
	static const char json[] = "application/json";
	struct http_slice type = http_header_get(req, "Content-Type");
	size_t len = sizeof(json) - 1;

	return type.len >= len && !strncasecmp(type.data, json, len) &&
	       (type.len == len || strchr("; \t", type.data[len]));
}

static void fill_link(struct creation *c)
{
	const struct link_request *request = &c->request;

	shortloop__link__init(&c->link);
	c->link.created_ms = (uint64_t)clock_real_ms();
	c->link.url = unconst(request->url);
	c->link.owner = unconst(request->owner);
	c->link.campaign = unconst(request->campaign);
	c->link.tags = c->request.tags;
	c->link.n_tags = request->tag_count;
}

/* Answers and returns false when the request cannot be carried out. */
static bool read_request(struct creation *c)
{
	const struct api_metrics *m = c->api->metrics;
	enum space_state state;
	char text[SPACE_STATE_TEXT_MAX];
	struct error err = {0};

	if (!is_json(c->req)) {
		metric_add(m->invalid, 1);
		http_reply_problem(c->req, 415, NULL,
				   "send the link as Content-Type: "
				   "application/json");
		return false;
	}
	if (link_request_parse(&c->request, &c->api->defaults,
			       http_body(c->req), &err) < 0) {
		metric_add(m->invalid, 1);
		http_reply_problem(c->req, 400, NULL, "%s", err.text);
		return false;
	}
	state = space_watch_state(c->api->spaces, c->request.space);
	if (state != SPACE_READY) {
		metric_add(m->unavailable, 1);
		reply_unavailable(
			c->req,
			space_state_describe(state, c->request.space, text));
		return false;
	}
	return true;
}

void create_link(struct api_parts *api, struct http_request *req)
{
	struct creation *c = calloc(1, sizeof(*c));

	if (!c) {
		http_reply_problem(req, 500, NULL, "out of memory");
		return;
	}
	c->api = api;
	c->req = req;
	c->started = clock_monotonic_ns();
	if (!read_request(c)) {
		creation_free(c);
		return;
	}
	fill_link(c);
	take_code(c);
}
