/* Redis on an event loop, with a real Redis. */
#include "tests/unit/redis_server.h"

#include "common/clock.h"
#include "common/redis/redis_async.h"

struct fixture {
	struct redis_server server;
	struct redis_script script; /* adds to a number */
	struct redis_scripts scripts;
	struct loop *loop;
	struct redis_async *redis;
	struct loop_timer *timeout;
	bool stop_when_up, stop_when_down;
	int ups, downs;
	/* the last answer */
	int answers, errors;
	long long integer;
	struct error error;
	int stop_after; /* the number of answers */
};

static void on_state(void *arg, bool up, const struct error *err)
{
	struct fixture *f = arg;

	if (up)
		f->ups++;
	else
		f->downs++;
	if (!up)
		f->error = *err;
	if (up ? f->stop_when_up : f->stop_when_down)
		loop_stop(f->loop);
}

static void on_timeout(void *arg)
{
	(void)arg;
	fail_msg("nothing happened within 10 s");
}

static void on_answer(void *arg, const redisReply *reply,
		      const struct error *err)
{
	struct fixture *f = arg;

	f->answers++;
	if (err) {
		f->errors++;
		f->error = *err;
	} else {
		f->integer = reply->integer;
	}
	if (f->answers == f->stop_after)
		loop_stop(f->loop);
}

static void run_loop(struct fixture *f)
{
	struct error err;

	loop_timer_set(f->timeout, 10000);
	assert_int_equal(loop_run(f->loop, &err), 0);
}

static void run_until_up(struct fixture *f)
{
	f->stop_when_up = true;
	if (!redis_async_is_up(f->redis))
		run_loop(f);
	f->stop_when_up = false;
}

static int setup_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err;

	redis_server_start(&f->server);
	f->server.config.command_timeout = 300;
	f->loop = loop_new(&err);
	f->timeout = loop_timer_new(f->loop, on_timeout, f, &err);
	redis_script_init(&f->script,
			  "return redis.call('INCRBY', KEYS[1], ARGV[1])");
	f->scripts = (struct redis_scripts){&f->script, 1};
	f->redis = redis_async_new(f->loop, &f->server.config, &f->scripts,
				   on_state, f, &err);
	assert_non_null(f->redis);
	*state = f;
	return 0;
}

static int teardown_fixture(void **state)
{
	struct fixture *f = *state;

	redis_async_free(f->redis);
	loop_free(f->loop);
	redis_server_stop(&f->server);
	free(f);
	return 0;
}

static int send_incr(struct fixture *f, struct error *err)
{
	const char *incr[] = {"INCR", "n"};

	return redis_async_command(f->redis, 2, incr, NULL, on_answer, f, err);
}

static void commands_of_one_turn_are_answered_in_order(void **state)
{
	struct fixture *f = *state;
	struct error err;

	run_until_up(f);
	for (int i = 0; i < 500; i++)
		assert_int_equal(send_incr(f, &err), 0);
	assert_int_equal(redis_async_pending(f->redis), 500);
	f->stop_after = 500;
	run_loop(f);
	assert_int_equal(f->integer, 500);
	assert_int_equal(f->errors, 0);
}

static void too_many_commands_are_refused(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};

	run_until_up(f);
	for (int i = 0; i < f->server.config.pending_max; i++)
		assert_int_equal(send_incr(f, &err), 0);
	assert_int_equal(send_incr(f, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	assert_true(err.retriable);
}

static void commands_before_the_connection_are_refused(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};

	assert_int_equal(send_incr(f, &err), -1);
	assert_true(err.retriable);
}

static void call_script(struct fixture *f)
{
	const char *argv[] = {"n", "5"};
	struct error err;

	run_until_up(f);
	f->stop_after = f->answers + 1;
	assert_int_equal(redis_async_eval(f->redis, &f->script, 1, 2, argv,
					  NULL, on_answer, f, &err),
			 0);
	run_loop(f);
}

/* No script was run: what is sent again runs once. */
static void dropped_scripts_are_loaded_again(void **state)
{
	struct fixture *f = *state;

	call_script(f);
	call_script(f);
	assert_int_equal(f->integer, 10);
	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	call_script(f);
	assert_int_equal(f->errors, 1);
	assert_true(f->error.retriable);
	call_script(f);
	assert_int_equal(f->errors, 1);
	assert_int_equal(f->integer, 15);
	assert_int_equal(f->ups, 2);
}

/* The same holds for commands that were sent before the answer came. */
static void what_is_in_flight_when_scripts_are_dropped_is_answered(void **state)
{
	const char *argv[] = {"n", "5"}, *get[] = {"GET", "n"};
	struct fixture *f = *state;
	struct error err;

	run_until_up(f);
	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	f->stop_after = 3;
	for (int i = 0; i < 2; i++)
		assert_int_equal(redis_async_eval(f->redis, &f->script, 1, 2,
						  argv, NULL, on_answer, f,
						  &err),
				 0);
	assert_int_equal(
		redis_async_command(f->redis, 2, get, NULL, on_answer, f, &err),
		0);
	run_loop(f);
	assert_int_equal(f->errors, 2);
	call_script(f);
	assert_int_equal(f->integer, 5);
}

