/* Denied hosts in Redis: each change has its revision, and every program takes
 * one after the other. */
#include "tests/unit/linkstore/fixture.h"

#include <inttypes.h>
#include <string.h>

#include "linkstore/denied_hosts.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/denied_set.h"

static struct denied_result deny_host(struct fixture *f, const char *domain)
{
	struct denied_result result;

	must(f, denied_hosts_deny(f->server.redis, f->store, domain, "ann@host",
				  "phishing", &result, &f->err));
	return result;
}

static struct denied_result lift_host(struct fixture *f, const char *domain)
{
	struct denied_result result;

	must(f, denied_hosts_lift(f->server.redis, f->store, domain, &result,
				  &f->err));
	return result;
}

/* Deletes all that Redis has of them. */
static void lose_hosts(struct fixture *f)
{
	redis_server_number(&f->server,
			    "DEL " DENIED_HOSTS_KEY " " DENIED_CHANGES_KEY);
	usleep(2000); /* a revision is a time, in ms */
}

static void update_set(struct fixture *f, struct denied_set *set)
{
	must(f, denied_set_update(set, f->server.redis, f->store, &f->err));
}

static struct denied_set *open_set(struct fixture *f)
{
	struct denied_set *set = denied_set_new(&f->err);

	assert_non_null(set);
	update_set(f, set);
	return set;
}

static bool set_has(const struct denied_set *set, const char *name)
{
	struct error err;
	struct domain_list *list = denied_set_list(set, &err);
	struct host host;
	bool has;

	assert_non_null(list);
	assert_int_equal(host_parse(name, strlen(name), &host, &err), 0);
	has = domain_list_has(list, &host);
	domain_list_free(list);
	return has;
}

static void each_change_is_later_than_those_before(void **state)
{
	struct fixture *f = *state;
	uint64_t last = 0;
	struct denied_result r;

	for (int i = 0; i < 5; i++) {
		r = deny_host(f, "bad.example");
		assert_true(r.changed && r.revision > last);
		last = r.revision;
		r = lift_host(f, "bad.example");
		assert_true(r.changed && r.revision > last);
		last = r.revision;
	}
	lose_hosts(f);
	assert_true(deny_host(f, "bad.example").revision > last);
}

static void what_is_so_already_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t first = deny_host(f, "bad.example").revision;
	struct denied_result again = deny_host(f, "bad.example");

	assert_false(again.changed);
	assert_int_equal(again.revision, first);
	assert_string_equal(again.before.who, "ann@host");
	assert_string_equal(again.before.reason, "phishing");
	assert_true(again.before.time_ms > 0);
	first = lift_host(f, "bad.example").revision;
	again = lift_host(f, "bad.example");
	assert_false(again.changed);
	assert_int_equal(again.revision, first);
}

static void nothing_expires_and_a_full_redis_takes_it(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
	deny_host(f, "bad.example");
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 0"));
	assert_int_equal(
		redis_server_number(&f->server, "TTL " DENIED_HOSTS_KEY), -1);
	assert_int_equal(
		redis_server_number(&f->server, "TTL " DENIED_CHANGES_KEY), -1);
}

static void a_set_has_what_is_denied_and_lets_go_of_what_is_not(void **state)
{
	struct fixture *f = *state;
	struct denied_set *set;

	deny_host(f, "b.example");
	deny_host(f, ".c.example");
	set = open_set(f);
	assert_int_equal(denied_set_count(set), 2);
	assert_true(set_has(set, "b.example"));
	assert_false(set_has(set, "x.b.example"));
	assert_true(set_has(set, "x.c.example"));
	deny_host(f, "a.example");
	deny_host(f, "192.0.2.7");
	lift_host(f, "b.example");
	update_set(f, set);
	assert_int_equal(denied_set_count(set), 3);
	assert_true(set_has(set, "a.example"));
	assert_true(set_has(set, "192.0.2.7"));
	assert_false(set_has(set, "b.example"));
	must(f, denied_set_compare(set, &f->err));
	denied_set_free(set);
}

/* More than a page, with lifted ones among them. */
static void pages_are_taken_to_the_end(void **state)
{
	struct fixture *f = *state;
	const size_t hosts = 2 * DENIED_PAGE + 7;
	struct denied_set *set;
	char name[64];

	for (size_t i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "h%zu.example", i * 7919 % hosts);
		deny_host(f, name);
		if (i % 100 == 99)
			lift_host(f, name);
	}
	set = open_set(f);
	assert_int_equal(denied_set_count(set), hosts - hosts / 100);
	must(f, denied_set_compare(set, &f->err));
	denied_set_free(set);
}

static void what_redis_lost_stays_and_is_reported(void **state)
{
	struct fixture *f = *state;
	struct denied_set *set;

	deny_host(f, "a.example");
	deny_host(f, "b.example");
	set = open_set(f);
	lose_hosts(f);
	update_set(f, set);
	assert_true(set_has(set, "a.example"));
	must_fail(f, denied_set_compare(set, &f->err), ERROR_REMOTE);
	/* A later change does not hide the loss. */
	deny_host(f, "c.example");
	update_set(f, set);
	assert_true(set_has(set, "a.example") && set_has(set, "c.example"));
	must_fail(f, denied_set_compare(set, &f->err), ERROR_REMOTE);
	assert_non_null(strstr(f->err.text, "it has 1, and 3 are in force"));
	/* One of them is denied again, the other one is lifted. */
	assert_true(deny_host(f, "a.example").changed);
	assert_true(lift_host(f, "b.example").changed);
	update_set(f, set);
	assert_false(set_has(set, "b.example"));
	must(f, denied_set_compare(set, &f->err));
	denied_set_free(set);
}

