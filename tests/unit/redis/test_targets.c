/* Lists of addresses, and what servers say of themselves. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/redis/targets.h"
#include "common/unconst.h"

static redisReply reply_of(int type, const char *text)
{
	return (redisReply){
		.type = type, .str = unconst(text), .len = strlen(text)};
}

/* --- addresses ------------------------------------------------------------ */

static int parse(const char *address, struct redis_targets *t,
		 struct error *err)
{
	struct redis_config config = {.address = unconst(address)};

	return redis_targets_parse(&config, t, err);
}

static void of_a_list_each_is_an_address(void **state)
{
	struct redis_targets t;
	struct error err;

	(void)state;
	assert_int_equal(parse("a:1, [::1]:2 ,unix:/s", &t, &err), 0);
	assert_int_equal(t.count, 3);
	assert_false(t.sentinels);
	assert_string_equal(t.all[0].text, "a:1");
	assert_string_equal(t.all[1].host, "::1");
	assert_int_equal(t.all[1].port, 2);
	assert_string_equal(t.all[2].host, "/s");
	redis_targets_free(&t);
}

static void what_is_no_list_of_addresses_is_refused(void **state)
{
	static const char *const bad[] = {"",	     "a:1,", ",a:1", "a:1,,b:2",
					  "a:1 b:2", "a",    "a:0",  "a:65536"};
	struct redis_targets t;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i], &t, &err), -1);
		assert_int_equal(err.code, ERROR_CONFIG);
	}
}

static void with_sentinels_the_address_does_not_count(void **state)
{
	char *sentinels[] = {unconst("a:1"), unconst("b:2")};
	const struct redis_config config = {
		.address = unconst("c:3"),
		.sentinels = {sentinels, 2},
	};
	struct redis_targets t;
	struct error err;

	(void)state;
	assert_int_equal(redis_targets_parse(&config, &t, &err), 0);
	assert_true(t.sentinels);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.all[1].text, "b:2");
	redis_targets_free(&t);
}

/* --- servers -------------------------------------------------------------- */

static void a_redis_that_is_too_old_is_refused(void **state)
{
	redisReply info = reply_of(REDIS_REPLY_STRING,
				   "# Server\r\nredis_version:6.2.14\r\n"
				   "redis_git_sha1:0\r\n");
	struct error err;

	(void)state;
	assert_int_equal(redis_check_version(&info, &err), -1);
	assert_string_equal(err.text,
			    "it is version 6.2.14: 7.0 or later is needed");
	info = reply_of(REDIS_REPLY_STRING, "redis_version:7.0.15\r\n");
	assert_int_equal(redis_check_version(&info, &err), 0);
	info = reply_of(REDIS_REPLY_STRING, "redis_version:10.1.0\r\n");
	assert_int_equal(redis_check_version(&info, &err), 0);
}

static void a_replica_is_refused(void **state)
{
	redisReply info =
		reply_of(REDIS_REPLY_STRING, "# Replication\r\nrole:slave\r\n");
	struct error err;

	(void)state;
	assert_int_equal(redis_check_role(&info, &err), -1);
	assert_true(err.retriable);
	info = reply_of(REDIS_REPLY_STRING, "# Replication\r\nrole:master\r\n");
	assert_int_equal(redis_check_role(&info, &err), 0);
}

static void who_may_not_ask_believes(void **state)
{
	redisReply no = reply_of(REDIS_REPLY_ERROR,
				 "NOPERM this user has no permissions");
	redisReply loading = reply_of(REDIS_REPLY_ERROR, "LOADING Redis is");
	struct error err;

	(void)state;
	assert_int_equal(redis_check_role(&no, &err), 0);
	assert_int_equal(redis_check_version(&no, &err), 0);
	assert_int_equal(redis_check_role(&loading, &err), -1);
}

/* --- sentinels ------------------------------------------------------------ */

static int ask(const char *host, const char *port, struct redis_address *a,
	       struct error *err)
{
	const struct redis_config config = {.master_name = unconst("m")};
	redisReply parts[2] = {reply_of(REDIS_REPLY_STRING, host),
			       reply_of(REDIS_REPLY_STRING, port)};
	redisReply *elements[2] = {&parts[0], &parts[1]};
	const redisReply reply = {
		.type = REDIS_REPLY_ARRAY, .elements = 2, .element = elements};

	return redis_parse_master(&reply, &config, a, err);
}

static void a_sentinel_tells_host_and_port(void **state)
{
	struct redis_address a;
	struct error err;

	(void)state;
	assert_int_equal(ask("10.0.0.1", "6380", &a, &err), 0);
	assert_string_equal(a.host, "10.0.0.1");
	assert_int_equal(a.port, 6380);
	assert_int_equal(ask("fd00::1", "6380", &a, &err), 0);
	assert_string_equal(a.host, "fd00::1");
}

static void what_no_sentinel_says_is_refused_and_tried_again(void **state)
{
	const struct redis_config config = {.master_name = unconst("m")};
	redisReply nil = {.type = REDIS_REPLY_NIL};
	redisReply text = reply_of(REDIS_REPLY_STRING, "x");
	struct redis_address a;
	struct error err = {0};

	(void)state;
	assert_int_equal(ask("10.0.0.1", "0", &a, &err), -1);
	assert_true(err.retriable);
	assert_int_equal(ask("", "6380", &a, &err), -1);
	assert_int_equal(redis_parse_master(&nil, &config, &a, &err), -1);
	assert_non_null(strstr(err.text, "no master 'm'"));
	assert_int_equal(redis_parse_master(&text, &config, &a, &err), -1);
	assert_true(err.retriable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_a_list_each_is_an_address),
		cmocka_unit_test(what_is_no_list_of_addresses_is_refused),
		cmocka_unit_test(with_sentinels_the_address_does_not_count),
		cmocka_unit_test(a_redis_that_is_too_old_is_refused),
		cmocka_unit_test(a_replica_is_refused),
		cmocka_unit_test(who_may_not_ask_believes),
		cmocka_unit_test(a_sentinel_tells_host_and_port),
		cmocka_unit_test(
			what_no_sentinel_says_is_refused_and_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
