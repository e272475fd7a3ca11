#include "redirector/responder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/url_scheme.h"
#include "redirector/access_log.h"
#include "redirector/app_file.h"
#include "redirector/click_event.h"
#include "redirector/device.h"
#include "redirector/event_limits.h"
#include "redirector/event_sink.h"
#include "redirector/landing_pages.h"
#include "redirector/pass_through.h"
#include "redirector/recorded.h"
#include "redirector/request_info.h"
#include "redirector/virtual_host.h"

/* --- responses -------------------------------------------------------------
 */

#define PAGE(title, text)                                                      \
	"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"        \
	"<meta name=\"viewport\" content=\"width=device-width\">\n"            \
	"<title>" title "</title>\n"                                           \
	"<h1>" title "</h1>\n<p>" text "</p>\n"

/* What the buffer for pages keeps: few are longer. */
#define PAGE_KEPT (32 << 10)

static const char location[] = "Location: ";
static const char seen_every_time[] = "Cache-Control: private, max-age=0\r\n";
static const char never_kept[] = "Cache-Control: no-store\r\n";

static const char page_not_found[] =
	PAGE("Not found", "There is no link at this address.");
static const char page_gone[] =
	PAGE("Gone", "The link at this address has expired or was removed.");
static const char page_blocked[] =
	PAGE("Not available", "The link at this address is blocked.");
static const char page_no_method[] =
	PAGE("Method not allowed", "A short link can only be visited.");
static const char page_denied[] =
	PAGE("Forbidden", "Links here are not for your network.");
static const char page_limited[] =
	PAGE("Too many requests", "Your network has asked too often.");
static const char page_unavailable[] = PAGE(
	"Please try again", "This link cannot be looked up at the moment.");

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
	struct recorded recorded; /* of the click that is encoded */
	struct access_writer access;
	struct versions_user pages;
	struct buf part;  /* of an event whose code has no entry */
	struct buf lines; /* of a redirect that is put together */
	struct buf page;  /* that opens something */
	char retry_after[32];
};

/* Each answer comes by here, on its way out. */
static void log_answer(struct responder *r, const struct http_request *req,
		       int status, size_t body_bytes)
{
	access_writer_note(&r->access, req, &r->rules,
			   &(struct access_answer){loop_real_ms(r->loop),
						   status, body_bytes});
}

static void send_page(struct responder *r, struct http_request *req, int status,
		      const char *page, const char *name, const char *value)
{
	const struct http_field fields[] = {
		{"Content-Type", "text/html; charset=utf-8"},
		{"Cache-Control", "no-store"},
		{name, value},
		{NULL, NULL},
	};

	log_answer(r, req, status, strlen(page));
	http_reply(req, status, fields, page, strlen(page));
}

static bool is_permanent(int status)
{
	return status == 301 || status == 308;
}

static int check_url(const char *url, struct error *err)
{
	if (!*url)
		return error_set(err, ERROR_PROTOCOL, "the URL is empty");
	for (const char *p = url; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return error_set(err, ERROR_PROTOCOL,
					 "the URL has a control character");
	}
	return 0;
}

int responder_redirect_lines(struct buf *out, const struct redirect_form *form,
			     const char *url, struct error *err)
{
	if (check_url(url, err) < 0)
		return -1;
	buf_printf(out, "%s%s\r\n", location, url);
	if (form->varies)
		buf_puts(out, "Vary: User-Agent\r\n");
	if (form->counted)
		buf_puts(out, never_kept);
	else if (!is_permanent(form->status))
		buf_puts(out, seen_every_time);
	return out->failed ? error_set_nomem(err) : 0;
}

/* A page of ours would vouch for what it opens. */
static int check_open(const char *url, struct error *err)
{
	char scheme[URL_SCHEME_MAX];

	if (check_url(url, err) < 0)
		return -1;
	if (!url_scheme(url, strlen(url), scheme) ||
	    url_scheme_is_dangerous(scheme) || !strcmp(scheme, "intent"))
		return error_set(err, ERROR_PROTOCOL,
				 "no page may open '%.80s'", url);
	return 0;
}

