/* The parts of a request that a handler can read, and how answers are written.
 */
#include "world.h"

/* Each test adds a listener with its own handler to the world's loop. */
struct seen {
	struct world *world;
	struct http_listener *listener;
	int fd;
};

static struct seen send_to_handler(void **state, http_handler *handler,
				   const char *request)
{
	struct seen s = {.world = *state};
	struct world *w = s.world;

	/* The loop already runs, and a listener made on its thread would need a
	 * round trip.  So the loop is stopped, and this listener is ready
	 * before the other gets a request. */
	loop_stop(w->loop);
	pthread_join(w->thread, NULL);
	s.listener = http_listener_new(w->loop, "127.0.0.1:0", &w->config,
				       handler, w, NULL, "seen", &w->err);
	assert_non_null(s.listener);
	w->port = http_listener_port(s.listener);
	pthread_create(&w->thread, NULL, world_main, w);
	s.fd = client_connect(w);
	client_send(s.fd, request);
	return s;
}

static char *answer_of(struct seen *s)
{
	struct world *w = s->world;
	char *answer = client_read_all(s->fd);

	close(s->fd);
	loop_stop(w->loop);
	pthread_join(w->thread, NULL);
	http_listener_free(s->listener);
	pthread_create(&w->thread, NULL, world_main, w);
	return answer;
}

static char *request_answer(void **state, http_handler *handler,
			    const char *request)
{
	struct seen s = send_to_handler(state, handler, request);

	return answer_of(&s);
}

#define CLOSE "Host: a\r\nConnection: close\r\n"

static void reply_headers(struct http_request *req, void *arg)
{
	struct buf out = {0};
	struct http_header h;

	(void)arg;
	for (size_t i = 0; i < http_header_count(req); i++) {
		h = http_header_at(req, i);
		buf_printf(&out, "[%.*s=%.*s]", (int)h.name.len, h.name.data,
			   (int)h.value.len, h.value.data);
	}
	http_reply(req, 200, NULL, out.data, out.len);
	buf_free(&out);
}

static void headers_come_in_order_without_blanks_around_values(void **state)
{
	char *answer =
		request_answer(state, reply_headers,
			       "GET / HTTP/1.1\r\n" CLOSE "B:  b c \t\r\nD:\r\n"
			       "E:\t\r\n\r\n");

	assert_non_null(strstr(answer, "[Host=a][Connection=close][B=b c]"
				       "[D=][E=]"));
	free(answer);
}

static void the_host_is_that_of_an_absolute_target(void **state)
{
	char *answer =
		request_answer(state, reply_headers,
			       "GET HTTP://b:80/?c HTTP/1.1\r\n" CLOSE "\r\n");

	assert_non_null(strstr(answer, "[Host=b:80][Connection=close]"));
	free(answer);
}

static void reply_host(struct http_request *req, void *arg)
{
	struct http_slice host = http_host(req);

	(void)arg;
	http_reply(req, host.data ? 200 : 204, NULL, host.data, host.len);
}

static void whom_a_request_is_for_is_its_target_or_its_header(void **state)
{
	static const struct {
		const char *request, *host;
	} cases[] = {
		{"GET http://b:80/ HTTP/1.1\r\n" CLOSE "\r\n", "b:80"},
		{"GET / HTTP/1.1\r\n" CLOSE "\r\n", "a"},
		{"GET http://b/ HTTP/1.0\r\n\r\n", "b"},
		{"GET http://b/ HTTP/1.0\r\nHost: a\r\n\r\n", "b"},
		{"GET / HTTP/1.0\r\n\r\n", ""},
		/* The host of the request before is no longer valid. */
		{"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"
		 "GET / HTTP/1.1\r\n" CLOSE "\r\n",
		 "a"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *answer =
			request_answer(state, reply_host, cases[i].request);
		const char *last = answer;

		for (const char *at = answer; at; at = strstr(at + 1, "HTTP/"))
			last = at;
		assert_string_equal(strstr(last, "\r\n\r\n") + 4,
				    cases[i].host);
		free(answer);
	}
}

static void reply_one_header(struct http_request *req, void *arg)
{
	struct http_slice value = http_header_get(req, "x-Thing");

	(void)arg;
	http_reply(req, value.data ? 200 : 204, NULL, value.data, value.len);
}

static void a_header_is_found_whatever_its_case(void **state)
{
	char *answer = request_answer(state, reply_one_header,
				      "GET / HTTP/1.1\r\n" CLOSE "X-Thin: 0\r\n"
				      "X-THING: 1\r\nX-Thing: 2\r\n\r\n");

	assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "1");
	free(answer);
}

