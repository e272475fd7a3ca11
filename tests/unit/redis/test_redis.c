/* The blocking connection, with a real Redis. */
#include "tests/unit/redis_server.h"

#include "common/clock.h"

static int start_server(void **state)
{
	static struct redis_server server;

	redis_server_start(&server);
	*state = &server;
	return 0;
}

static int stop_server(void **state)
{
	redis_server_stop(*state);
	return 0;
}

static void a_command_takes_bytes_that_are_no_text(void **state)
{
	struct redis_server *s = *state;
	const char *set[] = {"SET", "k", "a\0b\r\n"};
	size_t lens[] = {3, 1, 5};
	struct error err;
	redisReply *reply;

	assert_int_equal(redis_command(s->redis, 3, set, lens, &reply, &err),
			 0);
	freeReplyObject(reply);
	reply = redis_server_ask(s, "GET k");
	assert_int_equal(reply->len, 5);
	assert_memory_equal(reply->str, "a\0b\r\n", 5);
	freeReplyObject(reply);
}

static void an_error_reply_is_an_error_with_its_text(void **state)
{
	struct redis_server *s = *state;
	const char *bad[] = {"NOSUCHCOMMAND"};
	struct error err = {0};
	redisReply *reply;

	assert_int_equal(redis_command(s->redis, 1, bad, NULL, &reply, &err),
			 -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_false(err.retriable);
	assert_non_null(strstr(err.text, "unknown command"));
}

/* The server may have none of the scripts, or all, or none again. */
static void a_connection_loads_its_scripts(void **state)
{
	struct redis_server *s = *state;
	const char *argv[] = {"7"};
	struct redis_script script[2];
	struct redis_scripts scripts = {script, 2};
	struct error err;
	redisReply *reply;

	redis_script_init(&script[0], "return tonumber(ARGV[1]) + 1");
	redis_script_init(&script[1], "return tonumber(ARGV[1]) + 2");
	for (int i = 0; i < 6; i++) {
		struct redis *r = redis_new(&s->config, &scripts, &err);

		assert_int_equal(redis_eval(r, &script[i % 2], 0, 1, argv, NULL,
					    &reply, &err),
				 0);
		assert_int_equal(reply->integer, 8 + i % 2);
		freeReplyObject(reply);
		redis_free(r);
		if (i == 3)
			freeReplyObject(redis_server_ask(s, "SCRIPT FLUSH"));
	}
}

/* No script was run, so a retry is allowed, and succeeds. */
static void dropped_scripts_are_loaded_again(void **state)
{
	struct redis_server *s = *state;
	const char *argv[] = {"runs"};
	struct redis_script script;
	struct redis_scripts scripts = {&script, 1};
	struct error err;
	redisReply *reply;
	struct redis *r = redis_new(&s->config, &scripts, &err);

	redis_script_init(&script, "return redis.call('INCR', KEYS[1])");
	for (int i = 1; i < 4; i++) {
		assert_int_equal(
			redis_eval(r, &script, 1, 1, argv, NULL, &reply, &err),
			0);
		assert_int_equal(reply->integer, i);
		freeReplyObject(reply);
		freeReplyObject(redis_server_ask(s, "SCRIPT FLUSH"));
		assert_int_equal(
			redis_eval(r, &script, 1, 1, argv, NULL, &reply, &err),
			-1);
		assert_true(err.retriable);
	}
	redis_free(r);
}

static void a_script_that_is_none_is_found_when_connecting(void **state)
{
	struct redis_server *s = *state;
	const char *argv[] = {"PING"};
	struct redis_script script;
	struct redis_scripts scripts = {&script, 1};
	struct error err;
	redisReply *reply;
	struct redis *r = redis_new(&s->config, &scripts, &err);

	redis_script_init(&script, "return (");
	assert_int_equal(redis_command(r, 1, argv, NULL, &reply, &err), -1);
	assert_non_null(strstr(err.text, "Error compiling script"));
	redis_free(r);
}

static void the_sum_of_a_script_is_the_one_redis_computes(void **state)
{
	struct redis_server *s = *state;
	struct redis_script script;
	const char *load[] = {"SCRIPT", "LOAD", "return 1"};
	struct error err;
	redisReply *reply;

	redis_script_init(&script, "return 1");
	assert_int_equal(redis_command(s->redis, 3, load, NULL, &reply, &err),
			 0);
	assert_string_equal(reply->str, script.sha);
	freeReplyObject(reply);
}

static void pipelined_replies_come_in_order(void **state)
{
	struct redis_server *s = *state;
	struct error err;
	redisReply *reply;
	char number[12];

	for (int i = 0; i < 1000; i++) {
		const char *echo[] = {"ECHO", number};

		snprintf(number, sizeof(number), "%d", i);
		assert_int_equal(redis_append(s->redis, 2, echo, NULL, &err),
				 0);
	}
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(redis_take_reply(s->redis, &reply, &err), 0);
		assert_int_equal(atoi(reply->str), i);
		freeReplyObject(reply);
	}
}

static void a_reply_that_is_not_owed_is_refused(void **state)
{
	struct redis_server *s = *state;
	struct error err;
	redisReply *reply;

	assert_int_equal(redis_take_reply(s->redis, &reply, &err), -1);
}

