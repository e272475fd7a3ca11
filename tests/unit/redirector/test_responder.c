/* Each answer is counted and has its event, in this order. */
#include "tests/unit/redirector/answer_world.h"
#include "tests/unit/redirector/hours.h"

static uint64_t sum_counts(const uint64_t *n, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += n[i];
	return all;
}

/* Each answer so far must be counted once by its kind, and once in its hour by
 * its outcome and by the state of its event. */
static void assert_each_is_counted_once(struct answer_world *w, uint64_t asked)
{
	struct aw_counts now;

	aw_read_counts(w, &now);
	assert_int_equal(sum_counts(now.by_answer, COUNTER_HITS), asked);
	assert_int_equal(sum_counts(now.by_hour, HOUR_SILENT + 1), asked);
	assert_int_equal(
		now.by_hour[HOUR_PRODUCED] + now.by_hour[HOUR_REFUSED] +
			now.by_hour[HOUR_WITHHELD] + now.by_hour[HOUR_SILENT],
		asked);
	assert_int_equal(w->answers, asked);
}

struct told {
	int status;
	enum redirector_counter counter;
	enum hour_counter hour;
	Shortloop__Outcome outcome;
};

/* The last of `asked` answers must have had an event; `nth` is the count of
 * that kind of answer so far. */
static void assert_told(struct answer_world *w, const struct told *t,
			uint64_t asked)
{
	struct aw_counts now;

	aw_read_counts(w, &now);
	assert_int_equal(now.by_answer[t->counter], 1);
	assert_true(now.by_hour[t->hour] >= 1);
	assert_int_equal(w->events, asked);
	assert_int_equal(now.by_answer[COUNTER_EVENTS], asked);
	assert_int_equal(now.by_hour[HOUR_PRODUCED], asked);
	assert_int_equal(w->answered.status, t->status);
	assert_int_equal(w->click->outcome, t->outcome);
	assert_int_equal(w->click->status, t->status);
	assert_each_is_counted_once(w, asked);
}

static void a_redirect_is_counted_and_told_by_its_status(void **state)
{
	static const struct told cases[] = {
		{302, COUNTER_302, HOUR_REDIRECTED,
		 SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED},
		{301, COUNTER_301, HOUR_REDIRECTED,
		 SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED},
		{307, COUNTER_307, HOUR_REDIRECTED,
		 SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED},
		{308, COUNTER_308, HOUR_REDIRECTED,
		 SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED},
	};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	for (size_t i = 0; i < 4; i++) {
		aw_redirect(w, cases[i].status);
		aw_expect_status(w, "GET", "/" AW_CODE, cases[i].status);
		assert_told(w, &cases[i], i + 1);
	}
	assert_string_equal(w->click->code, AW_CODE);
	assert_int_equal(w->click->link_id, 7);
	assert_string_equal(w->click->domain, "sho.rt");
	aw_stop(w);
}

static void what_has_no_redirect_is_counted_and_told_as_what_it_is(void **state)
{
	static const struct {
		enum link_outcome outcome;
		const char *says;
		struct told told;
	} cases[] = {
		{LINK_OUTCOME_GONE,
		 "<h1>Gone</h1>",
		 {410, COUNTER_GONE, HOUR_EXPIRED,
		  SHORTLOOP__OUTCOME__OUTCOME_EXPIRED}},
		{LINK_OUTCOME_BLOCKED,
		 "<h1>Not available</h1>",
		 {451, COUNTER_BLOCKED, HOUR_BLOCKED,
		  SHORTLOOP__OUTCOME__OUTCOME_BLOCKED}},
		{LINK_OUTCOME_UNKNOWN,
		 "<h1>Not found</h1>",
		 {404, COUNTER_NOT_FOUND, HOUR_NOT_FOUND,
		  SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND}},
		{LINK_OUTCOME_PAUSED,
		 "<h1>Paused</h1>",
		 {410, COUNTER_PAUSED, HOUR_EXPIRED,
		  SHORTLOOP__OUTCOME__OUTCOME_EXPIRED}},
	};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		aw_make_link(w, cases[i].outcome, 0);
		aw_expect(w, "/" AW_CODE, "", cases[i].says, true);
		assert_told(w, &cases[i].told, i + 1);
	}
	aw_stop(w);
}

