/* Replies are read value by value, with a real Redis. */
#include "tests/unit/redis_server.h"

#define VALUES_MAX 16

struct taken {
	size_t count;
	size_t places[VALUES_MAX];
	enum redis_value_type types[VALUES_MAX];
	char texts[VALUES_MAX][64];
	int64_t numbers[VALUES_MAX];
};

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

static void record_value(void *arg, size_t i, const struct redis_value *value)
{
	struct taken *t = arg;

	assert_true(t->count < VALUES_MAX);
	t->places[t->count] = i;
	t->types[t->count] = value->type;
	t->numbers[t->count] = value->number;
	snprintf(t->texts[t->count], sizeof(t->texts[0]), "%.*s",
		 (int)value->len, value->text ? value->text : "");
	t->count++;
}

static void append_command(struct redis_server *s, int argc, const char **argv)
{
	struct error err;

	assert_int_equal(redis_append(s->redis, argc, argv, NULL, &err), 0);
}

static struct taken take_values(struct redis_server *s)
{
	struct taken t = {0};
	struct error err;

	if (redis_take_values(s->redis, record_value, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static struct taken query_values(struct redis_server *s, int argc,
				 const char **argv)
{
	append_command(s, argc, argv);
	return take_values(s);
}

static void an_array_comes_value_by_value(void **state)
{
	const char *set[] = {"MSET", "a", "one", "c", ""};
	const char *get[] = {"MGET", "a", "b", "c"};
	struct redis_server *s = *state;
	struct taken t;

	query_values(s, 5, set);
	t = query_values(s, 4, get);
	assert_int_equal(t.count, 3);
	assert_int_equal(t.places[2], 2);
	assert_string_equal(t.texts[0], "one");
	assert_int_equal(t.types[1], REDIS_VALUE_NIL);
	assert_int_equal(t.types[2], REDIS_VALUE_TEXT);
}

static void a_single_reply_is_value_0(void **state)
{
	const char *incr[] = {"INCR", "n"};
	struct taken t = query_values(*state, 2, incr);

	assert_int_equal(t.count, 1);
	assert_int_equal(t.places[0], 0);
	assert_int_equal(t.types[0], REDIS_VALUE_NUMBER);
	assert_int_equal(t.numbers[0], 1);
}

static void an_error_reply_is_a_value_too(void **state)
{
	const char *wrong[] = {"GET"};
	struct taken t = query_values(*state, 1, wrong);

	assert_int_equal(t.types[0], REDIS_VALUE_ERROR);
	assert_non_null(strstr(t.texts[0], "wrong number of arguments"));
}

static void an_empty_array_has_no_values(void **state)
{
	const char *range[] = {"LRANGE", "none", "0", "-1"};

	assert_int_equal(query_values(*state, 4, range).count, 0);
}

static void arrays_in_arrays_are_refused_and_the_next_reply_is_whole(void **st)
{
	const char *nested[] = {"EVAL", "return {{1,2},3}", "0"};
	const char *echo[] = {"ECHO", "after"};
	struct redis_server *s = *st;
	struct taken t = {0};
	struct error err;

	append_command(s, 3, nested);
	append_command(s, 2, echo);
	assert_int_equal(redis_take_values(s->redis, record_value, &t, &err),
			 -1);
	assert_int_equal(err.code, ERROR_PROTOCOL);
	assert_string_equal(take_values(s).texts[0], "after");
}

static void kept_replies_and_passed_ones_follow_each_other(void **state)
{
	const char *first[] = {"ECHO", "first"}, *second[] = {"ECHO", "second"};
	struct redis_server *s = *state;
	redisReply *reply;
	struct error err;

	append_command(s, 2, first);
	append_command(s, 2, second);
	assert_int_equal(redis_flush(s->redis, &err), 0);
	assert_string_equal(take_values(s).texts[0], "first");
	assert_int_equal(redis_take_reply(s->redis, &reply, &err), 0);
	assert_string_equal(reply->str, "second");
	freeReplyObject(reply);
}

static void nothing_owed_is_an_error(void **state)
{
	struct redis_server *s = *state;
	struct taken t = {0};
	struct error err;

	assert_int_equal(redis_take_values(s->redis, record_value, &t, &err),
			 -1);
	assert_int_equal(err.code, ERROR_REMOTE);
}

static void a_server_that_dies_is_an_error_and_then_forgotten(void **state)
{
	const char *echo[] = {"ECHO", "hello"};
	struct redis_server *s = *state;
	struct taken t = {0};
	struct error err;

	append_command(s, 2, echo);
	redis_server_kill(s);
	assert_int_equal(redis_take_values(s->redis, record_value, &t, &err),
			 -1);
	assert_true(err.retriable);
	redis_server_run(s);
	redis_server_await(s);
	assert_string_equal(query_values(s, 2, echo).texts[0], "hello");
}

static void a_lone_redis_does_not_keep_slots_apart(void **state)
{
	struct redis_server *s = *state;
	struct error err;
	bool apart = true;

	assert_int_equal(redis_keeps_slots_apart(s->redis, &apart, &err), 0);
	assert_false(apart);
}

static void a_node_of_a_cluster_does(void **state)
{
	struct redis_server server;
	struct error err;
	bool apart = false;

	(void)state;
	redis_server_start_cluster(&server);
	assert_int_equal(redis_keeps_slots_apart(server.redis, &apart, &err),
			 0);
	assert_true(apart);
	redis_server_stop(&server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_array_comes_value_by_value),
		cmocka_unit_test(a_single_reply_is_value_0),
		cmocka_unit_test(an_error_reply_is_a_value_too),
		cmocka_unit_test(an_empty_array_has_no_values),
		cmocka_unit_test(
			arrays_in_arrays_are_refused_and_the_next_reply_is_whole),
		cmocka_unit_test(
			kept_replies_and_passed_ones_follow_each_other),
		cmocka_unit_test(nothing_owed_is_an_error),
		cmocka_unit_test(
			a_server_that_dies_is_an_error_and_then_forgotten),
		cmocka_unit_test(a_lone_redis_does_not_keep_slots_apart),
		cmocka_unit_test(a_node_of_a_cluster_does),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