static void a_server_that_hangs_is_given_up_in_time(void **state)
{
	struct redis_server *s = *state;
	struct redis_config hasty = s->config;
	const char *ping[] = {"PING"};
	struct error err = {0};
	int64_t start_ms = clock_monotonic_ms();
	redisReply *reply;
	struct redis *r;

	hasty.command_timeout = 100;
	r = redis_new(&hasty, NULL, &err);
	assert_non_null(r);
	kill(s->pid, SIGSTOP);
	assert_int_equal(redis_command(r, 1, ping, NULL, &reply, &err), -1);
	kill(s->pid, SIGCONT);
	redis_free(r);
	assert_true(err.retriable);
	assert_non_null(strstr(err.text, "no answer"));
	assert_true(clock_monotonic_ms() - start_ms < 30000);
}

static void a_restarted_server_is_connected_to_again(void **state)
{
	struct redis_server *s = *state;
	const char *ping[] = {"PING"};
	struct error err = {0};
	redisReply *reply;

	redis_server_kill(s);
	assert_int_equal(redis_command(s->redis, 1, ping, NULL, &reply, &err),
			 -1);
	assert_true(err.retriable);
	redis_server_run(s);
	redis_server_await(s);
}

/* Sends REPLICAOF over a connection that requires no role. */
static void send_replicaof(struct redis_server *s, const char *host,
			   const char *port)
{
	redisContext *c = redisConnectUnix(s->address + strlen("unix:"));
	redisReply *reply;

	assert_non_null(c);
	reply = redisCommand(c, "REPLICAOF %s %s", host, port);
	assert_non_null(reply);
	assert_string_equal(reply->str, "OK");
	freeReplyObject(reply);
	redisFree(c);
}

static int read_one(struct redis *r, struct error *err)
{
	const char *get[] = {"GET", "k"};
	redisReply *reply;

	if (redis_command(r, 2, get, NULL, &reply, err))
		return -1;
	freeReplyObject(reply);
	return 0;
}

static void a_master_that_has_become_a_replica_is_not_confirmed(void **state)
{
	struct redis_server *s = *state;
	struct error err = {0};
	struct redis *r = redis_new(&s->config, NULL, &err);

	assert_int_equal(redis_confirm_master(r, &err), -1);
	assert_int_equal(read_one(r, &err), 0);
	assert_int_equal(redis_confirm_master(r, &err), 0);
	send_replicaof(s, "127.0.0.1", "1");
	assert_int_equal(read_one(r, &err), 0);
	assert_int_equal(redis_confirm_master(r, &err), -1);
	assert_true(err.retriable);
	assert_non_null(strstr(err.text, "it is a replica"));
	/* The connection was closed: the next command searches for the master.
	 */
	assert_int_equal(read_one(r, &err), -1);
	send_replicaof(s, "NO", "ONE");
	assert_int_equal(read_one(r, &err), 0);
	redis_free(r);
}

/* A replica never refuses a read. */
static void
reads_do_not_go_on_at_a_master_that_has_become_a_replica(void **state)
{
	struct redis_server *s = *state;
	struct error err = {0};
	struct redis *r = redis_new(&s->config, NULL, &err);
	int status = read_one(r, &err);

	assert_int_equal(status, 0);
	send_replicaof(s, "127.0.0.1", "1");
	for (int i = 0; i < 6000 && status == 0; i++) {
		usleep(10000);
		status = read_one(r, &err);
	}
	send_replicaof(s, "NO", "ONE");
	assert_int_equal(status, -1);
	assert_true(err.retriable);
	assert_non_null(strstr(err.text, "it is a replica"));
	assert_int_equal(read_one(r, &err), 0);
	redis_free(r);
}

static void an_address_says_what_it_should_look_like(void **state)
{
	static const char *const bad[] = {
		"", "localhost", "h:0", "h:65536", "unix:", "h:80x", ":6379"};
	struct redis_config config = {0};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		config.address = (char *)(uintptr_t)bad[i];
		assert_null(redis_new(&config, NULL, &err));
		assert_int_equal(err.code, ERROR_CONFIG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_takes_bytes_that_are_no_text),
		cmocka_unit_test(an_error_reply_is_an_error_with_its_text),
		cmocka_unit_test(a_connection_loads_its_scripts),
		cmocka_unit_test(dropped_scripts_are_loaded_again),
		cmocka_unit_test(
			a_script_that_is_none_is_found_when_connecting),
		cmocka_unit_test(the_sum_of_a_script_is_the_one_redis_computes),
		cmocka_unit_test(pipelined_replies_come_in_order),
		cmocka_unit_test(a_reply_that_is_not_owed_is_refused),
		cmocka_unit_test(a_server_that_hangs_is_given_up_in_time),
		cmocka_unit_test(a_restarted_server_is_connected_to_again),
		cmocka_unit_test(
			a_master_that_has_become_a_replica_is_not_confirmed),
		cmocka_unit_test(
			reads_do_not_go_on_at_a_master_that_has_become_a_replica),
		cmocka_unit_test(an_address_says_what_it_should_look_like),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
