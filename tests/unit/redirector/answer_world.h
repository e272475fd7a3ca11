/*
 * answer_world.h - a responder behind a listener, which answers each request as
 * the test sets.  Witnesses replace the sink and the access log: they keep the
 * event, and the counts at the time of the event and of the answer.
 */
#ifndef TESTS_UNIT_REDIRECTOR_ANSWER_WORLD_H
#define TESTS_UNIT_REDIRECTOR_ANSWER_WORLD_H

#include "tests/unit/unit.h"

#include <string.h>

#include "common/clock.h"
#include "common/config/config.h"
#include "common/network_list.h"
#include "redirector/events/event_limits.h"
#include "redirector/events/event_sink.h"
#include "redirector/lookup/link_lines.h"
#include "redirector/pages/landing_pages.h"
#include "redirector/visit/access_log.h"
#include "redirector/visit/host_table.h"
#include "redirector/visit/responder.h"
#include "tests/unit/http/world.h"

/* A test may have other links. */
#ifndef AW_LINKS
#define AW_LINKS                                                               \
	"links: {spaces: [{name: s7, number: 1, length: 7, keys: [{version: "  \
	"0, key: \"env:SHORTLOOP_TEST_KEY\"}]}]}\n"
#endif
#define AW_CODE "aB3xY7k"

enum {
	AW_THREAD = 1, /* the thread of the responder */
};

/* The counts. */
struct aw_counts {
	uint64_t by_answer[COUNTER_KINDS];
	uint64_t by_hour[HOUR_COUNTERS];
};

struct answer_world {
	struct world http;
	pthread_mutex_t lock; /* protects all that both threads use */
	struct redirector_config config;
	struct redirector redirector;
	struct redirector_counters counters;
	struct hour_totals totals;
	struct hour_writer hours[AW_THREAD + 1]; /* the last one is used */
	struct host_user hosts;
	struct responder *responder;
	/* The answer to a request, and the link that it is for. */
	void (*answer)(struct answer_world *w, struct http_request *req);
	struct cached_link link;
	int64_t now; /* monotonic ms, as links use it */
	struct buf lines, part;
	enum event_taken taken;
	/* The witnesses received this many. */
	size_t events, answers, flushes;
	bool wrong; /* the return value did not match whether the request was
		       answered */
	enum forwarded_style style;
	Shortloop__Click *click;
	struct taken_event event;
	struct access_answer answered;
	struct aw_counts at_event, at_answer;
};

static inline void aw_read_counts(const struct answer_world *w,
				  struct aw_counts *ret)
{
	struct hour_table table = {0};

	*ret = (struct aw_counts){0};
	for (size_t i = 0; i < COUNTER_KINDS; i++)
		ret->by_answer[i] = w->counters.n[i];
	hour_totals_add_to(&w->totals, &table);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		for (size_t k = 0; k < HOUR_COUNTERS; k++)
			ret->by_hour[k] += table.items[i].n[k];
}

/* --- replacements of the sink and the access log ------------------------- */

enum event_taken event_sink_take(struct event_sink *sink,
				 const struct taken_event *event)
{
	struct answer_world *w = (struct answer_world *)sink;

	w->events++;
	w->event = *event;
	if (w->click)
		shortloop__click__free_unpacked(w->click, NULL);
	w->click = shortloop__click__unpack(NULL, event->len, event->data);
	aw_read_counts(w, &w->at_event);
	return w->taken;
}

int access_writer_init(struct access_writer *a, struct access_log *log,
		       struct error *err)
{
	(void)err;
	*a = (struct access_writer){.log = log};
	return 0;
}

void access_writer_note(struct access_writer *a, const struct http_request *req,
			const struct request_info_rules *rules,
			const struct access_answer *answer)
{
	struct answer_world *w = (struct answer_world *)a->log;

	(void)req;
	w->answers++;
	w->style = rules->style;
	w->answered = *answer;
	aw_read_counts(w, &w->at_answer);
}

void access_writer_flush(struct access_writer *a)
{
	((struct answer_world *)a->log)->flushes++;
}

void access_writer_release(struct access_writer *a)
{
	(void)a;
}

/* --- the world ------------------------------------------------------------ */