static void a_host_that_cannot_be_read_hinders_no_other(void **state)
{
	struct fixture *f = *state;
	struct denied_set *set;

	deny_host(f, "a.example");
	redis_server_number(&f->server, "HSET " DENIED_HOSTS_KEY " a..b x");
	redis_server_number(&f->server, "ZADD " DENIED_CHANGES_KEY " 7 a..b");
	set = open_set(f);
	assert_true(set_has(set, "a.example"));
	must_fail(f, denied_set_compare(set, &f->err), ERROR_REMOTE);
	assert_non_null(strstr(f->err.text, "a..b cannot be read"));
	denied_set_free(set);
}

static void what_is_damaged_is_said_to_be(void **state)
{
	static const char *const damage[] = {
		"ZADD " DENIED_CHANGES_KEY " 0.5 a.example",
		"ZADD " DENIED_CHANGES_KEY " inf a.example",
		"ZADD " DENIED_CHANGES_KEY " 9007199254740993 a.example",
	};
	struct fixture *f = *state;
	struct denied_result ignored;

	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		lose_hosts(f);
		freeReplyObject(redis_server_ask(&f->server, damage[i]));
		must_fail(f,
			  denied_hosts_deny(f->server.redis, f->store,
					    "b.example", "ann", "", &ignored,
					    &f->err),
			  ERROR_DAMAGED);
		assert_int_equal(redis_server_number(&f->server,
						     "HLEN " DENIED_HOSTS_KEY),
				 0);
	}
}

static void a_reason_has_no_hidden_characters(void **state)
{
	static const char *const bad[] = {"a\tb", "a\nb", "\xff",
					  "a\xe2\x80\xae"};
	char longest[DENIED_REASON_MAX + 1];
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(denied_hosts_check_reason(bad[i], &err), -1);
	memset(longest, 'a', DENIED_REASON_MAX);
	longest[DENIED_REASON_MAX] = '\0';
	assert_int_equal(denied_hosts_check_reason(longest, &err), -1);
	longest[DENIED_REASON_MAX - 1] = '\0';
	assert_int_equal(denied_hosts_check_reason(longest, &err), 0);
}

static bool is_denial(const char *text)
{
	struct denial d;

	return denial_parse(text, strlen(text), &d);
}

static void a_stored_text_has_its_three_parts(void **state)
{
	struct denial d;

	(void)state;
	assert_true(denial_parse("17\tann\ta reason", 15, &d));
	assert_int_equal(d.time_ms, 17);
	assert_string_equal(d.who, "ann");
	assert_string_equal(d.reason, "a reason");
	assert_true(is_denial("17\tann\t"));
	assert_false(is_denial(""));
	assert_false(is_denial("17"));
	assert_false(is_denial("17\t\treason"));
	assert_false(is_denial("x\tann\treason"));
	assert_false(is_denial("-1\tann\treason"));
	assert_false(is_denial("1234567890123456\tann\t"));
	assert_false(is_denial("17\tann\ta\tb"));
	assert_false(denial_parse("17\tann\0\t", 8, &d));
}

/* --- programs ------------------------------------------------------------- */

static void a_running_program_takes_them(void **state)
{
	struct fixture *f = *state;
	const struct denied_hosts_follower_options options = {
		.store = f->store,
		.redis = &f->server.config,
		.log = log_new("test", STDERR_FILENO, LOG_ERROR, LOG_LOGFMT,
			       &f->err),
		.metrics = metrics_new(),
		.health = health_new(),
	};
	struct denied_hosts_follower *follower =
		denied_hosts_follower_new(&options, &f->err);
	struct versions_user user = {
		.of = denied_hosts_follower_versions(follower)};
	const struct denied_hosts *hosts;
	uint64_t revision = deny_host(f, "a.example").revision;

	assert_false(denied_hosts_follower_is_ready(follower));
	hosts = versions_use(&user);
	assert_int_equal(hosts->revision, 0);
	must(f, denied_hosts_follower_start(follower, &f->err));
	while (!denied_hosts_follower_is_ready(follower))
		usleep(1000);
	hosts = versions_use(&user);
	assert_int_equal(hosts->revision, revision);
	assert_int_equal(domain_list_count(hosts->list), 1);
	revision = deny_host(f, "b.example").revision;
	while ((hosts = versions_use(&user))->revision != revision)
		usleep(1000);
	assert_int_equal(domain_list_count(hosts->list), 2);
	versions_leave(&user);
	denied_hosts_follower_free(follower);
	health_free(options.health);
	metrics_free(options.metrics);
	log_free(options.log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_change_is_later_than_those_before),
		TEST(what_is_so_already_changes_nothing),
		TEST(nothing_expires_and_a_full_redis_takes_it),
		TEST(a_set_has_what_is_denied_and_lets_go_of_what_is_not),
		TEST(pages_are_taken_to_the_end),
		TEST(what_redis_lost_stays_and_is_reported),
		TEST(a_host_that_cannot_be_read_hinders_no_other),
		TEST(what_is_damaged_is_said_to_be),
		cmocka_unit_test(a_reason_has_no_hidden_characters),
		cmocka_unit_test(a_stored_text_has_its_three_parts),
		TEST(a_running_program_takes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
