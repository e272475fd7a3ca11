/* The status lines, headers and bodies of answers. */
#include "tests/unit/redirector/answer_world.h"

#define NOINDEX                                                                \
	"domains: {list: [{name: a, hosts: [sho.rt], x_robots_tag: noindex, "  \
	"fallback_url: \"https://fall.back/\"}]}\n"
#define ROBOTS_LINE "X-Robots-Tag: noindex\r\n"
#define IPHONE                                                                 \
	"User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) "  \
	"AppleWebKit/605.1.15 Mobile/15E148"
#define ANDROID                                                                \
	"User-Agent: Mozilla/5.0 (Linux; Android 14; Pixel 8) "                \
	"AppleWebKit/537.36 Chrome/120.0.0.0 Mobile Safari/537.36\r\n"

static struct answer_world *start_with_links(const char *text)
{
	struct answer_world *w = aw_start(text);

	w->answer = aw_send_link;
	return w;
}

static void expect_age(struct answer_world *w, int64_t expires, int64_t now,
		       int seconds)
{
	char line[64];

	w->link.expires = expires;
	w->now = now;
	snprintf(line, sizeof(line),
		 "\r\nCache-Control: private, max-age=%d\r\n", seconds);
	aw_expect(w, "/" AW_CODE, "", line, true);
}

static void a_permanent_redirect_is_kept_no_longer_than_its_link(void **state)
{
	struct answer_world *w =
		start_with_links("redirector: {permanent_max_age: 60s}\n");

	(void)state;
	aw_redirect(w, 301);
	expect_age(w, INT64_MAX, 5000, 60);
	expect_age(w, 66000, 5000, 60);
	expect_age(w, 65000, 5000, 60);
	expect_age(w, 64999, 5000, 59);
	expect_age(w, 35000, 5000, 30);
	expect_age(w, 5000, 5000, 0);
	expect_age(w, 1000, 5000, 0);
	aw_expect(w, "/" AW_CODE, "", "\r\nLocation: https://to.example/a\r\n",
		  true);
	aw_redirect(w, 308);
	expect_age(w, 35000, 5000, 30);
	aw_stop(w);
}

/* Other answers are requested each time, and so are numbered ones. */
static void only_a_permanent_redirect_without_numbers_is_kept(void **state)
{
	struct answer_world *w =
		start_with_links("redirector: {permanent_max_age: 60s}\n");

	(void)state;
	aw_redirect(w, 302);
	aw_expect(w, "/" AW_CODE, "", "max-age=60", false);
	aw_expect(w, "/" AW_CODE, "",
		  "\r\nCache-Control: private, max-age=0\r\n", true);
	aw_stop(w);
}

static void send_counted(struct answer_world *w, struct http_request *req)
{
	responder_send_counted(w->responder, req, &w->link, w->now);
}

static void a_numbered_redirect_is_not_kept(void **state)
{
	struct answer_world *w =
		start_with_links("redirector: {permanent_max_age: 60s}\n");

	(void)state;
	w->answer = send_counted;
	aw_make_link(w, LINK_OUTCOME_REDIRECT, 301);
	w->link.max_visits = 3;
	aw_lead_to(w, SHORTLOOP__DEVICE__DEVICE_ANY, "https://to.example/a");
	aw_expect(w, "/" AW_CODE, "", "max-age", false);
	aw_expect(w, "/" AW_CODE, "", "\r\nCache-Control: no-store\r\n", true);
	aw_stop(w);
}

static size_t count_in_answer(struct answer_world *w, const char *path,
			      const char *text)
{
	char *answer = aw_ask(w, "GET", path, "");
	size_t n = (size_t)count_occurrences(answer, text);

	free(answer);
	return n;
}

static void send_no_code(struct answer_world *w, struct http_request *req)
{
	responder_send_no_code(w->responder, req);
}

static void each_redirect_of_a_host_has_its_tag_once(void **state)
{
	struct answer_world *w = start_with_links(NOINDEX);

	(void)state;
	for (int i = 0; i < 2; i++) {
		aw_redirect(w, 302);
		aw_expect(w, "/" AW_CODE, "",
			  "\r\nLocation: https://to.example/a\r\n", true);
		assert_int_equal(count_in_answer(w, "/" AW_CODE, ROBOTS_LINE),
				 1);
		aw_redirect(w, 301);
		aw_expect(w, "/" AW_CODE, "",
			  "\r\nLocation: https://to.example/a\r\n", true);
		aw_expect(w, "/" AW_CODE, "", "max-age", true);
		assert_int_equal(count_in_answer(w, "/" AW_CODE, ROBOTS_LINE),
				 1);
		aw_make_link(w, LINK_OUTCOME_REDIRECT, 302);
		aw_open(w, SHORTLOOP__DEVICE__DEVICE_ANY, "app://x",
			"https://to.a/");
		aw_expect(w, "/" AW_CODE, "", "GMT\r\nContent-Type: text/html",
			  true);
		assert_int_equal(count_in_answer(w, "/" AW_CODE, ROBOTS_LINE),
				 1);
	}
	w->answer = send_no_code;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(count_in_answer(w, "/", ROBOTS_LINE), 1);
		assert_int_equal(count_in_answer(w, "/", "\r\nLocation: "), 1);
	}
	aw_expect(w, "/", "", "\r\nCache-Control: private, max-age=0\r\n",
		  true);
	aw_stop(w);
}