static void a_script_that_is_none_keeps_the_connection_down(void **state)
{
	struct fixture *f = *state;

	redis_script_init(&f->script, "return (");
	f->stop_when_down = true;
	run_loop(f);
	assert_non_null(strstr(f->error.text, "Error compiling script"));
	assert_int_equal(f->ups, 0);
}

static void an_error_reply_is_an_error_with_its_text(void **state)
{
	struct fixture *f = *state;
	const char *bad[] = {"NOSUCHCOMMAND"};
	struct error err;

	run_until_up(f);
	f->stop_after = 1;
	assert_int_equal(
		redis_async_command(f->redis, 1, bad, NULL, on_answer, f, &err),
		0);
	run_loop(f);
	assert_non_null(strstr(f->error.text, "unknown command"));
	assert_false(f->error.retriable);
}

static void a_hung_server_is_given_up_and_found_again(void **state)
{
	struct fixture *f = *state;
	int64_t start = clock_monotonic_ms();
	struct error err;

	run_until_up(f);
	kill(f->server.pid, SIGSTOP);
	assert_int_equal(send_incr(f, &err), 0);
	f->stop_when_down = true;
	run_loop(f);
	f->stop_when_down = false;
	assert_int_equal(f->errors, 1);
	assert_true(f->error.retriable);
	assert_true(clock_monotonic_ms() - start < 30000);
	kill(f->server.pid, SIGCONT);
	run_until_up(f);
	assert_int_equal(f->ups, 2);
}

static void a_killed_server_fails_what_is_in_flight(void **state)
{
	struct fixture *f = *state;
	struct error err;

	run_until_up(f);
	kill(f->server.pid, SIGSTOP);
	assert_int_equal(send_incr(f, &err), 0);
	redis_async_flush(f->redis);
	redis_server_kill(&f->server);
	f->stop_when_down = true;
	run_loop(f);
	f->stop_when_down = false;
	assert_int_equal(f->errors, 1);
	assert_int_equal(redis_async_pending(f->redis), 0);
	redis_server_run(&f->server);
	run_until_up(f);
	f->stop_after = 2;
	assert_int_equal(send_incr(f, &err), 0);
	run_loop(f);
	assert_int_equal(f->errors, 1);
}

static void a_wrong_password_is_told_and_tried_again(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(
		redis_server_ask(&f->server, "CONFIG SET requirepass secret"));
	f->stop_when_down = true;
	run_loop(f);
	f->stop_when_down = false;
	assert_non_null(strstr(f->error.text, "NOAUTH"));
	f->server.config.password = (char *)(uintptr_t) "secret";
	run_until_up(f);
}

static void freeing_answers_what_is_in_flight(void **state)
{
	struct fixture *f = *state;
	struct error err;

	run_until_up(f);
	assert_int_equal(send_incr(f, &err), 0);
	redis_async_free(f->redis);
	f->redis = NULL;
	assert_int_equal(f->errors, 1);
}

struct again {
	struct fixture *f;
	int refused;
};

static void send_again(void *arg, const redisReply *reply,
		       const struct error *err)
{
	struct again *again = arg;
	const char *ping[] = {"PING"};
	struct error refused;

	(void)reply;
	if (err && redis_async_command(again->f->redis, 1, ping, NULL,
				       send_again, again, &refused))
		again->refused++;
}

static void a_command_from_a_callback_of_a_lost_one_is_refused(void **state)
{
	struct fixture *f = *state;
	struct again again = {.f = f};
	const char *ping[] = {"PING"};
	struct error err;

	run_until_up(f);
	kill(f->server.pid, SIGSTOP);
	assert_int_equal(redis_async_command(f->redis, 1, ping, NULL,
					     send_again, &again, &err),
			 0);
	f->stop_when_down = true;
	run_loop(f);
	kill(f->server.pid, SIGCONT);
	assert_int_equal(again.refused, 1);
}

#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, setup_fixture, teardown_fixture)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(commands_of_one_turn_are_answered_in_order),
		TEST(too_many_commands_are_refused),
		TEST(commands_before_the_connection_are_refused),
		TEST(dropped_scripts_are_loaded_again),
		TEST(what_is_in_flight_when_scripts_are_dropped_is_answered),
		TEST(a_script_that_is_none_keeps_the_connection_down),
		TEST(an_error_reply_is_an_error_with_its_text),
		TEST(a_hung_server_is_given_up_and_found_again),
		TEST(a_killed_server_fails_what_is_in_flight),
		TEST(a_wrong_password_is_told_and_tried_again),
		TEST(freeing_answers_what_is_in_flight),
		TEST(a_command_from_a_callback_of_a_lost_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
