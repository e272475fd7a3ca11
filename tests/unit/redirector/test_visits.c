/* The path of a visit: the cache, Redis, and what stands in for Redis. */
#include "tests/unit/redirector/visit_world.h"

#include "tests/unit/redirector/deny_world.h"

/* Limits apply to this host, too. */
#define LIMITED	   "limit_exempt: [], "
#define ONE_A_HOUR LIMITED "unknown_rate: 1/h, unknown_burst: 1, "
#define ONE_A_CLIENT                                                           \
	"client_rate: 1/h, client_burst: 1, unknown_rate: 1/h, "               \
	"unknown_burst: 1, "
/* A cached link is queried again, and may stand in. */
#define NEVER_FRESH "lookup_timeout: 1m, cache_ttl: 0s, "

static void a_link_is_looked_up_once_and_known_then(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_counted(w, VW_MISSES), 1);
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	assert_int_equal(vw_counted(w, VW_LOOKUPS), 1);
	assert_int_equal(vw_visit_with(w, "HEAD", "/spring-sale", ""), 302);
	assert_int_equal(vw_counted(w, VW_HITS), 1);
	assert_int_equal(vw_counted(w, VW_MISSES), 1);
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	assert_int_equal(vw_counted(w, "cache_entries{thread=\"1\"}"), 1);
	assert_int_equal(vw_counted(w, "miss_seconds_count"), 1);
	assert_int_equal(vw_counted(w, VW_FAILED), 0);
	assert_int_equal(atomic_load(&w->failures), 0);
	vw_stop(w);
}

static void a_link_that_changed_is_looked_up_again(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	struct link_target t = vw_store(w, "spring-sale", w->links.never, 0);

	(void)state;
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	vw_delete(w, &t);
	freshness_note(w->answers->redirector.freshness, "spring-sale", 11);
	assert_int_equal(vw_visit(w, "/spring-sale"), 410);
	assert_int_equal(vw_counted(w, VW_ASKED), 2);
	vw_stop(w);
}

/* Sends a visit; its answer is read later. */
static int begin_visit(struct visit_world *w, const char *code)
{
	int fd = client_connect(&w->answers->http);
	int before = atomic_load(&w->requests);
	char text[160];

	snprintf(text, sizeof(text),
		 "GET /%s HTTP/1.1\r\nHost: sho.rt\r\n"
		 "Connection: close\r\n\r\n",
		 code);
	client_send(fd, text);
	while (atomic_load(&w->requests) == before)
		usleep(1000);
	return fd;
}

static int end_visit(struct visit_world *w, int fd)
{
	char *answer = client_read_all(fd);
	int status;

	assert_non_null(answer);
	status = status_of(answer);
	free(answer);
	close(fd);
	vw_meet(w);
	return status;
}

static void hold_redis(struct visit_world *w, bool held)
{
	kill(w->links.server.pid, held ? SIGSTOP : SIGCONT);
}

static void those_who_come_for_one_code_wait_for_one_answer(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT ONE_A_HOUR));
	int visits[4];

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	hold_redis(w, true);
	/* One of the visits pays for the look-up, and gets that back. */
	for (int i = 0; i < 3; i++)
		visits[i] = begin_visit(w, "spring-sale");
	visits[3] = begin_visit(w, "another-one");
	hold_redis(w, false);
	for (int i = 0; i < 3; i++)
		assert_int_equal(end_visit(w, visits[i]), 302);
	assert_int_equal(end_visit(w, visits[3]), 429);
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	assert_int_equal(vw_counted(w, VW_LOOKUPS), 1);
	assert_int_equal(vw_counted(w, VW_MISSES), 4);
	assert_int_equal(vw_counted(w, "miss_seconds_count"), 3);
	vw_stop(w);
}

static void each_code_has_an_answer_of_its_own(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	int visits[3];

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	hold_redis(w, true);
	visits[0] = begin_visit(w, "spring-sale");
	visits[1] = begin_visit(w, "autumn-sale");
	visits[2] = begin_visit(w, "autumn-sale");
	hold_redis(w, false);
	assert_int_equal(end_visit(w, visits[0]), 302);
	assert_int_equal(end_visit(w, visits[1]), 404);
	assert_int_equal(end_visit(w, visits[2]), 404);
	assert_int_equal(vw_counted(w, VW_ASKED), 2);
	vw_stop(w);
}