int responder_landing_urls(struct buf *out, const char *open,
			   const char *fallback, struct error *err)
{
	if (check_open(open, err) < 0 || check_url(fallback, err) < 0)
		return -1;
	if (strncmp(fallback, "https://", 8) != 0)
		return error_set(err, ERROR_PROTOCOL,
				 "the fallback of a page is '%.80s', not an "
				 "https URL",
				 fallback);
	buf_append(out, open, strlen(open) + 1);
	buf_append(out, fallback, strlen(fallback) + 1);
	return out->failed ? error_set_nomem(err) : 0;
}

static bool has_target(const struct cached_link *link, Shortloop__Device device)
{
	return device && link->line_ends[device] > link->line_ends[device - 1];
}

/* Whose target it is that a visitor gets.  In WeChat, who has none for it gets
 * the page of the system all the same, if it is a page: it says how to get out
 * of there. */
static Shortloop__Device target_for(const struct cached_link *link,
				    struct device device)
{
	bool wechat = device.in_app == IN_APP_WECHAT ||
		      device.in_app == IN_APP_MINI_PROGRAM;

	if (wechat && has_target(link, SHORTLOOP__DEVICE__DEVICE_WECHAT))
		return SHORTLOOP__DEVICE__DEVICE_WECHAT;
	if (has_target(link, device.system) &&
	    (!wechat || link->landings[device.system]))
		return device.system;
	return SHORTLOOP__DEVICE__DEVICE_ANY;
}

static struct http_slice lines_for(const struct cached_link *link,
				   Shortloop__Device target)
{
	uint32_t from = target ? link->line_ends[target - 1] : 0;

	return (struct http_slice){link->lines.data + from,
				   link->line_ends[target] - from};
}

/* The lines with the URL that this visit is sent to. */
static void pass_on(struct buf *out, const struct cached_link *link,
		    struct http_slice lines, struct http_slice rest,
		    struct http_slice query)
{
	struct http_slice url = {lines.data + sizeof(location) - 1, 0};
	const char *end = memchr(lines.data, '\r', lines.len);

	url.len = (size_t)(end - url.data);
	buf_puts(out, location);
	pass_through_url(out, url, &link->pass, rest, query);
	buf_append(out, end, lines.len - (size_t)(end - lines.data));
}

/* What of the path follows the code: with a slash, or nothing. */
static struct http_slice rest_of(const struct http_request *req)
{
	struct http_slice path = http_path(req);
	const char *at = memchr(path.data + 1, '/', path.len - 1);

	if (!at)
		return (struct http_slice){path.data + path.len, 0};
	return (struct http_slice){at, path.len - (size_t)(at - path.data)};
}

static bool passes_any(const struct cached_link *link, struct http_slice rest,
		       struct http_slice query)
{
	return rest.len > 0 || (link->pass.query && query.len > 0);
}

/*
 * A browser may keep a permanent redirect for at most permanent_max_age, and
 * never beyond the link's end; the others are asked for every time, since a
 * visit that is not seen is not counted.  `now` is monotonic ms.
 */
static void put_age(struct responder *r, const struct cached_link *link,
		    int64_t now)
{
	int64_t max_age = r->settings->permanent_max_age;

	if (link->expires - now < max_age)
		max_age = link->expires - now;
	buf_printf(&r->lines, "Cache-Control: private, max-age=%" PRId64 "\r\n",
		   max_age > 0 ? max_age / CLOCK_SECOND : 0);
}

static void send_redirect(struct responder *r, struct http_request *req,
			  const struct cached_link *link,
			  struct http_slice lines, int64_t now)
{
	struct http_slice rest = rest_of(req), query = http_query(req);
	bool passes = passes_any(link, rest, query);
	bool kept = is_permanent(link->status) && !link->max_visits;

