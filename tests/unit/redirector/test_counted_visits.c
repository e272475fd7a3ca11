/* Visits of links with a maximum number of visits. */
#include "tests/unit/redirector/visit_world.h"

static void a_link_has_as_many_visits_as_it_may(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "twice", w->links.never, 2);
	assert_int_equal(vw_visit(w, "/twice"), 302);
	assert_int_equal(vw_visit(w, "/twice"), 302);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 2);
	assert_int_equal(vw_visit(w, "/twice"), 410);
	assert_int_equal(w->answers->click->outcome,
			 SHORTLOOP__OUTCOME__OUTCOME_EXPIRED);
	assert_int_equal(vw_counted(w, VW_OVER), 1);
	/* The end is known from now on, and not queried again. */
	assert_int_equal(vw_visit(w, "/twice"), 410);
	assert_int_equal(vw_counted(w, VW_OVER), 1);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 2);
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	assert_int_equal(vw_counted(w, VW_UNCOUNTED), 0);
	vw_stop(w);
}

/* The link may have got more visits since. */
static void that_a_link_has_ended_does_not_stand_in(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR("lookup_timeout: 1m, cache_ttl: 0s, "));

	(void)state;
	vw_store(w, "once", w->links.never, 1);
	assert_int_equal(vw_visit(w, "/once"), 302);
	assert_int_equal(vw_visit(w, "/once"), 410);
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/once"), 503);
	vw_stop(w);
}

/* The link is deleted while its entry is fresh. */
static void a_link_that_is_gone_by_then_is_gone_for_a_while(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	struct link_target t = vw_store(w, "twice", w->links.never, 2);

	(void)state;
	assert_int_equal(vw_visit(w, "/twice"), 302);
	vw_delete(w, &t);
	assert_int_equal(vw_visit(w, "/twice"), 410);
	assert_int_equal(vw_counted(w, VW_OVER), 1);
	assert_int_equal(vw_counted(w, VW_UNCOUNTED), 0);
	assert_int_equal(vw_visit(w, "/twice"), 410);
	assert_int_equal(vw_counted(w, VW_OVER), 1);
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	vw_stop(w);
}

static void no_visit_is_answered_that_was_not_counted(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "twice", w->links.never, 2);
	assert_int_equal(vw_visit(w, "/twice"), 302);
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/twice"), 503);
	assert_int_equal(vw_counted(w, VW_UNCOUNTED), 1);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 1);
	assert_int_equal(w->answers->events, 1);
	assert_int_equal(atomic_load(&w->failures), 1);
	vw_stop(w);
}

/* --- requests that are no visits ------------------------------------------ */

static int fetch_link(struct visit_world *w, const char *path, int kind)
{
	switch (kind) {
	case 0:
		return vw_visit_with(w, "HEAD", path, "");
	case 1:
		return vw_visit_with(w, "GET", path,
				     "Sec-Purpose: prefetch\r\n");
	default:
		return vw_visit_with(w, "GET", path,
				     "User-Agent: Googlebot/2.1 "
				     "(+http://www.google.com/bot.html)\r\n");
	}
}

static void a_fetch_uses_up_no_visit(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(VW_PATIENT "uncounted_fetches: 3, "));

	(void)state;
	vw_store(w, "once", w->links.never, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fetch_link(w, "/once", i), 302);
	assert_int_equal(vw_counted(w, VW_FETCHES), 3);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 0);
	/* Any client with the link can claim to be a robot. */
	assert_int_equal(fetch_link(w, "/once", 0), 429);
	assert_int_equal(vw_counted(w, VW_FETCHES_OVER), 1);
	assert_int_equal(vw_counted(w, VW_ANSWER("over_fetches", "429")), 1);
	assert_int_equal(vw_visit(w, "/once"), 302);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 1);
	/* The link has ended now, for fetches as well. */
	assert_int_equal(fetch_link(w, "/once", 0), 410);
	vw_stop(w);
}

static void a_link_has_as_many_fetches_as_visits_at_least(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(VW_PATIENT "uncounted_fetches: 2, "));

	(void)state;
	vw_store(w, "three-times", w->links.never, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(fetch_link(w, "/three-times", i), 302);
	assert_int_equal(fetch_link(w, "/three-times", 0), 429);
	vw_stop(w);
}