static void an_absent_header_is_null(void **state)
{
	char *answer = request_answer(state, reply_one_header,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_int_equal(status_of(answer), 204);
	assert_null(strstr(answer, "Content-Length"));
	free(answer);
}

static void reply_whether_json(struct http_request *req, void *arg)
{
	(void)arg;
	http_reply(req, http_type_is(req, "application/json") ? 200 : 415, NULL,
		   NULL, 0);
}

static void a_type_is_known_whatever_its_case_and_parameters(void **state)
{
	static const struct {
		const char *header;
		int status;
	} cases[] = {
		{"Content-Type: application/json\r\n", 200},
		{"content-type: Application/JSON ; charset=utf-8\r\n", 200},
		{"Content-Type: application/json;charset=utf-8\r\n", 200},
		{"Content-Type: application/json2\r\n", 415},
		{"Content-Type: application/jso\r\n", 415},
		{"Content-Type: text/plain; application/json\r\n", 415},
		{"Content-Type:\r\n", 415},
		{"", 415},
	};
	char request[160], *answer;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(request, sizeof(request),
			 "GET / HTTP/1.1\r\n" CLOSE "%s\r\n", cases[i].header);
		answer = request_answer(state, reply_whether_json, request);
		assert_int_equal(status_of(answer), cases[i].status);
		free(answer);
	}
}

static void reply_cookie(struct http_request *req, void *arg)
{
	struct http_slice value = http_cookie_get(req, "id");

	(void)arg;
	http_reply(req, value.data ? 200 : 404, NULL, value.data, value.len);
}

static void expect_cookie(void **state, const char *cookies, int status,
			  const char *value)
{
	char request[256], *answer;

	snprintf(request, sizeof(request),
		 "GET / HTTP/1.1\r\n" CLOSE "%s\r\n\r\n", cookies);
	answer = request_answer(state, reply_cookie, request);
	assert_int_equal(status_of(answer), status);
	assert_string_equal(strstr(answer, "\r\n\r\n") + 4, value);
	free(answer);
}

static void a_cookie_is_found_among_others(void **state)
{
	expect_cookie(state, "Cookie: xid=1; id=2; idx=3", 200, "2");
}

static void a_cookie_is_found_in_a_second_header(void **state)
{
	expect_cookie(state, "Cookie: a=1\r\nCookie: id=\"4\"", 200, "4");
}

static void an_empty_cookie_is_there(void **state)
{
	expect_cookie(state, "Cookie: id=", 200, "");
}

static void a_cookie_with_another_case_is_another(void **state)
{
	expect_cookie(state, "Cookie: ID=1; ; =; id", 404, "");
}

static void reply_peer(struct http_request *req, void *arg)
{
	struct sockaddr_in peer;
	char text[INET_ADDRSTRLEN];

	(void)arg;
	memcpy(&peer, http_peer(req), sizeof(peer));
	inet_ntop(peer.sin_family, &peer.sin_addr, text, sizeof(text));
	http_reply_text(req, 200, text);
}

static void the_peer_is_the_address_of_the_client(void **state)
{
	char *answer = request_answer(state, reply_peer,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "127.0.0.1");
	free(answer);
}

static void reply_fields(struct http_request *req, void *arg)
{
	const struct http_field fields[] = {
		{"Location", "https://b/"}, {"X-Y", ""}, {NULL, NULL}};

	(void)arg;
	http_reply(req, 302, fields, NULL, 0);
}

