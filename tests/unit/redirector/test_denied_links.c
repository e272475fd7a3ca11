/* Visits of links that lead to a denied host. */
#include "tests/unit/redirector/visit_world.h"

#include "linkstore/denied_hosts.h"
#include "redirector/visit/denied_links.h"

#define HOST "to.example" /* vw_store's links lead there */

static struct visit_world *start_world(void)
{
	struct visit_world *w = vw_start(VW_REDIRECTOR(VW_PATIENT));
	struct error err;

	assert_int_equal(denied_hosts_follower_start(
				 w->answers->redirector.denied_hosts, &err),
			 0);
	return w;
}

/* Returns once the program has seen the change. */
static void await_revision(struct visit_world *w, uint64_t revision)
{
	struct versions_user user = {
		.of = denied_hosts_follower_versions(
			w->answers->redirector.denied_hosts)};

	while (((const struct denied_hosts *)versions_use(&user))->revision <
	       revision)
		usleep(1000);
	versions_leave(&user);
}

static void deny_host(struct visit_world *w, const char *domain)
{
	struct fixture *f = &w->links;
	struct denied_result result;

	must(f, denied_hosts_deny(f->server.redis, f->store, domain, "ann", "",
				  &result, &f->err));
	await_revision(w, result.revision);
}

static void lift_host(struct visit_world *w, const char *domain)
{
	struct fixture *f = &w->links;
	struct denied_result result;

	must(f, denied_hosts_lift(f->server.redis, f->store, domain, &result,
				  &f->err));
	await_revision(w, result.revision);
}

static void a_cached_link_leads_no_longer_there(void **state)
{
	struct visit_world *w = start_world();

	(void)state;
	vw_store(w, "usual", w->links.never, 0);
	assert_int_equal(vw_visit(w, "/usual"), 302);
	deny_host(w, "other.example");
	assert_int_equal(vw_visit(w, "/usual"), 302);
	deny_host(w, HOST);
	assert_int_equal(vw_visit(w, "/usual"), 451);
	assert_int_equal(w->answers->click->outcome,
			 SHORTLOOP__OUTCOME__OUTCOME_BLOCKED);
	assert_int_equal(w->answers->click->status, 451);
	lift_host(w, HOST);
	assert_int_equal(vw_visit(w, "/usual"), 302);
	/* Redis was queried once: the cache's entry was evaluated again. */
	assert_int_equal(vw_counted(w, VW_ASKED), 1);
	assert_int_equal(vw_counted(w, VW_ANSWER("blocked", "451")), 1);
	vw_stop(w);
}

static void a_link_that_is_looked_up_then_leads_not_there(void **state)
{
	struct visit_world *w = start_world();

	(void)state;
	vw_store(w, "usual", w->links.never, 0);
	deny_host(w, ".example");
	assert_int_equal(vw_visit(w, "/usual"), 451);
	assert_int_equal(vw_visit(w, "/usual"), 451);
	vw_stop(w);
}

static void a_denied_link_uses_up_no_visit(void **state)
{
	struct visit_world *w = start_world();

	(void)state;
	vw_store(w, "once", w->links.never, 1);
	deny_host(w, HOST);
	assert_int_equal(vw_visit(w, "/once"), 451);
	assert_int_equal(vw_counted(w, VW_ALLOWED), 0);
	lift_host(w, HOST);
	assert_int_equal(vw_visit(w, "/once"), 302);
	assert_int_equal(vw_visit(w, "/once"), 410);
	vw_stop(w);
}

static void a_host_stays_denied_without_redis(void **state)
{
	struct visit_world *w = start_world();

	(void)state;
	vw_store(w, "usual", w->links.never, 0);
	vw_store(w, "fresh", w->links.never, 0);
	deny_host(w, HOST);
	assert_int_equal(vw_visit(w, "/usual"), 451);
	vw_end_redis(w);
	assert_int_equal(vw_visit(w, "/usual"), 451);
	vw_stop(w);
}

static void all_urls_of_a_link_count(void **state)
{
	Shortloop__Target app, web;
	Shortloop__Target *targets[] = {&app, &web};
	Shortloop__Link link = empty_link();
	struct buf hosts = {0};

	(void)state;
	shortloop__target__init(&app);
	shortloop__target__init(&web);
	link.url = text_of("https://a.example:8443/path");
	app.url = text_of("https://user@fallback.example/");
	app.app = text_of("myapp://b.example/");
	web.url = text_of("http://[2001:db8::7]/?q");
	web.mini_program = text_of("https://a.example/mini");
	link.targets = targets;
	link.n_targets = 2;
	denied_links_put_hosts(&hosts, &link);
	assert_string_equal(buf_cstr(&hosts),
			    "a.example\nfallback.example\n[2001:db8::7]\n");
	buf_free(&hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cached_link_leads_no_longer_there),
		cmocka_unit_test(a_link_that_is_looked_up_then_leads_not_there),
		cmocka_unit_test(a_denied_link_uses_up_no_visit),
		cmocka_unit_test(a_host_stays_denied_without_redis),
		cmocka_unit_test(all_urls_of_a_link_count),
	};

	return cmocka_run_group_tests_name("denied links", tests, NULL, NULL);
}
