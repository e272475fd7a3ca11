/* Addresses in access logs: the peer, and the client that proxies name. */
#include "tests/unit/collector/access_world.h"

static void addresses_are_read_in_all_their_forms(void **state)
{
	static const struct {
		const char *text, *bytes;
		size_t len;
	} cases[] = {
		{"203.0.113.12", FIRST, 4},
		{"203.0.113.12:51234", FIRST, 4},
		{"203.0.113.12, 198.51.100.7", FIRST, 4},
		{"203.0.113.12,198.51.100.7", FIRST, 4},
		{"10.0.0.1, 203.0.113.12, 198.51.100.7", FIRST, 4},
		{"unknown, 203.0.113.12", FIRST, 4},
		{"evil<>, 203.0.113.12:80", FIRST, 4},
		{"10.0.0.1, 192.168.0.1", "\x0a\x00\x00\x01", 4},
		{"::ffff:203.0.113.12", FIRST, 4},
		{"[::ffff:203.0.113.12]:80", FIRST, 4},
		{"[2001:db8::1]:443", SIX, 16},
		{"[2001:db8::1]", SIX, 16},
		{"2001:db8::1", SIX, 16},
		{"\\\"[2001:db8::1]\\\"", SIX, 16},
		{"2001:db8::1%eth0", SIX, 16},
		{"[2001:db8::1%25eth0]:443", SIX, 16},
		{"for=203.0.113.12;proto=https;by=198.51.100.7", FIRST, 4},
		{"For=\\\"[2001:db8::1]:443\\\", for=198.51.100.7", SIX, 16},
		{"for=unknown, for=203.0.113.12", FIRST, 4},
		{"for=_hidden;host=a, for=203.0.113.12", FIRST, 4},
		{"-", NULL, 0},
		{"", NULL, 0},
		{"unknown", NULL, 0},
		{"_hidden", NULL, 0},
		{"unix:", NULL, 0},
		{"for=unknown", NULL, 0},
	};
	struct world *w = *state;
	char line[300];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 \"%s\" /abc",
			 cases[i].text);
		for (int field = 0; field < 3; field++) {
			static const char *const formats[] = {
				"$msec \"$remote_addr\" $uri",
				"$msec \"$http_x_forwarded_for\" $uri",
				"$msec \"$http_cf_connecting_ip\" $uri"};

			read_line(w, formats[field], line);
			assert_int_equal(w->v.ip_len, cases[i].len);
			assert_memory_equal(w->v.ip, cases[i].bytes,
					    cases[i].len);
		}
	}
}

static void a_list_without_quotes_is_one_field(void **state)
{
	struct world *w = *state;

	read_line(w,
		  "$http_x_forwarded_for - $remote_user [$time_local] "
		  "\"$request\"",
		  "203.0.113.12, 198.51.100.7 - - [17/May/2015:10:05:03 +0000] "
		  "\"GET /abc HTTP/1.1\"");
	assert_ip(w, FIRST, 4);
	assert_text(w->v.path, "/abc");
	/* The same holds where the header has the place of %h. */
	read_line(w, "auto",
		  "203.0.113.12, 198.51.100.7 - - "
		  "[17/May/2015:10:05:03 +0000] \"GET /abc HTTP/1.1\" 302 1 "
		  "\"-\" "
		  "\"curl/8\"");
	assert_string_equal(access_format_name(w->f), "combined");
	assert_ip(w, FIRST, 4);
	read_line(w, "%h:%p %t \"%r\"",
		  "2001:db8::1:443 [17/May/2015:10:05:03 +0000] "
		  "\"GET /abc HTTP/1.1\"");
	assert_ip(w, SIX, 16);
}

