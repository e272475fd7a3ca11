#include "redirector/visit/responder.h"

#include <stdlib.h>

#include "codespace/path_code.h"
#include "linkstore/visit/visit_device.h"
#include "linkstore/visit/visit_rule.h"
#include "redirector/events/click_event.h"
#include "redirector/events/event_limits.h"
#include "redirector/events/event_sink.h"
#include "redirector/lookup/link_lines.h"
#include "redirector/pages/app_file.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/pages/pass_through.h"
#include "redirector/visit/answers.h"
#include "redirector/visit/recorded.h"
#include "redirector/visit/request_info.h"
#include "redirector/visit/virtual_host.h"

struct responder {
	struct loop *loop;
	unsigned thread;
	struct event_sink *sink;
	struct event_limits *event_limits;
	const struct redirector_settings *settings;
	const struct virtual_hosts *virtual_hosts;
	struct redirector_counters *counters;
	struct hour_writer *hours;
	struct click_encoder *encoder;
	struct request_info_rules rules;
	struct recorded recorded; /* for the click being encoded */
	struct answers *answers;
	struct buf part; /* link part of an event without a cache entry */
};

/* --- events --------------------------------------------------------------- */

/* The event is not sent, so it counts as refused. */
static void refuse_event(struct responder *r, const struct click *click,
			 enum redirector_counter reason)
{
	redirector_count(r->counters, reason);
	hour_writer_count(r->hours, click->time_ms, HOUR_REFUSED);
}

static enum redirector_counter withheld_counter_of(Shortloop__Outcome outcome)
{
	switch (outcome) {
	case SHORTLOOP__OUTCOME__OUTCOME_EXPIRED:
		return COUNTER_WITHHELD_EXPIRED;
	case SHORTLOOP__OUTCOME__OUTCOME_BLOCKED:
		return COUNTER_WITHHELD_BLOCKED;
	default:
		return COUNTER_WITHHELD_NOT_FOUND;
	}
}

/* The event is withheld by rule, so it does not count as lost. */
static void withhold_event(struct responder *r, const struct click *click)
{
	redirector_count(r->counters, withheld_counter_of(click->outcome));
	hour_writer_count(r->hours, click->time_ms, HOUR_WITHHELD);
}

static void send_event(struct responder *r, const struct click *click)
{
	struct http_slice event = click_encode(r->encoder, click);
	enum event_taken taken = EVENT_REFUSED;

	if (event.data)
		taken = event_sink_take(r->sink,
					&(struct taken_event){
						.thread = r->thread,
						.time_ms = click->time_ms,
						.data = event.data,
						.len = event.len,
					});
	if (taken != EVENT_TAKEN) {
		refuse_event(r, click,
			     taken == EVENT_NO_ROOM ? COUNTER_DROPPED_FULL
						    : COUNTER_DROPPED_REFUSED);
		return;
	}
	redirector_count(r->counters, COUNTER_EVENTS);
	hour_writer_count(r->hours, click->time_ms, HOUR_PRODUCED);
}

static enum hour_counter hour_counter_of(Shortloop__Outcome outcome)
{
	switch (outcome) {
	case SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED:
		return HOUR_REDIRECTED;
	case SHORTLOOP__OUTCOME__OUTCOME_EXPIRED:
		return HOUR_EXPIRED;
	case SHORTLOOP__OUTCOME__OUTCOME_BLOCKED:
		return HOUR_BLOCKED;
	case SHORTLOOP__OUTCOME__OUTCOME_HEAD:
		return HOUR_HEAD;
	default:
		return HOUR_NOT_FOUND;
	}
}

/* Counts an answer without an event. */
static void count_silent(struct responder *r, enum redirector_counter which)
{
	redirector_count(r->counters, which);
	hour_writer_count(r->hours, loop_real_ms(r->loop), HOUR_SILENT);
}

struct address responder_client(const struct responder *r,
				const struct http_request *req)
{
	return request_info_client(req, &r->rules);
}

void responder_read_click(const struct responder *r,
			  const struct http_request *req,
			  struct click *ret_click)
{
	request_info_read(req, &r->rules, ret_click);
}

struct classification {
	Shortloop__Outcome outcome;
	int status;
	enum redirector_counter counter;
};