/* A HEAD that leads nowhere counts like a GET. */
static void only_a_head_of_a_redirect_is_counted_as_one(void **state)
{
	static const struct told head = {302, COUNTER_HEAD, HOUR_HEAD,
					 SHORTLOOP__OUTCOME__OUTCOME_HEAD};
	static const struct told gone = {410, COUNTER_GONE, HOUR_EXPIRED,
					 SHORTLOOP__OUTCOME__OUTCOME_EXPIRED};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "HEAD", "/" AW_CODE, 302);
	assert_told(w, &head, 1);
	aw_make_link(w, LINK_OUTCOME_GONE, 0);
	aw_expect_status(w, "HEAD", "/" AW_CODE, 410);
	assert_told(w, &gone, 2);
	aw_stop(w);
}

static void a_page_is_counted_as_the_redirect_in_whose_place_it_is(void **state)
{
	static const struct told page = {
		200, COUNTER_LANDING, HOUR_REDIRECTED,
		SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED};
	static const struct told head = {200, COUNTER_HEAD_LANDING, HOUR_HEAD,
					 SHORTLOOP__OUTCOME__OUTCOME_HEAD};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_make_link(w, LINK_OUTCOME_REDIRECT, 302);
	aw_open(w, SHORTLOOP__DEVICE__DEVICE_ANY, "app://x", "https://to.a/");
	aw_expect_status(w, "GET", "/" AW_CODE, 200);
	assert_told(w, &page, 1);
	aw_expect_status(w, "HEAD", "/" AW_CODE, 200);
	assert_told(w, &head, 2);
	aw_stop(w);
}

/* The visitor gets a redirect, but the visit counts as not found. */
static void
an_unknown_code_that_leads_to_the_fallback_was_not_found(void **state)
{
	static const struct told told = {302, COUNTER_FALLBACK, HOUR_NOT_FOUND,
					 SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND};
	static const struct told gone = {410, COUNTER_GONE, HOUR_EXPIRED,
					 SHORTLOOP__OUTCOME__OUTCOME_EXPIRED};
	struct answer_world *w =
		aw_start("redirector: {fallback_unknown: true, fallback_url: "
			 "\"https://fall.back/\"}\n");

	(void)state;
	w->answer = aw_send_unknown;
	aw_expect(w, "/" AW_CODE, "", "Location: https://fall.back/\r\n", true);
	assert_told(w, &told, 1);
	assert_string_equal(w->click->code, AW_CODE);
	assert_int_equal(w->click->link_id, 0);
	/* A code that once had a link is not redirected. */
	w->answer = aw_send_link;
	aw_make_link(w, LINK_OUTCOME_GONE, 0);
	aw_expect_status(w, "GET", "/" AW_CODE, 410);
	assert_told(w, &gone, 2);
	aw_stop(w);
}

static void an_unknown_code_leads_to_no_fallback_unless_it_is_to(void **state)
{
	struct answer_world *w = aw_start(
		"redirector: {fallback_url: \"https://fall.back/\"}\n");

	(void)state;
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	aw_stop(w);
	w = aw_start("redirector: {fallback_unknown: true}\n");
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	aw_stop(w);
}

static void a_paused_link_leads_to_the_fallback_if_it_is_to(void **state)
{
	static const struct told told = {302, COUNTER_FALLBACK, HOUR_EXPIRED,
					 SHORTLOOP__OUTCOME__OUTCOME_EXPIRED};
	struct answer_world *w =
		aw_start("redirector: {fallback_paused: true, fallback_url: "
			 "\"https://fall.back/\"}\n");

	(void)state;
	w->answer = aw_send_link;
	aw_make_link(w, LINK_OUTCOME_PAUSED, 0);
	aw_expect(w, "/" AW_CODE, "", "Location: https://fall.back/\r\n", true);
	assert_told(w, &told, 1);
	/* The other setting does not concern it, nor this one others. */
	aw_make_link(w, LINK_OUTCOME_UNKNOWN, 0);
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	aw_stop(w);
	w = aw_start("redirector: {fallback_unknown: true, fallback_url: "
		     "\"https://fall.back/\"}\n");
	w->answer = aw_send_link;
	aw_make_link(w, LINK_OUTCOME_PAUSED, 0);
	aw_expect_status(w, "GET", "/" AW_CODE, 410);
	aw_stop(w);
}

