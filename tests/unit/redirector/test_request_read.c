/* The client of a request, and the headers that a click event has. */
#include "tests/unit/redirector/answer_world.h"

#define TRUSTED "redirector: {trusted_proxies: [127.0.0.0/8, 10.0.0.0/8]}\n"

static void send_client(struct answer_world *w, struct http_request *req)
{
	struct address is = responder_client(w->responder, req);
	char text[INET6_ADDRSTRLEN] = "unknown";

	if (is.len)
		inet_ntop(is.len == 4 ? AF_INET : AF_INET6, is.bytes, text,
			  sizeof(text));
	http_reply_text(req, 200, text);
}

/* Limits and events must have the same client. */
static void expect_client(struct answer_world *w, const char *fields,
			  const char *client)
{
	char *answer, text[INET6_ADDRSTRLEN];

	w->answer = send_client;
	answer = aw_ask(w, "GET", "/" AW_CODE, fields);
	expect_body(answer, client);
	free(answer);
	w->answer = aw_send_unknown;
	free(aw_ask(w, "GET", "/" AW_CODE, fields));
	inet_ntop(w->click->client_ip.len == 4 ? AF_INET : AF_INET6,
		  w->click->client_ip.data, text, sizeof(text));
	assert_string_equal(text, client);
}

static void a_client_is_who_a_trusted_proxy_says(void **state)
{
	struct answer_world *w = aw_start(TRUSTED);

	(void)state;
	expect_client(w, "", "127.0.0.1");
	expect_client(w, "X-Forwarded-For: 192.0.2.1, 192.0.2.9\r\n",
		      "192.0.2.9");
	expect_client(w, "X-Forwarded-For: 192.0.2.1, 10.0.0.9\r\n",
		      "192.0.2.1");
	/* No other header gives the client, whatever the length of its name. */
	expect_client(w, "X-Real-IP: 192.0.2.9\r\n", "127.0.0.1");
	expect_client(w, "Forwarded: for=192.0.2.9\r\n", "127.0.0.1");
	expect_client(w, "X-Forwarded-Fox: 192.0.2.9\r\n", "127.0.0.1");
	expect_client(w, "Y-Forwarded-For: 192.0.2.9\r\n", "127.0.0.1");
	expect_client(w, "X-Forwarded-Fo: 192.0.2.9\r\n", "127.0.0.1");
	aw_stop(w);
}

static void the_header_is_the_one_that_is_set(void **state)
{
	static const char all[] = "X-Forwarded-For: 192.0.2.1\r\n"
				  "Forwarded: for=192.0.2.2\r\n"
				  "X-Real-IP: 192.0.2.3\r\n";
	static const struct {
		const char *set, *client;
	} cases[] = {{"x-forwarded-for", "192.0.2.1"},
		     {"forwarded", "192.0.2.2"},
		     {"x-real-ip", "192.0.2.3"}};
	char text[256];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct answer_world *w;

		snprintf(text, sizeof(text),
			 "redirector: {client_header: %s, trusted_proxies: "
			 "[127.0.0.0/8]}\n",
			 cases[i].set);
		w = aw_start(text);
		expect_client(w, all, cases[i].client);
		aw_stop(w);
	}
}

static void nobody_is_believed_who_is_not_trusted(void **state)
{
	struct answer_world *w =
		aw_start("redirector: {trusted_proxies: [10.0.0.0/8]}\n");

	(void)state;
	expect_client(w, "X-Forwarded-For: 192.0.2.1\r\n", "127.0.0.1");
	aw_stop(w);
}

/* Puts seventeen lines; the client's is this one, the leftmost being 0. */
static void put_lines(char fields[1024], int client)
{
	size_t len = 0;

	for (int i = 0; i < 17; i++)
		len += (size_t)snprintf(
			fields + len, 1024 - len, "X-Forwarded-For: %s%d\r\n",
			i == client ? "192.0.2." : "10.0.0.", i + 1);
}

static void the_last_sixteen_lines_are_looked_at(void **state)
{
	struct answer_world *w = aw_start(TRUSTED);
	char fields[1024];

	(void)state;
	put_lines(fields, 16);
	expect_client(w, fields, "192.0.2.17");
	put_lines(fields, 15);
	expect_client(w, fields, "192.0.2.16");
	put_lines(fields, 1);
	expect_client(w, fields, "192.0.2.2");
	/* All remaining addresses are proxies. */
	put_lines(fields, 0);
	expect_client(w, fields, "10.0.0.2");
	aw_stop(w);
}

static void the_host_is_the_targets_or_that_of_its_header(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_unknown;
	aw_expect_status(w, "GET", "http://other.example/" AW_CODE, 404);
	assert_string_equal(w->click->domain, "other.example");
	free(client_exchange(&w->http, "GET http://third.example/" AW_CODE
				       " HTTP/1.0\r\n\r\n"));
	aw_meet(w);
	assert_string_equal(w->click->domain, "third.example");
	free(client_exchange(&w->http, "GET /" AW_CODE " HTTP/1.0\r\n\r\n"));
	aw_meet(w);
	assert_string_equal(w->click->domain, "");
	aw_stop(w);
}

static void expect_prefetch(struct answer_world *w, const char *fields,
			    const char *want)
{
	free(aw_ask(w, "GET", "/" AW_CODE, fields));
	assert_string_equal(w->click->prefetch, want);
}

static void a_prefetch_is_told_by_whatever_name_it_has(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_unknown;
	expect_prefetch(w, "", "");
	expect_prefetch(w, "Sec-Purpose: prefetch\r\n", "prefetch");
	expect_prefetch(w, "Purpose: preview\r\n", "preview");
	expect_prefetch(w, "X-Purpose: preview\r\n", "preview");
	expect_prefetch(w, "X-Moz: prefetch\r\n", "prefetch");
	expect_prefetch(w, "Sec-Purposf: prefetch\r\n", "");
	expect_prefetch(w, "Qurpose: prefetch\r\n", "");
	aw_stop(w);
}

static void of_a_header_that_comes_twice_the_first_counts(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = aw_send_unknown;
	free(aw_ask(w, "GET", "/" AW_CODE, "Referer: a\r\nReferer: b\r\n"));
	assert_int_equal(w->click->referrer.len, 1);
	assert_int_equal(w->click->referrer.data[0], 'a');
	aw_stop(w);
}

static void send_click_read(struct answer_world *w, struct http_request *req)
{
	struct click click = {.status = 7};

	responder_read_click(w->responder, req, &click);
	if (click.status != 0 || !http_slice_is(click.user_agent, "me"))
		w->wrong = true;
	http_reply_text(req, 200, "read");
}

/* At this time the answer is not known yet. */
static void a_click_can_be_read_without_being_told(void **state)
{
	struct answer_world *w = aw_start(NULL);

	(void)state;
	w->answer = send_click_read;
	free(aw_ask(w, "GET", "/" AW_CODE, "User-Agent: me\r\n"));
	assert_int_equal(w->events, 0);
	aw_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_who_a_trusted_proxy_says),
		cmocka_unit_test(the_header_is_the_one_that_is_set),
		cmocka_unit_test(nobody_is_believed_who_is_not_trusted),
		cmocka_unit_test(the_last_sixteen_lines_are_looked_at),
		cmocka_unit_test(the_host_is_the_targets_or_that_of_its_header),
		cmocka_unit_test(a_prefetch_is_told_by_whatever_name_it_has),
		cmocka_unit_test(of_a_header_that_comes_twice_the_first_counts),
		cmocka_unit_test(a_click_can_be_read_without_being_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
