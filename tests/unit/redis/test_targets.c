/* Lists of addresses, and the servers' roles. */
#include "tests/unit/unit.h"

#include <string.h>

#include "common/drop_const.h"
#include "common/redis/targets.h"

static redisReply reply_of(int type, const char *text)
{
	return (redisReply){
		.type = type, .str = drop_const(text), .len = strlen(text)};
}

/* --- addresses ------------------------------------------------------------ */

static int parse_addresses(const char *address, struct redis_targets *t,
			   struct error *err)
{
	struct redis_config config = {.address = drop_const(address)};

	return redis_targets_parse(&config, t, err);
}

static void of_a_list_each_is_an_address(void **state)
{
	struct redis_targets t;
	struct error err;

	(void)state;
	assert_int_equal(parse_addresses("a:1, [::1]:2 ,unix:/s", &t, &err), 0);
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
		assert_int_equal(parse_addresses(bad[i], &t, &err), -1);
		assert_int_equal(err.code, ERROR_CONFIG);
	}
}

static void with_sentinels_the_address_does_not_count(void **state)
{
	char *sentinels[] = {drop_const("a:1"), drop_const("b:2")};
	const struct redis_config config = {
		.address = drop_const("c:3"),
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

/* A script over several slots must not be sent to a cluster. */
static void only_a_server_that_says_so_is_no_cluster(void **state)
{
	redisReply alone = reply_of(REDIS_REPLY_STRING,
				    "# Server\r\nredis_mode:standalone\r\n");
	redisReply node = reply_of(REDIS_REPLY_STRING,
				   "# Server\r\nredis_mode:cluster\r\n");
	redisReply silent = reply_of(REDIS_REPLY_STRING, "# Server\r\n");
	redisReply no = reply_of(REDIS_REPLY_ERROR,
				 "NOPERM this user has no permissions");

	(void)state;
	assert_false(redis_info_keeps_slots_apart(&alone));
	assert_true(redis_info_keeps_slots_apart(&node));
	assert_true(redis_info_keeps_slots_apart(&silent));
	assert_true(redis_info_keeps_slots_apart(&no));
}

/* --- sentinels ------------------------------------------------------------ */

static int parse_master_reply(const char *host, const char *port,
			      struct redis_address *a, struct error *err)
{
	const struct redis_config config = {.master_name = drop_const("m")};
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
	assert_int_equal(parse_master_reply("10.0.0.1", "6380", &a, &err), 0);
	assert_string_equal(a.host, "10.0.0.1");
	assert_int_equal(a.port, 6380);
	assert_int_equal(parse_master_reply("fd00::1", "6380", &a, &err), 0);
	assert_string_equal(a.host, "fd00::1");
}

/* --- replicas that sentinels know ------------------------------------------
 */

#define FIELDS 8

/* An element of the answer to SENTINEL replicas. */
struct known {
	redisReply reply, texts[FIELDS], *elements[FIELDS];
};

static redisReply *make_known_replica(struct known *k, const char *port,
				      const char *flags, const char *link)
{
	const char *const texts[FIELDS] = {
		"ip",  "10.0.0.1",	     "port", port, "flags",
		flags, "master-link-status", link};

	for (size_t i = 0; i < FIELDS; i++) {
		k->texts[i] = reply_of(REDIS_REPLY_STRING, texts[i]);
		k->elements[i] = &k->texts[i];
	}
	k->reply = (redisReply){.type = REDIS_REPLY_ARRAY,
				.elements = FIELDS,
				.element = k->elements};
	return &k->reply;
}

/* Returns the port of the chosen replica; 0: none. */
static int choose_replica_port(redisReply **all, size_t count, size_t which,
			       struct error *err)
{
	const struct redis_config config = {.master_name = drop_const("m")};
	const redisReply reply = {
		.type = REDIS_REPLY_ARRAY, .elements = count, .element = all};
	struct redis_address a;

	return redis_parse_replicas(&reply, &config, which, &a, err) < 0
		       ? 0
		       : a.port;
}

static void of_the_replicas_those_that_are_up_take_turns(void **state)
{
	struct known k[5];
	redisReply *all[] = {
		make_known_replica(&k[0], "1", "s_down,slave", "ok"),
		make_known_replica(&k[1], "2", "slave", "ok"),
		make_known_replica(&k[2], "3", "slave", "err"),
		make_known_replica(&k[3], "4", "slave,disconnected", "ok"),
		make_known_replica(&k[4], "5", "slave", "ok"),
	};
	struct error err;

	(void)state;
	assert_int_equal(choose_replica_port(all, 5, 0, &err), 2);
	assert_int_equal(choose_replica_port(all, 5, 1, &err), 5);
	assert_int_equal(choose_replica_port(all, 5, 2, &err), 2);
	/* A replica that lost its master for a while is better than none. */
	assert_int_equal(choose_replica_port(all + 2, 1, 7, &err), 3);
}

static void without_a_replica_that_is_up_the_reason_is_told(void **state)
{
	const struct redis_config config = {.master_name = drop_const("m")};
	redisReply no = reply_of(REDIS_REPLY_ERROR,
				 "ERR No such master with that name");
	redisReply nil = {.type = REDIS_REPLY_NIL};
	struct known k[1];
	redisReply *all[] = {
		make_known_replica(&k[0], "1", "o_down,slave", "ok"), &nil};
	struct redis_address a;
	struct error err;

	(void)state;
	assert_int_equal(choose_replica_port(all, 0, 0, &err), 0);
	assert_non_null(strstr(err.text, "no replica of 'm' that is up"));
	assert_true(err.retriable);
	assert_int_equal(choose_replica_port(all, 2, 0, &err), 0);
	make_known_replica(&k[0], "0", "slave", "ok");
	assert_int_equal(choose_replica_port(all, 1, 0, &err), 0);
	assert_true(err.retriable);
	assert_int_equal(redis_parse_replicas(&no, &config, 0, &a, &err), -1);
	assert_non_null(strstr(err.text, "No such master"));
	assert_int_equal(redis_parse_replicas(&nil, &config, 0, &a, &err), -1);
	assert_true(err.retriable);
}

/* The reply has half a pair, or numbers in place of texts. */
static void fields_that_are_missing_make_no_replica(void **state)
{
	struct known k;
	redisReply *all[] = {make_known_replica(&k, "1", "slave", "ok")};
	struct error err;

	(void)state;
	for (size_t n = 0; n < 6; n++) {
		k.reply.elements = n;
		assert_int_equal(choose_replica_port(all, 1, 0, &err), 0);
	}
	k.reply.elements = FIELDS;
	for (size_t i = 0; i < 6; i++) {
		make_known_replica(&k, "1", "slave", "ok");
		k.texts[i].type = REDIS_REPLY_INTEGER;
		assert_int_equal(choose_replica_port(all, 1, 0, &err), 0);
	}
}

static void with_discovery_the_sentinels_are_asked_for_replicas(void **state)
{
	char *sentinels[] = {drop_const("a:1"), drop_const("b:2")};
	const struct redis_config config = {
		.sentinels = {sentinels, 2},
		.sentinel_replicas = true,
	};
	struct redis_targets t;
	struct error err;

	(void)state;
	assert_int_equal(redis_targets_of_replicas(&config, 3, &t, &err), 0);
	assert_true(t.sentinels);
	assert_int_equal(t.count, 2);
	assert_string_equal(t.all[0].text, "b:2");
	redis_targets_free(&t);
}

static void what_no_sentinel_says_is_refused_and_tried_again(void **state)
{
	const struct redis_config config = {.master_name = drop_const("m")};
	redisReply nil = {.type = REDIS_REPLY_NIL};
	redisReply text = reply_of(REDIS_REPLY_STRING, "x");
	struct redis_address a;
	struct error err = {0};

	(void)state;
	assert_int_equal(parse_master_reply("10.0.0.1", "0", &a, &err), -1);
	assert_true(err.retriable);
	assert_int_equal(parse_master_reply("", "6380", &a, &err), -1);
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
		cmocka_unit_test(only_a_server_that_says_so_is_no_cluster),
		cmocka_unit_test(a_sentinel_tells_host_and_port),
		cmocka_unit_test(of_the_replicas_those_that_are_up_take_turns),
		cmocka_unit_test(
			without_a_replica_that_is_up_the_reason_is_told),
		cmocka_unit_test(fields_that_are_missing_make_no_replica),
		cmocka_unit_test(
			with_discovery_the_sentinels_are_asked_for_replicas),
		cmocka_unit_test(
			what_no_sentinel_says_is_refused_and_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