static void links_of_a_paused_domain_are_paused(void **state)
{
	static const struct told told = {410, COUNTER_PAUSED, HOUR_EXPIRED,
					 SHORTLOOP__OUTCOME__OUTCOME_EXPIRED};
	struct answer_world *w =
		aw_start("domains: {list: [{name: main, hosts: [sho.rt], "
			 "paused: true}]}\n");

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect(w, "/" AW_CODE, "", "<h1>Paused</h1>", true);
	assert_told(w, &told, 1);
	/* A link that has ended, or is blocked, is what it is. */
	aw_make_link(w, LINK_OUTCOME_BLOCKED, 0);
	aw_expect_status(w, "GET", "/" AW_CODE, 451);
	aw_make_link(w, LINK_OUTCOME_GONE, 0);
	aw_expect(w, "/" AW_CODE, "", "<h1>Gone</h1>", true);
	aw_stop(w);
}

/* The event of an answered visit must be there after a kill. */
static void
the_event_comes_before_its_counts_and_both_before_the_answer(void **state)
{
	struct answer_world *w = aw_start(NULL);
	const struct aw_counts none = {0};

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_memory_equal(&w->at_event, &none, sizeof(none));
	assert_int_equal(w->at_answer.by_answer[COUNTER_302], 1);
	assert_int_equal(w->at_answer.by_answer[COUNTER_EVENTS], 1);
	assert_int_equal(w->at_answer.by_hour[HOUR_REDIRECTED], 1);
	assert_int_equal(w->at_answer.by_hour[HOUR_PRODUCED], 1);
	aw_stop(w);
}

/* The hour is that of the event's own time. */
static void an_event_has_the_time_by_which_it_is_counted(void **state)
{
	struct answer_world *w = aw_start(NULL);
	int64_t before = clock_real_ms() - CLOCK_SECOND;
	struct hour_table table = {0};

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_int_equal(w->event.time_ms, w->click->time_ms);
	assert_true(w->event.time_ms > before);
	assert_true(w->event.time_ms <= clock_real_ms());
	assert_int_equal(w->event.thread, AW_THREAD);
	hour_totals_add_to(&w->totals, &table);
	assert_non_null(find_hour(&table, w->event.time_ms / HOUR_MS));
	aw_stop(w);
}

static void what_the_sink_does_not_take_is_refused_by_its_reason(void **state)
{
	struct answer_world *w = aw_start(NULL);
	struct aw_counts now;

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	w->taken = EVENT_NO_ROOM;
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	aw_read_counts(w, &now);
	assert_int_equal(now.by_answer[COUNTER_DROPPED_FULL], 1);
	assert_int_equal(now.by_answer[COUNTER_DROPPED_REFUSED], 0);
	w->taken = EVENT_REFUSED;
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	aw_read_counts(w, &now);
	assert_int_equal(now.by_answer[COUNTER_DROPPED_FULL], 1);
	assert_int_equal(now.by_answer[COUNTER_DROPPED_REFUSED], 1);
	assert_int_equal(now.by_answer[COUNTER_EVENTS], 0);
	assert_int_equal(now.by_hour[HOUR_REFUSED], 2);
	assert_int_equal(now.by_hour[HOUR_PRODUCED], 0);
	assert_each_is_counted_once(w, 2);
	aw_stop(w);
}