	buf_reset(&r->lines);
	if (passes)
		pass_on(&r->lines, link, lines, rest, query);
	else if (kept)
		buf_append(&r->lines, lines.data, lines.len);
	if (kept)
		put_age(r, link, now);
	/* Out of memory, the redirect goes without what did not fit. */
	if ((passes || kept) && !r->lines.failed)
		lines = (struct http_slice){r->lines.data, r->lines.len};
	log_answer(r, req, link->status, 0);
	http_reply_lines(req, link->status, lines, NULL, 0);
}

/* `retry_after`: seconds, as text. */
static void send_unavailable(struct responder *r, struct http_request *req,
			     const char *retry_after)
{
	send_page(r, req, 503, page_unavailable, "Retry-After", retry_after);
}

/* Appends the URL with what the visit adds to it; returns its length. */
static size_t put_url(struct buf *out, const struct cached_link *link,
		      const struct http_request *req, const char *url)
{
	size_t from = out->len;

	pass_through_url(out, (struct http_slice){url, strlen(url)},
			 &link->pass, rest_of(req), http_query(req));
	return out->len - from;
}

/* Into r->page.  `open` as responder_landing_urls made it. */
static void put_page(struct responder *r, const struct http_request *req,
		     const struct cached_link *link,
		     const struct page_template *page, const char *open,
		     enum in_app in_app)
{
	/* Any window opens what is of the Web. */
	bool anywhere = !strncmp(open, "https:", 6);
	const char *browser = in_app_name(anywhere ? IN_APP_NONE : in_app);
	size_t len, all;

	buf_reset(&r->lines);
	buf_reset(&r->page);
	len = put_url(&r->lines, link, req, open);
	all = len + put_url(&r->lines, link, req, open + strlen(open) + 1);
	if (r->lines.failed) {
		r->page.failed = true;
		return;
	}
	page_template_write(
		page,
		(const struct http_slice[PAGE_VALUES]){
			[PAGE_OPEN] = {r->lines.data, len},
			[PAGE_FALLBACK] = {r->lines.data + len, all - len},
			[PAGE_BROWSER] = {browser, strlen(browser)}},
		&r->page);
}

static void send_landing(struct responder *r, struct http_request *req,
			 const struct cached_link *link,
			 Shortloop__Device target, enum in_app in_app)
{
	const struct page_template *page = landing_pages_use(
		&r->pages, (enum landing)link->landings[target]);

	put_page(r, req, link, page, lines_for(link, target).data, in_app);
	if (r->page.failed) {
		send_unavailable(r, req, r->retry_after);
		return;
	}
	log_answer(r, req, 200, r->page.len);
	http_reply_lines(req, 200, page_template_head(page), r->page.data,
			 r->page.len);
	buf_empty(&r->page, PAGE_KEPT);
}

/* A 302 to a URL that is not a link. */
static void send_fallback(struct responder *r, struct http_request *req,
			  const char *url)
{
	const struct http_field fields[] = {
		{"Location", url},
		{"Cache-Control", "private, max-age=0"},
		{NULL, NULL},
	};

	log_answer(r, req, 302, 0);
	http_reply(req, 302, fields, NULL, 0);
}

static void send_not_found(struct responder *r, struct http_request *req)
{
	send_page(r, req, 404, page_not_found, NULL, NULL);
}

static void send_gone(struct responder *r, struct http_request *req)
{
	send_page(r, req, 410, page_gone, NULL, NULL);
}

static void send_blocked(struct responder *r, struct http_request *req)
{
	send_page(r, req, 451, page_blocked, NULL, NULL);
}

static void send_no_method(struct responder *r, struct http_request *req)
{
	send_page(r, req, 405, page_no_method, "Allow", "GET, HEAD");
}

/* --- events and links ------------------------------------------------------
 */

/* Of no event: nobody will be told. */
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

/* By rule, which is no loss. */
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

/* Answered, and no event tells of it. */
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

/* A page counts as the redirect in whose place it is. */
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