static enum redirector_counter counter_of_redirect(int status)
{
	switch (status) {
	case 301:
		return COUNTER_301;
	case 307:
		return COUNTER_307;
	case 308:
		return COUNTER_308;
	default:
		return COUNTER_302;
	}
}

/* A page counts as the redirect that it replaces. */
static struct classification classify_live(const struct cached_link *link,
					   bool head, Shortloop__Device target)
{
	bool page = link->landings[target] != LANDING_NONE;
	int status = page ? 200 : link->status;

	if (head)
		return (struct classification){
			SHORTLOOP__OUTCOME__OUTCOME_HEAD, status,
			page ? COUNTER_HEAD_LANDING : COUNTER_HEAD};
	return (struct classification){
		SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED, status,
		page ? COUNTER_LANDING : counter_of_redirect(status)};
}

static enum link_outcome shown_outcome(const struct virtual_host *vhost,
				       const struct cached_link *link)
{
	return visit_rule_shown(link->outcome, link->denied, vhost->is_paused);
}

static struct classification classify_link(const struct cached_link *link,
					   enum link_outcome outcome, bool head,
					   Shortloop__Device target)
{
	switch (outcome) {
	case LINK_OUTCOME_GONE:
		return (struct classification){
			SHORTLOOP__OUTCOME__OUTCOME_EXPIRED, 410, COUNTER_GONE};
	case LINK_OUTCOME_PAUSED:
		return (struct classification){
			SHORTLOOP__OUTCOME__OUTCOME_EXPIRED, 410,
			COUNTER_PAUSED};
	case LINK_OUTCOME_BLOCKED:
		return (struct classification){
			SHORTLOOP__OUTCOME__OUTCOME_BLOCKED, 451,
			COUNTER_BLOCKED};
	case LINK_OUTCOME_REDIRECT:
		return classify_live(link, head, target);
	case LINK_OUTCOME_UNKNOWN:
		break;
	}
	return (struct classification){SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND,
				       404, COUNTER_NOT_FOUND};
}

/* True if the fallback takes the place of the page for this outcome. */
static bool leads_to_fallback(const struct responder *r,
			      const struct virtual_host *vhost,
			      enum link_outcome outcome)
{
	if (!vhost->fallback_url)
		return false;
	return (outcome == LINK_OUTCOME_UNKNOWN &&
		r->settings->fallback_unknown) ||
	       (outcome == LINK_OUTCOME_PAUSED && r->settings->fallback_paused);
}

static void report_visit(struct responder *r, const struct http_request *req,
			 struct click *click, const struct cached_link *link,
			 const struct classification *c)
{
	click->time_ms = loop_real_ms(r->loop);
	click->outcome = c->outcome;
	click->status = c->status;
	click->link_part = link->event;
	/* The event comes before its counts, and both before the answer, so
	 * that after a kill they cover all that was answered
	 * (docs/redirector.md, A kill). */
	if (event_limits_take(r->event_limits, c->outcome,
			      loop_now_ms(r->loop))) {
		recorded_read(r->settings, req, &r->recorded, click);
		send_event(r, click);
	} else {
		withhold_event(r, click);
	}
	hour_writer_count(r->hours, click->time_ms,
			  hour_counter_of(c->outcome));
	redirector_count(r->counters, c->counter);
}

/* The device is not needed for a link without targets. */
static struct device device_for(const struct cached_link *link,
				const struct click *click)
{
	if (link->lines.len == link->line_ends[0])
		return (struct device){SHORTLOOP__DEVICE__DEVICE_ANY,
				       IN_APP_NONE};
	return device_of(click->user_agent);
}

/* The event is sent first: the request's strings are gone once it is
 * answered. */
static void send_link(struct responder *r, struct http_request *req,
		      const struct virtual_host *vhost,
		      const struct cached_link *link, struct click *click,
		      int64_t now)
{
	enum link_outcome outcome = shown_outcome(vhost, link);
	bool fallback = leads_to_fallback(r, vhost, outcome);
	struct device device = device_for(link, click);
	Shortloop__Device target = link_lines_target(link, device);
	struct classification class = classify_link(
		link, outcome, http_method_is(req, "HEAD"), target);

	if (fallback) {
		class.status = 302;
		class.counter = COUNTER_FALLBACK;
	}
	if (outcome == LINK_OUTCOME_REDIRECT)
		click->url_digest = link_lines_url_digest(link, target);
	report_visit(r, req, click, link, &class);
	if (fallback) {
		answer_fallback(r->answers, req, vhost);
		return;
	}
	switch (outcome) {
	case LINK_OUTCOME_REDIRECT:
		if (link->landings[target])
			answer_landing(r->answers, req, vhost, link, target,
				       device.in_app);
		else
			answer_redirect(r->answers, req, vhost, link, target,
					now);
		break;
	case LINK_OUTCOME_PAUSED:
		answer_paused(r->answers, req);
		break;
	case LINK_OUTCOME_GONE:
	case LINK_OUTCOME_BLOCKED:
	case LINK_OUTCOME_UNKNOWN:
		answer_page(r->answers, req, class.status);
		break;
	}
}