static void no_redirect_has_a_tag_that_its_host_has_not(void **state)
{
	struct answer_world *w = start_with_links(NULL);

	(void)state;
	aw_redirect(w, 301);
	aw_expect(w, "/" AW_CODE, "", "X-Robots-Tag", false);
	aw_redirect(w, 302);
	aw_expect(w, "/" AW_CODE, "", "X-Robots-Tag", false);
	aw_stop(w);
}

static void a_query_goes_on_with_a_link_that_passes_it_on(void **state)
{
	struct answer_world *w = start_with_links(NULL);
	static const char after[] = "Location: https://to.example/a?b=1\r\n"
				    "Cache-Control: private, max-age=0\r\n"
				    "Content-Length: 0\r\n";

	(void)state;
	aw_redirect(w, 302);
	aw_expect(w, "/" AW_CODE "?b=1", "",
		  "Location: https://to.example/a\r\n", true);
	w->link.pass.query = SHORTLOOP__QUERY_PASS__QUERY_OVERRIDES;
	aw_expect(w, "/" AW_CODE "?b=1", "", after, true);
	aw_expect(w, "/" AW_CODE "?b=1", "", after, true);
	aw_expect(w, "/" AW_CODE, "", "Location: https://to.example/a\r\n",
		  true);
	aw_stop(w);
}

static void each_device_gets_its_own_target(void **state)
{
	struct answer_world *w = start_with_links(NULL);

	(void)state;
	aw_redirect(w, 302);
	aw_lead_to(w, SHORTLOOP__DEVICE__DEVICE_IOS, "https://ios.example/");
	aw_expect(w, "/" AW_CODE, IPHONE "\r\n",
		  "Location: https://ios.example/\r\n", true);
	aw_expect(w, "/" AW_CODE, ANDROID, "Location: https://to.example/a\r\n",
		  true);
	aw_expect(w, "/" AW_CODE, "", "Location: https://to.example/a\r\n",
		  true);
	aw_stop(w);
}

/* The answer must be a page of the redirector. */
static void expect_page(struct answer_world *w, const char *path,
			const char *fields, const char *body)
{
	char *answer = aw_ask(w, "GET", path, fields);
	char length[64];

	assert_int_equal(status_of(answer), 200);
	expect_body(answer, body);
	assert_int_equal(w->answered.body_bytes, strlen(body));
	snprintf(length, sizeof(length), "\r\nContent-Length: %zu\r\n",
		 strlen(body));
	assert_non_null(strstr(answer, length));
	free(answer);
}

static void a_page_has_what_it_opens_and_where_else_to_go(void **state)
{
	char path[64], text[256];
	struct answer_world *w;

	(void)state;
	unit_write_file("<p>{{open}} {{fallback}} {{browser}}</p>", path);
	snprintf(text, sizeof(text), "redirector: {app_page_file: %s}\n", path);
	w = start_with_links(text);
	aw_make_link(w, LINK_OUTCOME_REDIRECT, 302);
	aw_open(w, SHORTLOOP__DEVICE__DEVICE_ANY, "app://x/long",
		"https://to.a/");
	aw_lead_to(w, SHORTLOOP__DEVICE__DEVICE_IOS, "https://ios.example/");
	expect_page(w, "/" AW_CODE, "",
		    "<p>app://x/long https://to.a/ browser</p>");
	/* The page has no values of an earlier visit. */
	expect_page(w, "/" AW_CODE, "",
		    "<p>app://x/long https://to.a/ browser</p>");
	w->link.pass.path = true;
	expect_page(w, "/" AW_CODE "/y", "",
		    "<p>app://x/long/y https://to.a/y browser</p>");
	aw_expect(w, "/" AW_CODE, IPHONE "\r\n",
		  "Location: https://ios.example/\r\n", true);
	aw_stop(w);
	unlink(path);
}

/* The page depends on the app that shows it if no browser opens the target by
 * itself. */