static struct classification classify(const struct cached_link *link, bool head,
				      Shortloop__Device target)
{
	switch (link->outcome) {
	case LINK_OUTCOME_GONE:
		return (struct classification){
			SHORTLOOP__OUTCOME__OUTCOME_EXPIRED, 410, COUNTER_GONE};
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

/* Where a code without a link leads, if it leads anywhere. */
static const char *fallback_of(const struct responder *r,
			       const struct virtual_host *vhost,
			       const struct cached_link *link)
{
	if (link->outcome != LINK_OUTCOME_UNKNOWN ||
	    !r->settings->fallback_unknown)
		return NULL;
	return vhost->fallback_url;
}

static void report(struct responder *r, const struct http_request *req,
		   struct click *click, const struct cached_link *link,
		   const struct classification *c)
{
	click->time_ms = loop_real_ms(r->loop);
	click->outcome = c->outcome;
	click->status = c->status;
	click->link_part = link->event;
	/* The event before its counts, and both before the answer: what was
	 * answered is there after a kill (docs/redirector.md, A kill). */
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

/* Of a link without targets nobody asks. */
static struct device device_for(const struct cached_link *link,
				const struct click *click)
{
	if (link->lines.len == link->line_ends[0])
		return (struct device){SHORTLOOP__DEVICE__DEVICE_ANY,
				       IN_APP_NONE};
	return device_of(click->user_agent);
}

/* The event goes first: the request's strings are gone once it is answered. */
static void send_link(struct responder *r, struct http_request *req,
		      const struct virtual_host *vhost,
		      const struct cached_link *link, struct click *click,
		      int64_t now)
{
	const char *fallback = fallback_of(r, vhost, link);
	struct device device = device_for(link, click);
	Shortloop__Device target = target_for(link, device);
	struct classification class =
		classify(link, http_method_is(req, "HEAD"), target);

	if (fallback) {
		class.status = 302;
		class.counter = COUNTER_FALLBACK;
	}
	report(r, req, click, link, &class);
	switch (link->outcome) {
	case LINK_OUTCOME_REDIRECT:
		if (link->landings[target])
			send_landing(r, req, link, target, device.in_app);
		else
			send_redirect(r, req, link, lines_for(link, target),
				      now);
		break;
	case LINK_OUTCOME_GONE:
		send_gone(r, req);
		break;
	case LINK_OUTCOME_BLOCKED:
		send_blocked(r, req);
		break;
	case LINK_OUTCOME_UNKNOWN:
		if (fallback)
			send_fallback(r, req, fallback);
		else
			send_not_found(r, req);
		break;
	}
}

/* A code that has no link, as far as this visitor is concerned. */
static void send_unknown_code(struct responder *r, struct http_request *req,
			      const struct virtual_host *vhost,
			      struct http_slice code, struct click *click)
{
	struct cached_link nothing = {.outcome = LINK_OUTCOME_UNKNOWN};

	buf_reset(&r->part);
	click_link_part(&r->part, code, 0, NULL, NULL, NULL, 0);
	nothing.event = (struct http_slice){r->part.data, r->part.len};
	send_link(r, req, vhost, &nothing, click, 0);
}

/* May the visit have a path behind the code? */
static bool goes_on(const struct cached_link *link, struct http_slice rest)
{
	return link->outcome == LINK_OUTCOME_REDIRECT && link->pass.path &&
	       pass_through_may_follow(rest);
}

bool responder_send_link(struct responder *r, struct http_request *req,
			 struct http_slice code, const struct cached_link *link,
			 int64_t now)
{
	const struct virtual_host *vhost;
	struct http_slice rest = rest_of(req);
	struct click click;

	if (rest.len > 0 && !goes_on(link, rest)) {
		responder_send_no_code(r, req);
		return true;
	}
	request_info_read(req, &r->rules, &click);
	vhost = virtual_hosts_find(r->virtual_hosts, click.host);
	if (!virtual_host_shows(vhost, click.host, link))
		send_unknown_code(r, req, vhost, code, &click);
	else if (link->max_visits && link->outcome == LINK_OUTCOME_REDIRECT)
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
	send_link(r, req, virtual_hosts_find(r->virtual_hosts, click.host),
		  link, &click, now);
}

void responder_send_unknown(struct responder *r, struct http_request *req,
			    struct http_slice code)
{
	struct click click;

	if (rest_of(req).len > 0) {
		responder_send_no_code(r, req);
		return;
	}
	request_info_read(req, &r->rules, &click);
	send_unknown_code(r, req,
			  virtual_hosts_find(r->virtual_hosts, click.host),
			  code, &click);
}

void responder_send_refused_host(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_REFUSED_HOST);
	send_not_found(r, req);
}

static void send_app_file(struct responder *r, struct http_request *req,
			  const struct app_file *file)
{
	struct http_slice body = app_file_body(file);

	if (app_file_matches(file, http_header_get(req, "If-None-Match"))) {
		count_silent(r, COUNTER_APP_FILE_SAME);
		log_answer(r, req, 304, 0);
		http_reply_lines(req, 304, app_file_lines(file, false), NULL,
				 0);
		return;
	}
	count_silent(r, COUNTER_APP_FILE);
	log_answer(r, req, 200, body.len);
	http_reply_lines(req, 200, app_file_lines(file, true), body.data,
			 body.len);
}

bool responder_send_app_file(struct responder *r, struct http_request *req)
{
	enum app_file_kind kind = app_file_kind_of(http_path(req));
	const struct app_file *file;

	if (kind == APP_FILE_KINDS)
		return false;
	file = virtual_hosts_find(r->virtual_hosts,
				  http_header_get(req, "Host"))
		       ->app_files[kind];
	if (file)
		send_app_file(r, req, file);
	return file;
}

void responder_send_no_code(struct responder *r, struct http_request *req)
{
	struct http_slice host = http_header_get(req, "Host"),
			  path = http_path(req);
	const char *fallback =
		virtual_hosts_find(r->virtual_hosts, host)->fallback_url;

	if (path.len == 1 && path.data[0] == '/' && fallback) {
		count_silent(r, COUNTER_FALLBACK);
		send_fallback(r, req, fallback);
		return;
	}
	count_silent(r, COUNTER_NOT_FOUND);
	send_not_found(r, req);
}

void responder_send_no_method(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_NO_METHOD);
	send_no_method(r, req);
}

void responder_send_denied(struct responder *r, struct http_request *req)
{
	count_silent(r, COUNTER_DENIED);
	send_page(r, req, 403, page_denied, NULL, NULL);
}

void responder_send_limited(struct responder *r, struct http_request *req,
			    enum redirector_counter why, int64_t wait_ms)
{
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%" PRId64,
		 (wait_ms + CLOCK_SECOND - 1) / CLOCK_SECOND);
	count_silent(r, why);
	send_page(r, req, 429, page_limited, "Retry-After", seconds);
}

void responder_send_unavailable(struct responder *r, struct http_request *req,
				enum redirector_counter why)
{
	count_silent(r, why);
	send_unavailable(r, req, r->retry_after);
}

void responder_end_turn(struct responder *r)
{
	access_writer_flush(&r->access);
}

/* --- making ----------------------------------------------------------------
 */

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
	landing_pages_join(redirector->landing_pages, &r->pages);
	r->thread = thread;
	r->hours = &redirector->hours[thread];
	r->rules.proxies = redirector->proxies;
	r->rules.style = request_info_style(s->client_header);
	snprintf(r->retry_after, sizeof(r->retry_after), "%" PRId64,
		 s->retry_after / CLOCK_SECOND);
	r->encoder = click_encoder_new(redirector->edge, &limits, err);
	if (!r->encoder ||
	    access_writer_init(&r->access, redirector->access_log, err) < 0) {
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
	access_writer_release(&r->access);
	click_encoder_free(r->encoder);
	buf_free(&r->part);
	buf_free(&r->lines);
	buf_free(&r->page);
	versions_leave(&r->pages);
	free(r);
}