/* Answers for a code that has no link, or none for this visitor. */
static void send_unknown_code(struct responder *r, struct http_request *req,
			      const struct virtual_host *vhost,
			      struct http_slice code, struct click *click)
{
	struct cached_link nothing = {.outcome = LINK_OUTCOME_UNKNOWN};

	buf_reset(&r->part);
	click_link_part(&r->part, &(struct click_link){.code = code});
	nothing.event = (struct http_slice){r->part.data, r->part.len};
	send_link(r, req, vhost, &nothing, click, 0);
}

/* True if the link passes on the path behind the code. */
static bool goes_on(const struct cached_link *link, struct http_slice rest)
{
	return link->outcome == LINK_OUTCOME_REDIRECT && link->pass.path &&
	       pass_through_may_follow(rest);
}

/* True if the whole rest behind the code is ignored.  A link that passes its
 * path on gets it unchanged. */
static bool rest_is_ignored(const struct responder *r,
			    const struct cached_link *link,
			    struct http_slice rest)
{
	return r->settings->trim_paths && !link->pass.path &&
	       path_code_trims(rest);
}

/* True if some text behind the code was ignored. */
static bool is_trimmed(const struct responder *r,
		       const struct cached_link *link, struct http_slice path)
{
	struct path_text_code text;
	struct http_slice rest = path_code_rest(path);

	if (path_code_in_text(path, r->settings->trim_paths, &text) &&
	    text.trimmed)
		return true;
	return rest.len > 0 && rest_is_ignored(r, link, rest);
}

bool responder_send_link(struct responder *r, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 int64_t now)
{
	const struct virtual_host *vhost;
	struct http_slice path = http_path(req), rest = request_info_rest(path);
	struct click click;

	if (rest.len > 0 && !goes_on(link, rest) &&
	    !rest_is_ignored(r, link, rest)) {
		responder_send_no_code(r, req);
		return true;
	}
	request_info_read(req, &r->rules, &click);
	click.trimmed = path.len > 1 + code.len && is_trimmed(r, link, path);
	vhost = virtual_hosts_find(r->virtual_hosts, click.host);
	if (!virtual_host_shows(vhost, click.host, link))
		send_unknown_code(r, req, vhost, code, &click);
	else if (link->max_visits &&
		 shown_outcome(vhost, link) == LINK_OUTCOME_REDIRECT)
		return false;
	else
		send_link(r, req, vhost, link, &click, now);
	return true;
}

void responder_send_counted(struct responder *r, struct http_request *req,
			    const struct cached_link *link, int64_t now)
{
	struct click click;

	request_info_read(req, &r->rules, &click);
	click.trimmed = is_trimmed(r, link, http_path(req));
	send_link(r, req, virtual_hosts_find(r->virtual_hosts, click.host),
		  link, &click, now);
}

void responder_send_unknown(struct responder *r, struct http_request *req,
			    struct http_slice code)
{
	static const struct cached_link nothing = {.pass = {.path = false}};
	struct http_slice path = http_path(req), rest = request_info_rest(path);
	struct click click;

	if (rest.len > 0 && !rest_is_ignored(r, &nothing, rest)) {
		responder_send_no_code(r, req);
		return;
	}
	request_info_read(req, &r->rules, &click);
	click.trimmed =
		path.len > 1 + code.len && is_trimmed(r, &nothing, path);
	send_unknown_code(r, req,
			  virtual_hosts_find(r->virtual_hosts, click.host),
			  code, &click);
}

void responder_send_refused_host(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_REFUSED_HOST);
	answer_page(r->answers, req, 404);
}