static void what_is_no_address_is_not_taken_for_none(void **state)
{
	static const char *const texts[] = {
		"go.example",	   "203.0.113",	   "203.0.113.256",
		"203.0.113.12:x",  "[2001:db8::1", "2001:db8::1::2",
		"203.0.113.12/24", "0xcb00710c",   "localhost",
	};
	struct world *w = *state;
	char line[200];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s /abc", texts[i]);
		w->rules.any_address = false;
		assert_int_equal(
			try_read_line(w, "$msec $remote_addr $uri", line), -1);
		assert_int_equal(w->err.code, ERROR_INPUT);
		assert_non_null(strstr(w->err.text, texts[i]));
		assert_int_equal(
			try_read_line(w, "$msec $http_x_forwarded_for $uri",
				      line),
			-1);
		assert_int_equal(
			try_read_line(w, "$msec $http_x_real_ip $uri", line),
			-1);
		w->rules.any_address = true;
		read_line(w, "$msec $remote_addr $uri", line);
		assert_int_equal(w->v.ip_len, 0);
	}
}

static void whom_a_proxy_names_comes_before_the_peer(void **state)
{
	static const struct {
		const char *client, *forwarded, *peer, *bytes;
	} cases[] = {
		{"-", "203.0.113.12", "198.51.100.7", FIRST},
		{"-", "-", "203.0.113.12", FIRST},
		{"203.0.113.12", "192.0.2.7", "198.51.100.7", FIRST},
		{"-", "10.0.0.1", "203.0.113.12", FIRST},
		{"-", "evil", "203.0.113.12", FIRST},
		{"evil", "203.0.113.12", "198.51.100.7", FIRST},
	};
	struct world *w = *state;
	char line[200];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 %s %s %s /abc",
			 cases[i].client, cases[i].forwarded, cases[i].peer);
		read_line(w,
			  "%{sec}t %{CF-Connecting-IP}i %{X-Forwarded-For}i %h "
			  "%U",
			  line);
		assert_ip(w, cases[i].bytes, 4);
	}
	assert_int_equal(w->v.odd_client.len, 0);
	read_line(w, "%{sec}t %{X-Forwarded-For}i %h %U",
		  "1431857103 evil 203.0.113.12 /abc");
	assert_text(w->v.odd_client, "evil");
	w->rules.peer_only = true;
	read_line(w, "%{sec}t %{X-Forwarded-For}i %h %U",
		  "1431857103 203.0.113.12 198.51.100.7 /abc");
	assert_ip(w, SECOND, 4);
}

/* The result is the same as in redirector/visit/request_info.c
 * (common/client_address.c). */
static void proxies_that_are_known_are_read_from_the_right(void **state)
{
	static const struct {
		const char *forwarded, *peer, *bytes;
	} cases[] = {
		{"192.0.2.1, 203.0.113.12, 10.0.0.2", "10.0.0.1", FIRST},
		{"192.0.2.1", "203.0.113.12", FIRST},
		{"evil, 203.0.113.12", "10.0.0.1", FIRST},
		{"for=192.0.2.1, for=\\\"203.0.113.12:80\\\"", "10.0.0.1",
		 FIRST},
		{"192.0.2.1, 203.0.113.12, 10.0.0.2", "-", FIRST},
		{"192.0.2.1, 203.0.113.12", "-", FIRST},
	};
	char *items[] = {(char[]){"10.0.0.0/8"}};
	const struct setting_strings networks = {items, 1};
	struct world *w = *state;
	struct network_list *list =
		network_list_new(&networks, "proxies", &w->err);
	char line[200];

	w->rules.proxies = list;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line), "1431857103 \"%s\" %s /abc",
			 cases[i].forwarded, cases[i].peer);
		read_line(w,
			  "$msec \"$http_x_forwarded_for\" $remote_addr $uri",
			  line);
		assert_ip(w, cases[i].bytes, 4);
	}
	read_line(w, "$msec $http_cf_connecting_ip $remote_addr $uri",
		  "1431857103 192.0.2.1 203.0.113.12 /abc");
	assert_ip(w, FIRST, 4);
	network_list_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ACCESS_TEST(addresses_are_read_in_all_their_forms),
		ACCESS_TEST(a_list_without_quotes_is_one_field),
		ACCESS_TEST(what_is_no_address_is_not_taken_for_none),
		ACCESS_TEST(whom_a_proxy_names_comes_before_the_peer),
		ACCESS_TEST(proxies_that_are_known_are_read_from_the_right),
	};

	return cmocka_run_group_tests_name("access_addresses", tests, NULL,
					   NULL);
}