static void only_a_code_without_a_link_costs_something(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT ONE_A_HOUR));
	struct link_target gone = vw_store(w, "gone-sale", w->links.never, 0);
	char *answer;

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	vw_delete(w, &gone);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_visit(w, "/gone-sale"), 410);
	assert_int_equal(vw_visit(w, "/no-sale"), 404);
	answer = aw_ask(w->answers, "GET", "/none-at-all", "");
	assert_int_equal(status_of(answer), 429);
	assert_null(strstr(answer, "Retry-After: 0"));
	assert_non_null(strstr(answer, "Retry-After: 3"));
	free(answer);
	assert_int_equal(vw_counted(w, VW_ANSWER("over_unknown", "429")), 1);
	assert_int_equal(vw_counted(w, VW_ASKED), 3);
	/* Known codes are still answered. */
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_visit(w, "/no-sale"), 404);
	vw_stop(w);
}

static void a_link_that_was_there_costs_nothing_again(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(NEVER_FRESH ONE_A_HOUR));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_visit(w, "/no-sale"), 404);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_counted(w, VW_ASKED), 3);
	assert_int_equal(vw_counted(w, VW_HITS), 0);
	vw_stop(w);
}

/* No changes are received, so a known link is fresh only for a moment. */
static void what_was_not_there_costs_something_again(void **state)
{
	struct visit_world *w =
		vw_start_empty(VW_REDIRECTOR(VW_PATIENT ONE_A_HOUR));
	struct link_target gone;

	(void)state;
	vw_create_spaces(w);
	gone = vw_store(w, "gone-sale", w->links.never, 0);
	vw_delete(w, &gone);
	assert_int_equal(vw_visit(w, "/gone-sale"), 410);
	assert_int_equal(vw_visit(w, "/no-sale"), 404);
	usleep((FRESHNESS_BOUND_MS + 1) * 1000);
	assert_int_equal(vw_visit(w, "/gone-sale"), 429);
	assert_int_equal(vw_visit(w, "/no-sale"), 429);
	vw_stop(w);
}

static void a_code_that_no_link_can_have_costs_something(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT ONE_A_HOUR));

	(void)state;
	assert_int_equal(vw_visit(w, "/" AW_CODE), 404);
	assert_int_equal(vw_counted(w, VW_REFUSED), 1);
	assert_int_equal(vw_counted(w, VW_ASKED), 0);
	assert_string_equal(w->answers->click->code, AW_CODE);
	assert_int_equal(vw_visit(w, "/bB3xY7k"), 429);
	assert_int_equal(vw_counted(w, VW_REFUSED), 1);
	vw_stop(w);
}

static void no_code_is_denied_before_its_space_was_found(void **state)
{
	struct visit_world *w = vw_start_empty(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_confirm(w);
	assert_int_equal(vw_visit(w, "/" AW_CODE), 503);
	assert_int_equal(vw_visit(w, "/spring-sale"), 503);
	assert_int_equal(vw_counted(w, VW_ANSWER("unavailable", "503")), 2);
	assert_int_equal(vw_counted(w, VW_ASKED), 0);
	vw_create_spaces(w);
	assert_int_equal(vw_visit(w, "/" AW_CODE), 404);
	assert_int_equal(vw_visit(w, "/spring-sale"), 404);
	vw_stop(w);
}

/* --- without Redis -------------------------------------------------------- */

static long read_unavailable_count(struct visit_world *w)
{
	return vw_counted(w, VW_ANSWER("unavailable", "503")) +
	       vw_counted(w, VW_ANSWER("breaker_open", "503"));
}

static void a_link_stands_in_for_itself_without_redis(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(NEVER_FRESH));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	vw_store(w, "three-times", w->links.never, 3);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_visit(w, "/three-times"), 302);
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_counted(w, VW_STALE), 1);
	assert_int_equal(read_unavailable_count(w), 0);
	assert_int_equal(vw_visit(w, "/three-times"), 503);
	assert_int_equal(vw_visit(w, "/autumn-sale"), 503);
	assert_int_equal(read_unavailable_count(w), 2);
	assert_int_equal(vw_counted(w, VW_STALE), 1);
	vw_stop(w);
}

static void nothing_stands_in_for_longer_than_it_may(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(NEVER_FRESH "cache_stale: 0s, "));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/spring-sale"), 503);
	assert_int_equal(vw_counted(w, VW_STALE), 0);
	vw_stop(w);
}

static void whom_redis_fails_has_paid_nothing(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT ONE_A_HOUR));

	(void)state;
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/spring-sale"), 503);
	assert_int_equal(vw_visit(w, "/autumn-sale"), 503);
	assert_int_equal(vw_counted(w, VW_ANSWER("over_unknown", "429")), 0);
	vw_stop(w);
}