static void what_is_beyond_its_rate_is_answered_and_not_told(void **state)
{
	static const struct {
		enum link_outcome outcome;
		enum redirector_counter withheld;
		enum hour_counter hour;
	} cases[] = {
		{LINK_OUTCOME_UNKNOWN, COUNTER_WITHHELD_NOT_FOUND,
		 HOUR_NOT_FOUND},
		{LINK_OUTCOME_GONE, COUNTER_WITHHELD_EXPIRED, HOUR_EXPIRED},
		{LINK_OUTCOME_BLOCKED, COUNTER_WITHHELD_BLOCKED, HOUR_BLOCKED},
	};
	struct answer_world *w = aw_start(
		"redirector: {event_rate_not_found: 0, event_rate_expired: 0, "
		"event_rate_blocked: 0}\n");
	struct aw_counts now;

	(void)state;
	w->answer = aw_send_link;
	for (size_t i = 0; i < 3; i++) {
		aw_make_link(w, cases[i].outcome, 0);
		free(aw_ask(w, "GET", "/" AW_CODE, ""));
		aw_read_counts(w, &now);
		assert_int_equal(now.by_answer[cases[i].withheld], 1);
		assert_int_equal(now.by_hour[cases[i].hour], 1);
		assert_int_equal(now.by_hour[HOUR_WITHHELD], i + 1);
	}
	assert_int_equal(w->events, 0);
	assert_each_is_counted_once(w, 3);
	aw_stop(w);
}

/* --- answers without an event --------------------------------------------- */

static void send_refused_host(struct answer_world *w, struct http_request *req)
{
	responder_send_refused_host(w->responder, req);
}

static void send_no_code(struct answer_world *w, struct http_request *req)
{
	responder_send_no_code(w->responder, req);
}

static void send_no_method(struct answer_world *w, struct http_request *req)
{
	responder_send_no_method(w->responder, req);
}

static void send_denied(struct answer_world *w, struct http_request *req)
{
	responder_send_denied(w->responder, req);
}

static void send_over_rate(struct answer_world *w, struct http_request *req)
{
	responder_send_limited(w->responder, req, COUNTER_OVER_RATE, 1001);
}

static void send_over_unknown(struct answer_world *w, struct http_request *req)
{
	responder_send_limited(w->responder, req, COUNTER_OVER_UNKNOWN, 1000);
}

static void send_over_fetches(struct answer_world *w, struct http_request *req)
{
	responder_send_over_fetches(w->responder, req);
}

static void send_late(struct answer_world *w, struct http_request *req)
{
	responder_send_unavailable(w->responder, req, COUNTER_UNAVAILABLE_LATE);
}

static void send_own_path(struct answer_world *w, struct http_request *req)
{
	size_t answers = w->answers;
	bool answered = responder_send_own_path(w->responder, req);

	if (!answered && w->answers == answers)
		answered = responder_send_app_file(w->responder, req);
	aw_hold_to(w, req, answers, answered);
}

static void what_is_no_visit_is_counted_as_silent(void **state)
{
	static const struct {
		void (*answer)(struct answer_world *w,
			       struct http_request *req);
		const char *path;
		int status;
		enum redirector_counter counter;
		const char *says;
	} cases[] = {
		{send_refused_host, "/x", 404, COUNTER_REFUSED_HOST,
		 "There is no link"},
		{send_no_code, "/%", 404, COUNTER_NOT_FOUND,
		 "There is no link"},
		{send_no_method, "/x", 405, COUNTER_NO_METHOD,
		 "Allow: GET, HEAD\r\n"},
		{send_denied, "/x", 403, COUNTER_DENIED,
		 "not for your network"},
		{send_over_rate, "/x", 429, COUNTER_OVER_RATE,
		 "Retry-After: 2\r\n"},
		{send_over_unknown, "/x", 429, COUNTER_OVER_UNKNOWN,
		 "Retry-After: 1\r\n"},
		{send_over_fetches, "/x", 429, COUNTER_OVER_FETCHES,
		 "It opens in a browser"},
		{send_late, "/x", 503, COUNTER_UNAVAILABLE_LATE,
		 "Retry-After: 7\r\n"},
		{send_own_path, "/robots.txt", 200, COUNTER_ROBOTS_TXT,
		 "User-agent: *\nDisallow:\n"},
		{send_own_path, "/favicon.ico", 204, COUNTER_FAVICON,
		 "Cache-Control: public, max-age=86400\r\n"},
	};
	struct answer_world *w = aw_start("redirector: {retry_after: 7s}\n");
	struct aw_counts now;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		w->answer = cases[i].answer;
		aw_expect(w, cases[i].path, "", cases[i].says, true);
		assert_int_equal(w->answered.status, cases[i].status);
		aw_read_counts(w, &now);
		assert_int_equal(now.by_answer[cases[i].counter], 1);
		assert_int_equal(now.by_hour[HOUR_SILENT], i + 1);
		assert_int_equal(w->at_answer.by_hour[HOUR_SILENT], i + 1);
		assert_each_is_counted_once(w, i + 1);
	}
	assert_int_equal(w->events, 0);
	aw_stop(w);
}

