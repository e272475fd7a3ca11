#include "tests/unit/allocator/url_world.h"

#include <pthread.h>
#include <stdatomic.h>

static int set_up(void **state)
{
	(void)state;
	make_domains();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	domains_free(domains);
	return 0;
}

struct listed {
	char allow_file[64], deny_file[64];
	struct url_policy_config config;
	struct url_policy *policy;
};

static void rewrite_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void with_lists(struct listed *l, const char *allowed,
		       const char *denied)
{
	*l = (struct listed){.config = {.ip_hosts = allow}};
	if (allowed)
		l->config.allow_file = unit_write_file(allowed, l->allow_file);
	if (denied)
		l->config.deny_file = unit_write_file(denied, l->deny_file);
	l->policy = policy_with(&l->config);
}

static void drop_lists(struct listed *l)
{
	url_policy_free(l->policy);
	if (l->allow_file[0])
		unlink(l->allow_file);
	if (l->deny_file[0])
		unlink(l->deny_file);
}

static void denied_domains_are_refused(void **state)
{
	struct listed l;

	(void)state;
	with_lists(&l, NULL, ".evil.example\n127.0.0.1\n");
	assert_refused(l.policy, "https://www.EVIL.example./x", "evil.example");
	assert_refused(l.policy, "http://2130706433/", "127.0.0.1");
	assert_taken(l.policy, "https://good.example/");
	drop_lists(&l);
}

static void with_an_allow_list_all_else_is_refused(void **state)
{
	struct listed l;

	(void)state;
	with_lists(&l, ".good.example\n", NULL);
	assert_taken(l.policy, "https://a.good.example/");
	assert_refused(l.policy, "https://other.example/", "not on the list");
	drop_lists(&l);
	with_lists(&l, "", NULL);
	assert_refused(l.policy, "https://other.example/", "not on the list");
	drop_lists(&l);
}

static void deny_wins_over_allow(void **state)
{
	struct listed l;

	(void)state;
	with_lists(&l, ".good.example\n", "bad.good.example\n");
	assert_taken(l.policy, "https://a.good.example/");
	assert_refused(l.policy, "https://bad.good.example/", "may not");
	drop_lists(&l);
}

static void a_reload_takes_the_new_lists(void **state)
{
	struct error err = {0};
	struct listed l;
	size_t allowed, denied;

	(void)state;
	with_lists(&l, NULL, "a.example\n");
	rewrite_file(l.deny_file, "b.example\nc.example\n");
	assert_int_equal(url_policy_reload(l.policy, &err), 0);
	assert_taken(l.policy, "https://a.example/");
	assert_refused(l.policy, "https://b.example/", "may not");
	url_policy_count(l.policy, &allowed, &denied);
	assert_int_equal(allowed, 0);
	assert_int_equal(denied, 2);
	drop_lists(&l);
}

static void a_reload_that_fails_keeps_the_old_lists(void **state)
{
	struct error err = {0};
	struct listed l;

	(void)state;
	with_lists(&l, NULL, "a.example\n");
	rewrite_file(l.deny_file, "b.example\nnot a domain\n");
	assert_int_equal(url_policy_reload(l.policy, &err), -1);
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "allocator.url_deny_file"));
	assert_non_null(strstr(err.text, ":2: "));
	assert_refused(l.policy, "https://a.example/", "may not");
	assert_taken(l.policy, "https://b.example/");
	drop_lists(&l);
}

struct checker {
	struct url_policy *policy;
	atomic_bool stop;
	unsigned wrong;
};

static void *check_on(void *arg)
{
	static const char url[] = "https://always.example/";
	struct checker *c = arg;
	struct error err = {0};
	struct buf out = {0};

	while (!atomic_load(&c->stop))
		c->wrong += url_policy_check(c->policy, url, sizeof(url) - 1,
					     &out, &err) == 0;
	buf_free(&out);
	return NULL;
}

/* A URL that is on the list before and after is refused all the time. */
static void a_reload_is_never_seen_half_done(void **state)
{
	struct checker c = {0};
	struct error err = {0};
	struct listed l;
	pthread_t thread;

	(void)state;
	with_lists(&l, NULL, "always.example\n");
	c.policy = l.policy;
	assert_int_equal(pthread_create(&thread, NULL, check_on, &c), 0);
	for (int i = 0; i < 200; i++)
		assert_int_equal(url_policy_reload(l.policy, &err), 0);
	atomic_store(&c.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(c.wrong, 0);
	drop_lists(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(denied_domains_are_refused),
		cmocka_unit_test(with_an_allow_list_all_else_is_refused),
		cmocka_unit_test(deny_wins_over_allow),
		cmocka_unit_test(a_reload_takes_the_new_lists),
		cmocka_unit_test(a_reload_that_fails_keeps_the_old_lists),
		cmocka_unit_test(a_reload_is_never_seen_half_done),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