static void send_app_file(struct responder *r, struct http_request *req,
			  const struct app_file *file)
{
	bool same =
		app_file_matches(file, http_header_get(req, "If-None-Match"));

	count_silent(r, same ? COUNTER_APP_FILE_SAME : COUNTER_APP_FILE);
	answer_app_file(r->answers, req, file, same);
}

bool responder_send_app_file(struct responder *r, struct http_request *req)
{
	enum app_file_kind kind = app_file_kind_of(http_path(req));
	const struct app_file *file;

	if (kind == APP_FILE_KINDS)
		return false;
	file = virtual_hosts_find(r->virtual_hosts, http_host(req))
		       ->app_files[kind];
	if (file)
		send_app_file(r, req, file);
	return file;
}

static void send_robots_txt(struct responder *r, struct http_request *req)
{
	const struct app_file *file =
		virtual_hosts_find(r->virtual_hosts, http_host(req))
			->app_files[APP_FILE_ROBOTS];

	if (file) {
		send_app_file(r, req, file);
		return;
	}
	count_silent(r, COUNTER_ROBOTS_TXT);
	answer_robots_txt(r->answers, req);
}

bool responder_send_own_path(struct responder *r, struct http_request *req)
{
	struct http_slice path = http_path(req);

	if (http_slice_is(path, "/robots.txt")) {
		send_robots_txt(r, req);
		return true;
	}
	if (!http_slice_is(path, "/favicon.ico"))
		return false;
	count_silent(r, COUNTER_FAVICON);
	answer_no_icon(r->answers, req);
	return true;
}

void responder_send_no_code(struct responder *r, struct http_request *req)
{
	struct http_slice path = http_path(req);
	const struct virtual_host *vhost =
		virtual_hosts_find(r->virtual_hosts, http_host(req));

	if (path.len == 1 && path.data[0] == '/' && vhost->fallback_url) {
		count_silent(r, COUNTER_FALLBACK);
		answer_fallback(r->answers, req, vhost);
		return;
	}
	count_silent(r, COUNTER_NOT_FOUND);
	answer_page(r->answers, req, 404);
}

void responder_send_no_method(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_NO_METHOD);
	answer_no_method(r->answers, req);
}

void responder_send_denied(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_DENIED);
	answer_page(r->answers, req, 403);
}

void responder_send_limited(struct responder *r, struct http_request *req,
			    enum redirector_counter why, int64_t wait_ms)
{
	count_silent(r, why);
	answer_limited(r->answers, req, wait_ms);
}

void responder_send_over_fetches(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_OVER_FETCHES);
	answer_over_fetches(r->answers, req);
}

void responder_send_unavailable(struct responder *r, struct http_request *req,
				enum redirector_counter why)
{
	count_silent(r, why);
	answer_unavailable(r->answers, req);
}

void responder_end_turn(struct responder *r)
{
	answers_end_turn(r->answers);
}

/* --- making --------------------------------------------------------------- */

struct responder *responder_new(const struct redirector *redirector,
				unsigned thread, struct loop *loop,
				struct redirector_counters *counters,
				struct error *err)
{
	const struct redirector_settings *s = &redirector->config->redirector;
	const struct click_limits limits = {
		(size_t)s->max_user_agent, (size_t)s->max_referrer,
		(size_t)s->max_accept_language, (size_t)s->max_query,
		(size_t)s->max_cookie};
	struct responder *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set_nomem(err);
		return NULL;
	}
	r->loop = loop;
	r->sink = redirector->sink;
	r->event_limits = redirector->event_limits;
	r->settings = s;
	r->counters = counters;
	r->thread = thread;
	r->hours = &redirector->hours[thread];
	r->rules.proxies = redirector->proxies;
	r->rules.style = request_info_style(s->client_header);
	r->encoder = click_encoder_new(redirector->edge, &limits, err);
	if (r->encoder)
		r->answers = answers_new(redirector, loop, &r->rules, err);
	if (!r->answers) {
		responder_free(r);
		return NULL;
	}
	return r;
}

void responder_use_hosts(struct responder *r, const struct virtual_hosts *hosts)
{
	r->virtual_hosts = hosts;
}

void responder_free(struct responder *r)
{
	if (!r)
		return;
	answers_free(r->answers);
	click_encoder_free(r->encoder);
	buf_free(&r->part);
	free(r);
}