static void without_uncounted_fetches_a_link_has_none(void **state)
{
	struct visit_world *w =
		vw_start(VW_REDIRECTOR(VW_PATIENT "uncounted_fetches: 0, "));

	(void)state;
	vw_store(w, "three-times", w->links.never, 3);
	assert_int_equal(fetch_link(w, "/three-times", 0), 429);
	assert_int_equal(vw_visit(w, "/three-times"), 302);
	vw_stop(w);
}

/* --- renewing ------------------------------------------------------------- */

static void a_visit_that_was_allowed_renews_once(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "often", w->links.day, 9);
	usleep(2000); /* a link is due after a millisecond */
	assert_int_equal(fetch_link(w, "/often", 0), 302);
	assert_int_equal(vw_counted(w, VW_RENEWED), 0);
	assert_int_equal(vw_visit(w, "/often"), 302);
	while (vw_counted(w, VW_RENEWED) < 1)
		usleep(1000);
	vw_stop(w);
}

/* Otherwise, visits that come too late would keep the link for ever. */
static void a_visit_that_came_too_late_renews_nothing(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));

	(void)state;
	vw_store(w, "once", w->links.day, 1);
	vw_store(w, "always", w->links.day, 0);
	usleep(2000);
	assert_int_equal(vw_visit(w, "/once"), 302);
	while (vw_counted(w, VW_RENEWED) < 1)
		usleep(1000);
	usleep(2000);
	assert_int_equal(vw_visit(w, "/once"), 410);
	assert_int_equal(vw_visit(w, "/once"), 410);
	/* This visit comes after them. */
	assert_int_equal(vw_visit(w, "/always"), 302);
	while (vw_counted(w, VW_RENEWED) < 2)
		usleep(1000);
	assert_int_equal(vw_counted(w, VW_RENEWED), 2);
	vw_stop(w);
}

/* --- changes during a visit ----------------------------------------------- */

static void on_changed_while_counted(void *arg)
{
	struct visit_world *w = arg;

	freshness_note(w->answers->redirector.freshness, "twice", 5);
}

/* The target at the visit's start may differ from the present one. */
static void a_link_that_changed_while_it_was_counted_leads_nowhere(void **state)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	struct error err;
	char *answer;
	int fd;

	(void)state;
	vw_store(w, "twice", w->links.never, 2);
	assert_int_equal(vw_visit(w, "/twice"), 302);
	kill(w->links.server.pid, SIGSTOP);
	fd = client_connect(&w->answers->http);
	client_send(fd, "GET /twice HTTP/1.1\r\nHost: sho.rt\r\n"
			"Connection: close\r\n\r\n");
	while (atomic_load(&w->requests) < 2)
		usleep(1000);
	assert_int_equal(
		loop_post(w->context.loop, on_changed_while_counted, w, &err),
		0);
	vw_meet(w);
	kill(w->links.server.pid, SIGCONT);
	answer = client_read_all(fd);
	assert_int_equal(status_of(answer), 503);
	free(answer);
	close(fd);
	vw_meet(w);
	/* The visit was used up nevertheless. */
	assert_int_equal(vw_counted(w, VW_ALLOWED), 2);
	assert_int_equal(vw_visit(w, "/twice"), 410);
	vw_stop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_has_as_many_visits_as_it_may),
		cmocka_unit_test(that_a_link_has_ended_does_not_stand_in),
		cmocka_unit_test(
			a_link_that_is_gone_by_then_is_gone_for_a_while),
		cmocka_unit_test(no_visit_is_answered_that_was_not_counted),
		cmocka_unit_test(a_fetch_uses_up_no_visit),
		cmocka_unit_test(a_link_has_as_many_fetches_as_visits_at_least),
		cmocka_unit_test(without_uncounted_fetches_a_link_has_none),
		cmocka_unit_test(a_visit_that_was_allowed_renews_once),
		cmocka_unit_test(a_visit_that_came_too_late_renews_nothing),
		cmocka_unit_test(
			a_link_that_changed_while_it_was_counted_leads_nowhere),
	};

	return cmocka_run_group_tests_name("counted visits", tests, NULL, NULL);
}