static void who_waits_too_long_gets_what_stands_in(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(
		"lookup_timeout: 1m, cache_ttl: 0s, " ONE_A_HOUR));
	int visits[2];

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	hold_redis(w, true);
	visits[0] = begin_visit(w, "spring-sale");
	visits[1] = begin_visit(w, "autumn-sale");
	/* The queries under way fail. */
	vw_end_redis(w);
	assert_int_equal(end_visit(w, visits[0]), 302);
	assert_int_equal(end_visit(w, visits[1]), 503);
	assert_int_equal(vw_counted(w, VW_STALE), 1);
	assert_int_equal(vw_counted(w, VW_FAILED), 2);
	assert_int_equal(atomic_load(&w->failures), 2);
	/* The visitor has paid nothing. */
	assert_int_equal(vw_visit(w, "/winter-sale"), 503);
	vw_stop(w);
}

/* --- admission ------------------------------------------------------------ */

static void whom_the_list_denies_is_not_answered(void **state)
{
	struct deny_text file = text_file("127.0.0.0/8\n");
	struct visit_world *w;
	char text[256];

	(void)state;
	snprintf(text, sizeof(text),
		 VW_REDIRECTOR(VW_PATIENT "deny_file: %s, "), file.path);
	w = vw_start(text);
	assert_int_equal(vw_visit(w, "/spring-sale"), 403);
	assert_int_equal(vw_counted(w, VW_ANSWER("denied", "403")), 1);
	assert_int_equal(vw_counted(w, VW_MISSES), 0);
	write_text(&file, "10.0.0.0/8\n");
	assert_int_equal(
		reloadable_read(w->answers->redirector.files[FILE_DENIED],
				&w->links.err),
		0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 404);
	vw_stop(w);
	unlink(file.path);
}

static void who_asks_too_often_has_to_wait(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(
		VW_PATIENT LIMITED "client_rate: 1/h, client_burst: 2, "));
	char *answer;

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	assert_int_equal(vw_visit(w, "/"), 404);
	answer = aw_ask(w->answers, "GET", "/spring-sale", "");
	assert_int_equal(status_of(answer), 429);
	assert_non_null(strstr(answer, "Retry-After: 3"));
	free(answer);
	assert_int_equal(vw_counted(w, VW_ANSWER("over_rate", "429")), 1);
	vw_stop(w);
}

static void who_is_exempt_or_a_proxy_has_no_limit(void **state)
{
	static const char *const settings[] = {
		VW_REDIRECTOR(VW_PATIENT ONE_A_CLIENT
			      "limit_exempt: [127.0.0.0/8], "),
		VW_REDIRECTOR(VW_PATIENT ONE_A_CLIENT LIMITED
			      "trusted_proxies: [127.0.0.0/8], "),
	};
	struct visit_world *w;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		w = vw_start(settings[i]);
		assert_int_equal(vw_visit(w, "/spring-sale"), 404);
		assert_int_equal(vw_visit(w, "/autumn-sale"), 404);
		vw_stop(w);
	}
}

static void a_client_behind_a_proxy_has_limits_of_its_own(void **state)
{
	struct visit_world *w = vw_start(
		VW_REDIRECTOR(VW_PATIENT "client_rate: 1/h, client_burst: 1, "
					 "trusted_proxies: [127.0.0.0/8], "));
	const char *ann = "X-Forwarded-For: 192.0.2.1\r\n";
	const char *bob = "X-Forwarded-For: 192.0.2.2\r\n";

	(void)state;
	assert_int_equal(vw_visit_with(w, "GET", "/no-sale", ann), 404);
	assert_int_equal(vw_visit_with(w, "GET", "/no-sale", bob), 404);
	assert_int_equal(vw_visit_with(w, "GET", "/no-sale", ann), 429);
	vw_stop(w);
}

/* Each of the two tables has room for eight networks. */
static void debts_that_are_forgotten_are_counted_once(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(VW_PATIENT ONE_A_CLIENT LIMITED
				       "limit_table_size: 0, "
				       "trusted_proxies: [127.0.0.0/8], "));
	char fields[64];

	(void)state;
	for (int i = 1; i <= 9; i++) {
		snprintf(fields, sizeof(fields),
			 "X-Forwarded-For: 192.0.2.%d\r\n", i);
		assert_int_equal(vw_counted(w, VW_FORGOTTEN), 0);
		assert_int_equal(vw_visit_with(w, "GET", "/no-sale", fields),
				 404);
		freshness_void(w->answers->redirector.freshness);
	}
	assert_int_equal(vw_counted(w, VW_FORGOTTEN), 2);
	assert_int_equal(vw_visit_with(w, "GET", "/no-sale", fields), 429);
	assert_int_equal(vw_counted(w, VW_FORGOTTEN), 2);
	vw_stop(w);
}

/* --- requests of other kinds ---------------------------------------------- */

static void only_get_and_head_are_visits(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit_with(w, "POST", "/spring-sale", ""), 405);
	assert_int_equal(vw_counted(w, VW_MISSES), 0);
	vw_stop(w);
}

