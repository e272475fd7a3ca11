/* Requests that are checked before their body is read: /no is refused, /few may
 * have 10 bytes. */
#include "tests/unit/http/world.h"

static bool admit_by_path(struct http_request *req, size_t *body_max, void *arg)
{
	(void)arg;
	if (http_slice_is(http_path(req), "/few"))
		*body_max = 10;
	if (!http_slice_is(http_path(req), "/no"))
		return true;
	http_reply_problem(req, 401, NULL, "not for you");
	return false;
}

static int set_up_admission(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	world_configure(w);
	*state = w;
	world_open(w);
	http_listener_admit(w->listener, admit_by_path);
	world_run(w);
	return 0;
}

#undef CASE
#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up_admission, world_teardown)

#define POST(path, headers)                                                    \
	"POST " path " HTTP/1.1\r\nHost: a\r\n" headers "\r\n"

/* Returns the answer to a request whose body is never sent. */
static char *answer_to_headers(struct world *w, const char *headers)
{
	int fd = client_connect(w);
	char *answer;

	client_send(fd, headers);
	answer = client_read_all(fd);
	close(fd);
	return answer;
}

static void a_refusal_comes_before_the_body(void **state)
{
	static const char *const requests[] = {
		POST("/no", "Content-Length: 90000\r\n"),
		POST("/no", "Transfer-Encoding: chunked\r\n"),
		POST("/no", "Content-Length: 5\r\nExpect: 100-continue\r\n"),
		/* The body is too long for any request, but a client without
		 * permission is not told so. */
		POST("/no", "Content-Length: 8000000\r\n"),
	};
	struct world *w = *state;
	char *answer;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		answer = answer_to_headers(w, requests[i]);
		assert_int_equal(status_of(answer), 401);
		assert_int_equal(count_occurrences(answer, "HTTP/1.1"), 1);
		assert_non_null(strstr(answer, "Connection: close"));
		free(answer);
	}
	assert_int_equal(atomic_load(&w->handled), 0);
}

static void a_refusal_reaches_a_client_that_sends_on(void **state)
{
	struct world *w = *state;
	char *body = calloc(1, 90001), *answer;
	int fd = client_connect(w);

	memset(body, 'x', 90000);
	client_send(fd, POST("/no", "Content-Length: 90000\r\n"));
	for (int i = 0; i < 5; i++) {
		usleep(20000);
		assert_int_equal(send(fd, body, 18000, MSG_NOSIGNAL), 18000);
	}
	answer = client_read(fd, "not for you", 1);
	assert_int_equal(status_of(answer), 401);
	free(answer);
	free(body);
	close(fd);
}

static void who_is_admitted_is_told_to_continue(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	client_send(fd, POST("/echo", "Content-Length: 5\r\n"
				      "Expect: 100-continue\r\n"));
	answer = client_read(fd, "100 Continue\r\n\r\n", 1);
	free(answer);
	client_send(fd, "hello");
	answer = client_read(fd, "\nhello\n", 1);
	assert_int_equal(status_of(answer), 200);
	assert_null(strstr(answer, "100 Continue"));
	free(answer);
	close(fd);
}

static void the_connection_of_who_is_admitted_is_kept(void **state)
{
	int fd = client_connect(*state);
	char *answer;

	for (int i = 0; i < 3; i++) {
		client_send(fd, POST("/echo", "Content-Length: 5\r\n"));
		usleep(20000);
		client_send(fd, "he");
		usleep(20000);
		client_send(fd, "llo");
		answer = client_read(fd, "\nhello\n", 1);
		assert_int_equal(status_of(answer), 200);
		free(answer);
		client_send(fd,
			    POST("/echo", "Transfer-Encoding: chunked\r\n"));
		usleep(20000);
		client_send(fd,
			    "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n" GET("/next"));
		answer = client_read(fd, "/next", 1);
		assert_non_null(strstr(answer, "\nhello\n"));
		free(answer);
	}
	close(fd);
}

static void a_body_may_be_as_long_as_was_said(void **state)
{
	struct world *w = *state;
	char *answer;

	answer = answer_to_headers(w, POST("/few", "Content-Length: 11\r\n"));
	assert_int_equal(status_of(answer), 413);
	free(answer);
	answer = client_exchange(
		w,
		POST("/few",
		     "Transfer-Encoding: chunked\r\n") "5\r\nhello\r\n6\r\n");
	assert_int_equal(status_of(answer), 413);
	free(answer);
	answer = get_then_close(
		w, POST("/few",
			"Transfer-Encoding: chunked\r\n") "5\r\nhello\r\n5\r\nw"
							  "orld\r\n0\r\n\r\n");
	assert_non_null(strstr(answer, "\nhelloworld\n"));
	free(answer);
	/* The next request has the usual limit. */
	answer = get_then_close(
		w, POST("/echo", "Content-Length: 15\r\n") "fifteen bytes..");
	assert_non_null(strstr(answer, "\nfifteen bytes..\n"));
	free(answer);
}

static void what_came_with_its_headers_goes_to_the_handler(void **state)
{
	struct world *w = *state;
	char *answer = get_then_close(
		w, POST("/no", "Content-Length: 5\r\n") "hello" GET("/no"));

	assert_int_equal(count_occurrences(answer, "200 OK"), 3);
	assert_int_equal(atomic_load(&w->handled), 3);
	free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_refusal_comes_before_the_body),
		CASE(a_refusal_reaches_a_client_that_sends_on),
		CASE(who_is_admitted_is_told_to_continue),
		CASE(the_connection_of_who_is_admitted_is_kept),
		CASE(a_body_may_be_as_long_as_was_said),
		CASE(what_came_with_its_headers_goes_to_the_handler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