static void fields_are_written_as_given(void **state)
{
	char *answer = request_answer(state, reply_fields,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_memory_equal(answer, "HTTP/1.1 302 Found\r\n", 20);
	assert_non_null(
		strstr(answer, "\r\nLocation: https://b/\r\nX-Y: \r\n"));
	assert_non_null(strstr(answer, "\r\nContent-Length: 0\r\n"));
	free(answer);
}

static void reply_split_field(struct http_request *req, void *arg)
{
	const struct http_field fields[] = {{"Location", "/\r\nEvil: 1"},
					    {NULL, NULL}};

	(void)arg;
	http_reply(req, 302, fields, "body", 4);
}

static void a_value_with_a_line_end_becomes_a_500(void **state)
{
	char *answer = request_answer(state, reply_split_field,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_int_equal(status_of(answer), 500);
	assert_null(strstr(answer, "Evil"));
	free(answer);
}

static void reply_lines(struct http_request *req, void *arg)
{
	static const char lines[] = "Location: /a\r\nX: y\r\n";

	(void)arg;
	http_reply_lines(req, 301,
			 (struct http_slice){lines, sizeof(lines) - 1}, "abc",
			 3);
}

static void lines_go_out_as_they_are(void **state)
{
	char *answer = request_answer(state, reply_lines,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_non_null(strstr(answer, "\r\nLocation: /a\r\nX: y\r\n"));
	assert_non_null(strstr(answer, "\r\nContent-Length: 3\r\n"));
	assert_string_equal(strstr(answer, "\r\n\r\n") + 4, "abc");
	free(answer);
}

static void reply_problem(struct http_request *req, void *arg)
{
	const struct http_field fields[] = {{"Retry-After", "7"}, {NULL, NULL}};

	(void)arg;
	http_reply_problem(req, 503, fields, "say \"%s\"", "please");
}

static void a_problem_is_json_with_its_fields(void **state)
{
	char *answer = request_answer(state, reply_problem,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_non_null(strstr(answer, "\r\nRetry-After: 7\r\n"));
	assert_non_null(
		strstr(answer, "\r\nContent-Type: application/problem+json"));
	assert_string_equal(strstr(answer, "\r\n\r\n") + 4,
			    "{\"type\":\"/problems/unavailable\","
			    "\"title\":\"Service Unavailable\",\"status\":503,"
			    "\"detail\":\"say \\\"please\\\"\"}");
	free(answer);
}

static void reply_unavailable(struct http_request *req, void *arg)
{
	static const struct http_field none[] = {{NULL, NULL}};

	(void)arg;
	http_reply_problem(req, 503, none, "wait");
}

static void a_503_says_when_to_try_again(void **state)
{
	char *answer = request_answer(state, reply_unavailable,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_non_null(strstr(answer, "\r\nRetry-After: 1\r\n"));
	free(answer);
}

static void reply_odd_problem(struct http_request *req, void *arg)
{
	(void)arg;
	http_reply_problem(req, 400, NULL, "\xff\xfe");
}

static void what_is_not_utf8_in_a_detail_is_questioned(void **state)
{
	char *answer = request_answer(state, reply_odd_problem,
				      "GET / HTTP/1.1\r\n" CLOSE "\r\n");

	assert_null(strstr(answer, "Retry-After"));
	assert_string_equal(strstr(answer, "\r\n\r\n") + 4,
			    "{\"type\":\"/problems/invalid\","
			    "\"title\":\"Bad Request\",\"status\":400,"
			    "\"detail\":\"??\"}");
	free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(headers_come_in_order_without_blanks_around_values),
		CASE(the_host_is_that_of_an_absolute_target),
		CASE(whom_a_request_is_for_is_its_target_or_its_header),
		CASE(a_header_is_found_whatever_its_case),
		CASE(an_absent_header_is_null),
		CASE(a_type_is_known_whatever_its_case_and_parameters),
		CASE(a_cookie_is_found_among_others),
		CASE(a_cookie_is_found_in_a_second_header),
		CASE(an_empty_cookie_is_there),
		CASE(a_cookie_with_another_case_is_another),
		CASE(the_peer_is_the_address_of_the_client),
		CASE(fields_are_written_as_given),
		CASE(a_value_with_a_line_end_becomes_a_500),
		CASE(lines_go_out_as_they_are),
		CASE(a_problem_is_json_with_its_fields),
		CASE(a_503_says_when_to_try_again),
		CASE(what_is_not_utf8_in_a_detail_is_questioned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