static void only_the_root_leads_to_the_fallback_without_a_code(void **state)
{
	struct answer_world *w = aw_start(
		"redirector: {fallback_url: \"https://fall.back/\"}\n");
	struct aw_counts now;

	(void)state;
	w->answer = send_no_code;
	aw_expect_status(w, "GET", "/", 302);
	aw_read_counts(w, &now);
	assert_int_equal(now.by_answer[COUNTER_FALLBACK], 1);
	aw_expect_status(w, "GET", "/%", 404);
	aw_expect_status(w, "OPTIONS", "*", 404);
	assert_each_is_counted_once(w, 3);
	assert_int_equal(w->events, 0);
	aw_stop(w);
	w = aw_start(NULL);
	w->answer = send_no_code;
	aw_expect_status(w, "GET", "/", 404);
	aw_stop(w);
}

static void a_domains_own_files_are_answered_and_counted(void **state)
{
	char path[64], text[512], same[128];
	struct answer_world *w;
	struct aw_counts now;
	char *answer, *tag;

	(void)state;
	unit_write_file("{\"a\":1}", path);
	snprintf(text, sizeof(text),
		 "domains: {list: [{name: a, hosts: [sho.rt], "
		 "apple_app_site_association: %s, robots_txt: %s}]}\n",
		 path, path);
	w = aw_start(text);
	w->answer = send_own_path;
	answer =
		aw_ask(w, "GET", "/.well-known/apple-app-site-association", "");
	assert_int_equal(status_of(answer), 200);
	tag = strstr(answer, "ETag: ");
	assert_non_null(tag);
	snprintf(same, sizeof(same), "If-None-Match: %.*s\r\n",
		 (int)strcspn(tag + 6, "\r"), tag + 6);
	free(answer);
	answer = aw_ask(w, "GET", "/.well-known/apple-app-site-association",
			same);
	assert_int_equal(status_of(answer), 304);
	expect_body(answer, "");
	assert_int_equal(w->answered.status, 304);
	assert_int_equal(w->answered.body_bytes, 0);
	free(answer);
	aw_expect(w, "/robots.txt", "", "{\"a\":1}", true);
	assert_int_equal(w->answered.body_bytes, 7);
	/* The domain has no file for Android. */
	aw_expect_status(w, "GET", "/.well-known/assetlinks.json", 202);
	aw_expect_status(w, "GET", "/" AW_CODE, 202);
	aw_read_counts(w, &now);
	assert_int_equal(now.by_answer[COUNTER_APP_FILE], 2);
	assert_int_equal(now.by_answer[COUNTER_APP_FILE_SAME], 1);
	assert_int_equal(now.by_answer[COUNTER_ROBOTS_TXT], 0);
	assert_each_is_counted_once(w, 3);
	aw_stop(w);
	unlink(path);
}

/* --- paths, hosts, and visits that are counted first ---------------------- */

static void what_a_text_has_behind_a_code_is_passed_over_and_told(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_false(w->click->trimmed);
	aw_expect_status(w, "GET", "/" AW_CODE "/", 302);
	assert_true(w->click->trimmed);
	/* A path that could be another code does not lead to this link. */
	aw_expect_status(w, "GET", "/" AW_CODE "/more", 404);
	assert_int_equal(w->events, 2);
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	assert_int_equal(w->events, 3);
	assert_false(w->click->trimmed);
	aw_expect_status(w, "GET", "/" AW_CODE "/", 404);
	assert_int_equal(w->events, 4);
	assert_true(w->click->trimmed);
	aw_expect_status(w, "GET", "/" AW_CODE "/more", 404);
	assert_int_equal(w->events, 4);
	aw_stop(w);
}

