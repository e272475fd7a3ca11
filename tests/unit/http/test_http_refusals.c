#include "world.h"

#define HOST "Host: a\r\n"
#define POST "POST /echo HTTP/1.1\r\n" HOST

#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
#define X16	"xxxxxxxxxxxxxxxx"
#define X64	X16 X16 X16 X16
#define X256	X64 X64 X64 X64

struct refusal {
	const char *name;
	const char *request;
	int status;
};

static const struct refusal refusals[] = {
	{"garbage", "\x16\x03\x01\x02", 400},
	{"lower_case_method", "get / HTTP/1.1\r\n" HOST "\r\n", 501},
	{"unknown_method", "FETCH / HTTP/1.1\r\n" HOST "\r\n", 501},
	{"connect", "CONNECT a:443 HTTP/1.1\r\n" HOST "\r\n", 501},
	{"http_0_9", "GET /\r\n\r\n", 400},
	{"http_2_preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	{"http_2_version", "GET / HTTP/2.0\r\n" HOST "\r\n", 505},
	{"http_1_2", "GET / HTTP/1.2\r\n" HOST "\r\n", 505},
	{"rtsp", "DESCRIBE / RTSP/1.0\r\n" HOST "\r\n", 400},
	{"two_spaces_before_target", "GET  / HTTP/1.1\r\n" HOST "\r\n", 400},
	{"two_spaces_after_target", "GET /  HTTP/1.1\r\n" HOST "\r\n", 400},
	{"tab_in_request_line", "GET\t/ HTTP/1.1\r\n" HOST "\r\n", 400},
	{"target_that_is_no_path", "GET a HTTP/1.1\r\n" HOST "\r\n", 400},
	{"fragment_in_target", "GET /#a HTTP/1.1\r\n" HOST "\r\n", 400},
	{"control_character_in_target", "GET /\x01 HTTP/1.1\r\n" HOST "\r\n",
	 400},
	{"no_host", "GET / HTTP/1.1\r\n\r\n", 400},
	{"two_hosts", "GET / HTTP/1.1\r\n" HOST HOST "\r\n", 400},
	{"host_with_letters_as_port", "GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
	 400},
	{"host_with_two_ports", "GET / HTTP/1.1\r\nHost: a:1:2\r\n\r\n", 400},
	{"host_with_a_bad_escape", "GET / HTTP/1.1\r\nHost: a%4g\r\n\r\n", 400},
	{"host_with_half_an_escape", "GET / HTTP/1.1\r\nHost: a%4\r\n\r\n",
	 400},
	{"host_with_an_open_bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
	 400},
	{"host_without_brackets", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", 400},
	{"host_with_no_address", "GET / HTTP/1.1\r\nHost: [a]\r\n\r\n", 400},
	{"host_with_an_address_of_46_characters",
	 "GET / HTTP/1.1\r\nHost: [" X16 X16 "xxxxxxxxxxxxxx]\r\n\r\n", 400},
	{"host_with_text_behind_the_address",
	 "GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n", 400},
	{"target_without_authority", "GET http:///a HTTP/1.1\r\n" HOST "\r\n",
	 400},
	{"target_with_a_port_alone",
	 "GET http://:80/a HTTP/1.1\r\n" HOST "\r\n", 400},
	{"target_with_userinfo", "GET http://u@a/ HTTP/1.1\r\n" HOST "\r\n",
	 400},
	{"request_line_too_long",
	 "GET /" X256 X256 X256 X256 X256 X256 X256 X256 " HTTP/1.1\r\n" HOST
	 "\r\n",
	 414},
	{"headers_too_long",
	 "GET / HTTP/1.1\r\n" HOST "A: " X256 X256 X256 X256 X256 X256 X256 X256
	 "\r\n\r\n",
	 431},
	{"unknown_method_of_no_request", "FETCH /\r\n\r\n", 400},
	{"unknown_method_and_bare_lf", "FETCH / HTTP/1.1\n" HOST "\r\n", 400},
	{"unknown_method_that_is_no_token", "F(X) / HTTP/1.1\r\n" HOST "\r\n",
	 400},
	{"http_0_9_said", "GET / HTTP/0.9\r\n" HOST "\r\n", 505},
	{"host_with_a_slash", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
	{"space_before_colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
	{"space_in_name", "GET / HTTP/1.1\r\n" HOST "A b: c\r\n\r\n", 400},
	{"space_before_name", "GET / HTTP/1.1\r\n " HOST "\r\n", 400},
	{"empty_name", "GET / HTTP/1.1\r\n" HOST ": b\r\n\r\n", 400},
	{"folded_value", "GET / HTTP/1.1\r\n" HOST "A: b\r\n c\r\n\r\n", 400},
	{"folded_with_tab", "GET / HTTP/1.1\r\n" HOST "A: b\r\n\tc\r\n\r\n",
	 400},
	{"fold_to_nothing", "GET / HTTP/1.1\r\n" HOST "A: b\r\n \r\n\r\n", 400},
	{"bare_lf_after_request_line", "GET / HTTP/1.1\n" HOST "\r\n", 400},
	{"bare_lf_after_header", "GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
	{"bare_lf_between_headers",
	 "GET / HTTP/1.1\r\n" HOST "A: b\nC: d\r\n\r\n", 400},
	{"bare_lf_at_the_end", "GET / HTTP/1.1\r\n" HOST "\n", 400},
	{"bare_cr_in_value", "GET / HTTP/1.1\r\n" HOST "A: b\rc\r\n\r\n", 400},
	{"bare_cr_between_headers",
	 "GET / HTTP/1.1\r\n" HOST "A: b\rC: d\r\n\r\n", 400},
	{"bare_cr_before_request", "\rGET / HTTP/1.1\r\n" HOST "\r\n", 400},
	{"bare_lf_before_request", "\nGET / HTTP/1.1\r\n" HOST "\r\n", 400},
	{"control_character_in_value",
	 "GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", 400},
	{"length_and_coding",
	 POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "0\r\n\r\n",
	 400},
	{"coding_and_length",
	 POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
	      "0\r\n\r\n",
	 400},
	{"two_lengths",
	 POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc", 400},
	{"list_of_lengths", POST "Content-Length: 3, 3\r\n\r\nabc", 400},
	{"signed_length", POST "Content-Length: +3\r\n\r\nabc", 400},
	{"negative_length", POST "Content-Length: -3\r\n\r\nabc", 400},
	{"hexadecimal_length", POST "Content-Length: 0x3\r\n\r\nabc", 400},
	{"empty_length", POST "Content-Length: \r\n\r\n", 400},
	{"length_with_a_space", POST "Content-Length: 1 2\r\n\r\na", 400},
	{"length_beyond_64_bits",
	 POST "Content-Length: 18446744073709551617\r\n\r\na", 400},
	{"two_codings",
	 POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "0\r\n\r\n",
	 400},
	{"other_coding", POST "Transfer-Encoding: gzip\r\n\r\n", 400},
	{"coding_before_chunked",
	 POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
	{"chunked_twice",
	 POST "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400},
	{"empty_coding_before_chunked",
	 POST "Transfer-Encoding: , chunked\r\n\r\n0\r\n\r\n", 400},
	{"coding_after_chunked",
	 POST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 400},
	{"coding_that_looks_chunked",
	 POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 400},
	{"coding_in_1_0",
	 "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
	{"chunk_size_no_number",
	 POST "Transfer-Encoding: chunked\r\n\r\ng\r\n\r\n", 400},
	{"chunk_size_negative",
	 POST "Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n0\r\n\r\n", 400},
	{"chunk_size_prefixed",
	 POST "Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n", 400},
	{"chunk_size_beyond_64_bits",
	 POST "Transfer-Encoding: chunked\r\n\r\n10000000000000001\r\na", 400},
	{"chunk_size_missing", POST "Transfer-Encoding: chunked\r\n\r\n\r\n",
	 400},
	{"chunk_size_with_bare_lf",
	 POST "Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n", 400},
	{"chunk_size_with_space",
	 POST "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n", 400},
	{"chunk_too_long_for_its_size",
	 POST "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
	{"chunk_ended_by_bare_lf",
	 POST "Transfer-Encoding: chunked\r\n\r\n1\r\na\n0\r\n\r\n", 400},
	{"chunk_extension_with_bare_lf",
	 POST "Transfer-Encoding: chunked\r\n\r\n1;a=b\na\r\n0\r\n\r\n", 400},
	{"last_chunk_with_bare_lf",
	 POST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\n\r\n", 400},
	{"body_ended_by_bare_lf",
	 POST "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\n", 400},
	{"trailer_without_colon", CHUNKED "A\r\n\r\n", 400},
	{"trailer_without_name", CHUNKED ": b\r\n\r\n", 400},
	{"trailer_with_space_before_colon", CHUNKED "A : b\r\n\r\n", 400},
	{"trailer_with_space_before_name", CHUNKED " A: b\r\n\r\n", 400},
	{"trailer_folded", CHUNKED "A: b\r\n c\r\n\r\n", 400},
	{"trailer_with_bare_lf", CHUNKED "A: b\n\r\n", 400},
	{"trailer_with_bare_lf_between", CHUNKED "A: b\nC: d\r\n\r\n", 400},
	{"trailer_with_bare_cr", CHUNKED "A: b\rC: d\r\n\r\n", 400},
	{"trailer_ended_by_bare_lf", CHUNKED "A: b\r\n\n", 400},
	{"trailer_with_control_character", CHUNKED "A: \x01\r\n\r\n", 400},
	{"trailer_too_long",
	 CHUNKED "A: " X256 X256 X256 X256 X256 X256 X256 X256 "\r\n\r\n", 431},
	{"star_of_another_method", "GET * HTTP/1.1\r\n" HOST "\r\n", 400},
	{"star_with_query", "OPTIONS *?a HTTP/1.1\r\n" HOST "\r\n", 400},
	{"body_too_long", POST "Content-Length: 100001\r\n\r\n", 413},
	{"chunks_too_long", POST "Transfer-Encoding: chunked\r\n\r\n186a1\r\na",
	 413},
	{"unknown_expectation", POST "Expect: 200-ok\r\n\r\n", 417},
};

static void expect_refusal(const struct refusal *r, const char *answer)
{
	const char *second = strstr(answer, "\r\n\r\n");

	assert_int_equal(status_of(answer), r->status);
	assert_non_null(strstr(answer, "\r\nConnection: close\r\n"));
	/* Bytes after the refusal must not be taken for another request. */
	assert_non_null(second);
	assert_null(strstr(second, "HTTP/1.1 "));
}

struct refusal_world {
	struct world *world;
	const struct refusal *refusal;
};

static int setup_refusal(void **state)
{
	struct refusal_world *rw = calloc(1, sizeof(*rw));

	rw->refusal = *state;
	*state = rw;
	return world_setup((void **)&rw->world);
}

static int teardown_refusal(void **state)
{
	struct refusal_world *rw = *state;

	world_teardown((void **)&rw->world);
	free(rw);
	return 0;
}

static void is_refused_and_closed(void **state)
{
	struct refusal_world *rw = *state;
	char *answer = client_exchange(rw->world, rw->refusal->request);

	expect_refusal(rw->refusal, answer);
	assert_int_equal(atomic_load(&rw->world->handled), 0);
	free(answer);
}

static void is_refused_byte_by_byte(void **state)
{
	struct refusal_world *rw = *state;
	const char *text = rw->refusal->request;
	int fd = client_connect(rw->world);
	char *answer;

	/* The server may have refused and closed before the last byte. */
	for (; *text; text++) {
		if (send(fd, text, 1, MSG_NOSIGNAL) != 1)
			break;
		usleep(200);
	}
	answer = client_read_all(fd);
	expect_refusal(rw->refusal, answer);
	free(answer);
	close(fd);
}

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

static char names[2 * REFUSALS][64];

static void add_test(struct CMUnitTest *test, size_t i, const char *suffix,
		     const struct refusal *r, CMUnitTestFunction fn)
{
	snprintf(names[i], sizeof(names[i]), "%s_%s", r->name, suffix);
	*test = (struct CMUnitTest){.name = names[i],
				    .test_func = fn,
				    .setup_func = setup_refusal,
				    .teardown_func = teardown_refusal};
	/* cmocka's state is not const; the tests only read it. */
	memcpy(&test->initial_state, &r, sizeof(void *));
}

int main(void)
{
	struct CMUnitTest tests[2 * REFUSALS];

	for (size_t i = 0; i < REFUSALS; i++) {
		add_test(&tests[2 * i], 2 * i, "is_refused", &refusals[i],
			 is_refused_and_closed);
		add_test(&tests[2 * i + 1], 2 * i + 1,
			 "is_refused_byte_by_byte", &refusals[i],
			 is_refused_byte_by_byte);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