static void a_page_knows_the_app_that_shows_it(void **state)
{
	char path[64], text[256];
	struct answer_world *w;

	(void)state;
	unit_write_file("<p>{{browser}} {{open}} {{fallback}}</p>", path);
	snprintf(text, sizeof(text), "redirector: {app_page_file: %s}\n", path);
	w = start_with_links(text);
	aw_redirect(w, 302);
	aw_open(w, SHORTLOOP__DEVICE__DEVICE_IOS, "app://x", "https://to.a/");
	expect_page(w, "/" AW_CODE,
		    IPHONE " MicroMessenger/8.0.49 NetType/WIFI\r\n",
		    "<p>wechat app://x https://to.a/</p>");
	aw_redirect(w, 302);
	aw_open(w, SHORTLOOP__DEVICE__DEVICE_IOS, "https://x/",
		"https://to.a/");
	expect_page(w, "/" AW_CODE,
		    IPHONE " MicroMessenger/8.0.49 NetType/WIFI\r\n",
		    "<p>browser https://x/ https://to.a/</p>");
	aw_stop(w);
	unlink(path);
}

static void send_page(struct answer_world *w, struct http_request *req)
{
	(void)responder_send_own_path(w->responder, req);
}

static void a_hosts_own_paths_have_their_own_answers(void **state)
{
	static const char robots[] = "User-agent: *\nDisallow:\n";
	struct answer_world *w = aw_start(NULL);
	char *answer;

	(void)state;
	w->answer = send_page;
	expect_page(w, "/robots.txt", "", robots);
	aw_expect(w, "/robots.txt", "",
		  "\r\nContent-Type: text/plain; charset=utf-8\r\n", true);
	answer = aw_ask(w, "GET", "/favicon.ico", "");
	assert_int_equal(status_of(answer), 204);
	assert_int_equal(w->answered.body_bytes, 0);
	free(answer);
	aw_stop(w);
}

static void send_app_file(struct answer_world *w, struct http_request *req)
{
	(void)responder_send_app_file(w->responder, req);
}

static void only_a_file_that_is_sent_has_a_type(void **state)
{
	static const char at[] = "/.well-known/assetlinks.json";
	char path[64], text[256];
	struct answer_world *w;

	(void)state;
	unit_write_file("[]", path);
	snprintf(text, sizeof(text),
		 "domains: {list: [{name: a, hosts: [sho.rt], assetlinks: "
		 "%s}]}\n",
		 path);
	w = aw_start(text);
	w->answer = send_app_file;
	aw_expect(w, at, "", "Content-Type: application/json\r\n", true);
	aw_expect(w, at, "If-None-Match: *\r\n", "HTTP/1.1 304 ", true);
	aw_expect(w, at, "If-None-Match: *\r\n", "Content-Type", false);
	aw_stop(w);
	unlink(path);
}

/* The log has the addresses that clients are identified by. */
static void
each_answer_goes_to_the_access_log_by_the_end_of_its_turn(void **state)
{
	struct answer_world *w =
		start_with_links("redirector: {client_header: x-real-ip}\n");

	(void)state;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_int_equal(w->answers, 1);
	assert_int_equal(w->flushes, 1);
	assert_int_equal(w->style, FORWARDED_ADDRESS);
	aw_stop(w);
}

static void an_answer_that_is_logged_has_the_time_of_its_event(void **state)
{
	struct answer_world *w = start_with_links(NULL);

	(void)state;
	aw_redirect(w, 302);
	aw_expect_status(w, "GET", "/" AW_CODE, 302);
	assert_int_equal(w->answered.time_ms, w->event.time_ms);
	aw_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_permanent_redirect_is_kept_no_longer_than_its_link),
		cmocka_unit_test(
			only_a_permanent_redirect_without_numbers_is_kept),
		cmocka_unit_test(a_numbered_redirect_is_not_kept),
		cmocka_unit_test(each_redirect_of_a_host_has_its_tag_once),
		cmocka_unit_test(no_redirect_has_a_tag_that_its_host_has_not),
		cmocka_unit_test(a_query_goes_on_with_a_link_that_passes_it_on),
		cmocka_unit_test(each_device_gets_its_own_target),
		cmocka_unit_test(a_page_has_what_it_opens_and_where_else_to_go),
		cmocka_unit_test(a_page_knows_the_app_that_shows_it),
		cmocka_unit_test(a_hosts_own_paths_have_their_own_answers),
		cmocka_unit_test(only_a_file_that_is_sent_has_a_type),
		cmocka_unit_test(
			each_answer_goes_to_the_access_log_by_the_end_of_its_turn),
		cmocka_unit_test(
			an_answer_that_is_logged_has_the_time_of_its_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