static void a_host_of_no_domain_is_refused_if_it_is_to(void **state)
{
	struct visit_world *w =
		vw_start("domains: {list: [{name: main, hosts: [go.example], "
			 "scheme: https}]}\n" VW_REDIRECTOR(
				 VW_PATIENT "unknown_hosts: refuse, "));

	(void)state;
	assert_int_equal(vw_visit(w, "/spring-sale"), 404);
	assert_int_equal(vw_counted(w, VW_ANSWER("unknown_host", "404")), 1);
	assert_int_equal(vw_counted(w, VW_MISSES), 0);
	vw_stop(w);
}

static void what_is_no_code_is_answered_without_redis(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/robots.txt"), 200);
	assert_int_equal(vw_visit(w, "/favicon.ico"), 204);
	assert_int_equal(vw_visit(w, "/%2f"), 404);
	assert_int_equal(vw_counted(w, VW_MISSES), 0);
	assert_int_equal(vw_visit(w, "/spring-%73ale"), 302);
	assert_int_equal(vw_visit(w, "/spring-sale)."), 302);
	assert_true(w->answers->click->trimmed);
	vw_stop(w);
}

static void a_text_is_not_trimmed_where_it_is_not_to_be(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(VW_PATIENT "trim_paths: false, "));

	(void)state;
	vw_store(w, "spring-sale", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/spring-sale)."), 404);
	assert_int_equal(vw_visit(w, "/spring-%73ale"), 302);
	vw_stop(w);
}

/* --- renewing ------------------------------------------------------------- */

/* Waits until this many renewals were done. */
static void await_renewals(struct visit_world *w, long count)
{
	while (vw_counted(w, VW_RENEWED) < count)
		usleep(1000);
}

static void a_visit_renews_a_link_that_is_due(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "spring-sale", w->links.day, 0);
	vw_store(w, "autumn-sale", w->links.never, 0);
	usleep(2000); /* a link is due after a millisecond */
	assert_int_equal(vw_visit(w, "/autumn-sale"), 302);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	await_renewals(w, 1);
	assert_int_equal(vw_counted(w, VW_RENEWED), 1);
	vw_stop(w);
}

static void a_link_that_is_not_to_be_visited_is_not_kept_alive(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	struct link_target gone = vw_store(w, "gone-sale", w->links.day, 0);

	(void)state;
	vw_delete(w, &gone);
	vw_store(w, "spring-sale", w->links.day, 0);
	usleep(2000);
	assert_int_equal(vw_visit(w, "/gone-sale"), 410);
	assert_int_equal(vw_visit(w, "/spring-sale"), 302);
	await_renewals(w, 1);
	assert_int_equal(vw_counted(w, VW_RENEWED), 1);
	vw_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_looked_up_once_and_known_then),
		cmocka_unit_test(a_link_that_changed_is_looked_up_again),
		cmocka_unit_test(
			those_who_come_for_one_code_wait_for_one_answer),
		cmocka_unit_test(each_code_has_an_answer_of_its_own),
		cmocka_unit_test(only_a_code_without_a_link_costs_something),
		cmocka_unit_test(a_link_that_was_there_costs_nothing_again),
		cmocka_unit_test(what_was_not_there_costs_something_again),
		cmocka_unit_test(a_code_that_no_link_can_have_costs_something),
		cmocka_unit_test(no_code_is_denied_before_its_space_was_found),
		cmocka_unit_test(a_link_stands_in_for_itself_without_redis),
		cmocka_unit_test(nothing_stands_in_for_longer_than_it_may),
		cmocka_unit_test(whom_redis_fails_has_paid_nothing),
		cmocka_unit_test(who_waits_too_long_gets_what_stands_in),
		cmocka_unit_test(whom_the_list_denies_is_not_answered),
		cmocka_unit_test(who_asks_too_often_has_to_wait),
		cmocka_unit_test(who_is_exempt_or_a_proxy_has_no_limit),
		cmocka_unit_test(a_client_behind_a_proxy_has_limits_of_its_own),
		cmocka_unit_test(debts_that_are_forgotten_are_counted_once),
		cmocka_unit_test(only_get_and_head_are_visits),
		cmocka_unit_test(a_host_of_no_domain_is_refused_if_it_is_to),
		cmocka_unit_test(what_is_no_code_is_answered_without_redis),
		cmocka_unit_test(a_text_is_not_trimmed_where_it_is_not_to_be),
		cmocka_unit_test(a_visit_renews_a_link_that_is_due),
		cmocka_unit_test(
			a_link_that_is_not_to_be_visited_is_not_kept_alive),
	};

	return cmocka_run_group_tests_name("visits", tests, NULL, NULL);
}