/* The path is what a text program makes of a code. */
static void a_code_in_a_text_is_told_as_what_it_was_made_of(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE ").", 302);
	assert_true(w->click->trimmed);
	aw_expect_status(w, "GET", "/%61B3xY7k", 302);
	assert_false(w->click->trimmed);
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/%61B3xY7k", 404);
	assert_false(w->click->trimmed);
	aw_stop(w);
}

/* Each event has a code of its own. */
static void unknown_codes_in_a_row_have_events_of_one_length(void **state)
{
	struct answer_world *w = aw_start(NULL);
	size_t len;

	(void)state;
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	len = w->event.len;
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	assert_int_equal(w->event.len, len);
	aw_stop(w);
}

static void nothing_is_passed_over_where_it_is_not_to(void **state)
{
	struct answer_world *w = aw_start("redirector: {trim_paths: false}\n");

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE "/", 404);
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "/" AW_CODE "/", 404);
	assert_int_equal(w->events, 0);
	aw_stop(w);
}

static void a_path_goes_on_with_a_link_that_passes_it_on(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	w->link.pass.path = true;
	aw_expect(w, "/" AW_CODE "/more", "",
		  "Location: https://to.example/a/more\r\n", true);
	assert_false(w->click->trimmed);
	/* The slash is kept, although it would be ignored elsewhere. */
	aw_expect(w, "/" AW_CODE "/", "", "Location: https://to.example/a/\r\n",
		  true);
	assert_false(w->click->trimmed);
	aw_expect_status(w, "GET", "/" AW_CODE "/../x", 404);
	assert_int_equal(w->events, 2);
	/* A link that has ended leads nowhere. */
	aw_make_link(w, LINK_OUTCOME_GONE, 0);
	w->link.pass.path = true;
	aw_expect_status(w, "GET", "/" AW_CODE "/more", 404);
	assert_int_equal(w->events, 2);
	aw_stop(w);
}

/* The event has the code as one without a link. */
static void a_link_is_not_found_where_it_is_not_shown(void **state)
{
	static const struct told told = {404, COUNTER_NOT_FOUND, HOUR_NOT_FOUND,
					 SHORTLOOP__OUTCOME__OUTCOME_NOT_FOUND};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	w->link.max_visits = 3;
	w->link.domain = "other.example";
	aw_expect_status(w, "GET", "/" AW_CODE, 404);
	assert_told(w, &told, 1);
	assert_string_equal(w->click->code, AW_CODE);
	assert_int_equal(w->click->link_id, 0);
	assert_string_equal(w->click->owner, "");
	aw_stop(w);
}

static void send_counted(struct answer_world *w, struct http_request *req)
{
	responder_send_counted(w->responder, req, &w->link, w->now);
}

static void a_visit_that_is_numbered_is_not_answered_before_it_is(void **state)
{
	static const struct told told = {
		302, COUNTER_302, HOUR_REDIRECTED,
		SHORTLOOP__OUTCOME__OUTCOME_REDIRECTED};
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	w->link.max_visits = 3;
	aw_expect_status(w, "GET", "/" AW_CODE, 202);
	assert_each_is_counted_once(w, 0);
	assert_int_equal(w->events, 0);
	w->answer = send_counted;
	aw_expect_status(w, "GET", "/" AW_CODE "/", 302);
	assert_told(w, &told, 1);
	assert_true(w->click->trimmed);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_false(w->click->trimmed);
	/* A link that has ended has no visits to count. */
	w->answer = aw_send_link;
	w->link.outcome = LINK_OUTCOME_GONE;
	aw_expect_status(w, "GET", "/" AW_CODE, 410);
	aw_stop(w);
}

static void assert_bytes(ProtobufCBinaryData is, const char *text)
{
	assert_int_equal(is.len, strlen(text));
	assert_memory_equal(is.data, text, is.len);
}