static inline void aw_on_request(struct http_request *req, void *arg)
{
	struct answer_world *w = arg;

	pthread_mutex_lock(&w->lock);
	responder_use_hosts(w->responder, host_table_use(&w->hosts));
	w->answer(w, req);
	responder_end_turn(w->responder);
	pthread_mutex_unlock(&w->lock);
}

static inline void aw_load_config(struct answer_world *w, const char *text)
{
	const struct config_spec spec = {redirector_groups,
					 redirector_group_count, NULL};
	struct error err = {0};
	char all[4096];

	setenv("SHORTLOOP_TEST_KEY", "00112233445566778899aabbccddeeff", 1);
	snprintf(all, sizeof(all), AW_LINKS "%s", text);
	if (config_load_text(&spec, "text", all, &w->config, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void aw_make_redirector(struct answer_world *w)
{
	struct redirector *r = &w->redirector;
	const struct redirector_settings *s = &w->config.redirector;
	struct error err = {0};

	r->config = &w->config;
	r->edge = "edge-1";
	r->threads = AW_THREAD + 1;
	r->registry = metrics_new();
	redirector_metrics_register(&r->metrics, r->registry);
	r->store = linkstore_new(&w->config.links, &err);
	r->proxies = network_list_new_of_peers(&s->trusted_proxies, "p", &err);
	r->files[FILE_PAGES] = reloadable_new(&landing_pages_kind, s, &err);
	r->event_limits = event_limits_new(s, &err);
	r->hosts_in_use = host_table_new(&w->config, r->store, &err);
	if (!r->store || !r->proxies || !r->files[FILE_PAGES] ||
	    !r->hosts_in_use)
		fail_msg("%s", err.text);
	r->hours = w->hours;
	r->sink = (struct event_sink *)w;
	r->access_log = (struct access_log *)w;
}

/* Makes a redirector with this configuration; its loop does not run yet.  NULL:
 * a plain one. */
static inline struct answer_world *aw_make(const char *text)
{
	struct answer_world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	pthread_mutex_init(&w->lock, NULL);
	aw_load_config(w, text ? text : "");
	aw_make_redirector(w);
	hour_writer_init(&w->hours[AW_THREAD], &w->totals);
	w->hosts.table = w->redirector.hosts_in_use;
	w->taken = EVENT_TAKEN;
	world_configure(&w->http);
	world_open_for(&w->http, aw_on_request, w);
	w->responder = responder_new(&w->redirector, AW_THREAD, w->http.loop,
				     &w->counters, &err);
	if (!w->responder)
		fail_msg("%s", err.text);
	return w;
}

static inline struct answer_world *aw_start(const char *text)
{
	struct answer_world *w = aw_make(text);

	world_run(&w->http);
	return w;
}

/* Call it after the loop has ended. */
static inline void aw_free(struct answer_world *w)
{
	const struct config_spec spec = {redirector_groups,
					 redirector_group_count, NULL};
	struct redirector *r = &w->redirector;

	responder_free(w->responder);
	host_table_leave(&w->hosts);
	host_table_free(r->hosts_in_use);
	event_limits_free(r->event_limits);
	reloadable_free(r->files[FILE_PAGES]);
	network_list_free(r->proxies);
	linkstore_free(r->store);
	metrics_free(r->registry);
	hour_writer_destroy(&w->hours[AW_THREAD]);
	config_release(&spec, &w->config);
	if (w->click)
		shortloop__click__free_unpacked(w->click, NULL);
	buf_free(&w->lines);
	buf_free(&w->part);
	pthread_mutex_destroy(&w->lock);
	loop_free(w->http.loop);
	metrics_free(w->http.metrics);
	free(w->http.big);
	free(w);
}

static inline void aw_stop(struct answer_world *w)
{
	world_stop(&w->http);
	aw_free(w);
}

/* --- links ---------------------------------------------------------------- */

/* Makes the link of AW_CODE, which any visit leads to; the lines of the last
 * device are the last. */
static inline void aw_make_link(struct answer_world *w,
				enum link_outcome outcome, int status)
{
	w->link = (struct cached_link){
		.outcome = outcome,
		.status = status,
		.expires = INT64_MAX,
		.domain = "",
		.link_id = 7,
	};
	buf_reset(&w->lines);
	buf_reset(&w->part);
	click_link_part(&w->part, &(struct click_link){.code = {AW_CODE, 7},
						       .link_id = 7,
						       .owner = "owner"});
	w->link.event = (struct http_slice){w->part.data, w->part.len};
}

static inline void aw_end_lines(struct answer_world *w,
				Shortloop__Device device)
{
	w->link.lines = (struct http_slice){w->lines.data, w->lines.len};
	for (int i = (int)device; i < DEVICES; i++)
		w->link.line_ends[i] = (uint32_t)w->lines.len;
}

/* Adds the target of visits from the device; the calls are in the order of
 * devices. */
static inline void aw_lead_to(struct answer_world *w, Shortloop__Device device,
			      const char *url)
{
	const struct redirect_form form = {w->link.status, false,
					   w->link.max_visits != 0};
	struct error err = {0};

	if (link_lines_put(&w->lines, &form, url, &err) < 0)
		fail_msg("%s", err.text);
	aw_end_lines(w, device);
}

/* Does the same for a page that opens an app. */
static inline void aw_open(struct answer_world *w, Shortloop__Device device,
			   const char *open, const char *fallback)
{
	struct error err = {0};

	if (link_lines_put_landing(&w->lines, open, fallback, &err) < 0)
		fail_msg("%s", err.text);
	w->link.landings[device] = LANDING_APP;
	aw_end_lines(w, device);
}

static inline void aw_redirect(struct answer_world *w, int status)
{
	aw_make_link(w, LINK_OUTCOME_REDIRECT, status);
	aw_lead_to(w, SHORTLOOP__DEVICE__DEVICE_ANY, "https://to.example/a");
}

/* --- requests ------------------------------------------------------------- */

/* Checks whether a function's return value matches what it answered.  A request
 * without an answer gets a 202. */
static inline void aw_hold_to(struct answer_world *w, struct http_request *req,
			      size_t answers, bool answered)
{
	if (answered != (w->answers > answers))
		w->wrong = true;
	else if (!answered)
		http_reply_text(req, 202, "not answered");
}

/* Answers a visit of a link that was found. */
static inline void aw_send_link(struct answer_world *w,
				struct http_request *req)
{
	size_t answers = w->answers;

	aw_hold_to(w, req, answers,
		   responder_send_link(w->responder, req,
				       (struct http_slice){AW_CODE, 7},
				       &w->link, w->now));
}

static inline void aw_send_unknown(struct answer_world *w,
				   struct http_request *req)
{
	responder_send_unknown(w->responder, req,
			       (struct http_slice){AW_CODE, 7});
}

/* Synchronizes: what one thread did before it is visible to the other after it.
 */
static inline void aw_meet(struct answer_world *w)
{
	pthread_mutex_lock(&w->lock);
	pthread_mutex_unlock(&w->lock);
}

/* Returns the answer to the request, to be freed.  `fields`: lines of its head,
 * each with CRLF. */
static inline char *aw_ask(struct answer_world *w, const char *method,
			   const char *path, const char *fields)
{
	char text[2048];
	char *answer;

	snprintf(
		text, sizeof(text),
		"%s %s HTTP/1.1\r\nHost: sho.rt\r\n%sConnection: close\r\n\r\n",
		method, path, fields);
	aw_meet(w);
	answer = client_exchange(&w->http, text);
	aw_meet(w);
	assert_false(w->wrong);
	assert_non_null(answer);
	return answer;
}

static inline void aw_expect_status(struct answer_world *w, const char *method,
				    const char *path, int status)
{
	char *answer = aw_ask(w, method, path, "");

	assert_int_equal(status_of(answer), status);
	free(answer);
}

/* Requests `path`; the answer must have this text, or must not have it. */
static inline void aw_expect(struct answer_world *w, const char *path,
			     const char *fields, const char *text, bool has)
{
	char *answer = aw_ask(w, "GET", path, fields);

	if (!strstr(answer, text) == has)
		fail_msg("'%s' %s in:\n%s", text, has ? "is not" : "is",
			 answer);
	free(answer);
}

#endif