static void a_click_has_what_the_request_says(void **state)
{
	struct answer_world *w = aw_start(
		"redirector: {trusted_proxies: [127.0.0.0/8], record_cookies: "
		"[ab], max_referrer: 4, max_user_agent: 5, max_query: 6, "
		"max_accept_language: 2, max_cookie: 3}\n");

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	free(aw_ask(w, "GET", "/" AW_CODE "?a=12345",
		    "User-Agent: agents\r\nReferer: https\r\n"
		    "Accept-Language: de,en\r\nCookie: ab=1234\r\n"
		    "Sec-Purpose: prefetch\r\n"
		    "X-Forwarded-For: 192.0.2.9\r\n"));
	assert_bytes(w->click->user_agent, "agent");
	assert_bytes(w->click->referrer, "http");
	assert_bytes(w->click->accept_language, "de");
	assert_bytes(w->click->query, "a=1234");
	assert_int_equal(w->click->n_cookies, 1);
	assert_string_equal(w->click->cookies[0]->value, "123");
	assert_string_equal(w->click->prefetch, "prefetch");
	assert_string_equal(w->click->edge, "edge-1");
	aw_stop(w);
}

#define PHONE                                                                  \
	"User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS "     \
	"X)\r\n"

static void a_click_has_the_digest_of_the_url_that_was_sent(void **state)
{
	/* One for each device: any, iOS, Android ... */
	static const char digests[] = "any digest......"
				      "digest of iOS..."
				      "................"
				      "................";
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_link;
	aw_redirect(w, 302);
	aw_lead_to(w, SHORTLOOP__DEVICE__DEVICE_IOS, "https://ios.example/");
	w->link.url_digests = (struct http_slice){digests, 64};
	free(aw_ask(w, "GET", "/" AW_CODE, ""));
	assert_bytes(w->click->url_digest, "any digest......");
	free(aw_ask(w, "HEAD", "/" AW_CODE, PHONE));
	assert_bytes(w->click->url_digest, "digest of iOS...");
	w->link.denied = true;
	free(aw_ask(w, "GET", "/" AW_CODE, ""));
	assert_int_equal(w->click->url_digest.len, 0);
	w->link.denied = false;
	w->link.outcome = LINK_OUTCOME_PAUSED;
	free(aw_ask(w, "GET", "/" AW_CODE, ""));
	assert_int_equal(w->click->url_digest.len, 0);
	aw_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_redirect_is_counted_and_told_by_its_status),
		cmocka_unit_test(
			what_has_no_redirect_is_counted_and_told_as_what_it_is),
		cmocka_unit_test(only_a_head_of_a_redirect_is_counted_as_one),
		cmocka_unit_test(
			a_page_is_counted_as_the_redirect_in_whose_place_it_is),
		cmocka_unit_test(
			an_unknown_code_that_leads_to_the_fallback_was_not_found),
		cmocka_unit_test(
			an_unknown_code_leads_to_no_fallback_unless_it_is_to),
		cmocka_unit_test(
			a_paused_link_leads_to_the_fallback_if_it_is_to),
		cmocka_unit_test(links_of_a_paused_domain_are_paused),
		cmocka_unit_test(
			the_event_comes_before_its_counts_and_both_before_the_answer),
		cmocka_unit_test(an_event_has_the_time_by_which_it_is_counted),
		cmocka_unit_test(
			what_the_sink_does_not_take_is_refused_by_its_reason),
		cmocka_unit_test(
			what_is_beyond_its_rate_is_answered_and_not_told),
		cmocka_unit_test(what_is_no_visit_is_counted_as_silent),
		cmocka_unit_test(
			only_the_root_leads_to_the_fallback_without_a_code),
		cmocka_unit_test(a_domains_own_files_are_answered_and_counted),
		cmocka_unit_test(
			what_a_text_has_behind_a_code_is_passed_over_and_told),
		cmocka_unit_test(
			a_code_in_a_text_is_told_as_what_it_was_made_of),
		cmocka_unit_test(
			unknown_codes_in_a_row_have_events_of_one_length),
		cmocka_unit_test(nothing_is_passed_over_where_it_is_not_to),
		cmocka_unit_test(a_path_goes_on_with_a_link_that_passes_it_on),
		cmocka_unit_test(a_link_is_not_found_where_it_is_not_shown),
		cmocka_unit_test(
			a_visit_that_is_numbered_is_not_answered_before_it_is),
		cmocka_unit_test(a_click_has_what_the_request_says),
		cmocka_unit_test(
			a_click_has_the_digest_of_the_url_that_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
