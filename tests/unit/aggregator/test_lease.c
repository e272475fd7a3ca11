#include "tests/unit/redis_server.h"

#include "aggregator/settle/lease.h"

/* The lease does not expire while a busy machine runs a test. */
#define TTL_MS 600000

static int start_redis(void **state)
{
	struct redis_server *server = calloc(1, sizeof(*server));

	assert_non_null(server);
	redis_server_start(server);
	*state = server;
	return 0;
}

static int stop_redis(void **state)
{
	redis_server_stop(*state);
	free(*state);
	return 0;
}

static struct lease *make_lease(struct redis_server *server, const char *name,
				int64_t ttl_ms)
{
	struct error err = {0};
	struct lease *lease = lease_new(&server->config, name, ttl_ms, &err);

	assert_non_null(lease);
	return lease;
}

static bool acquire_lease(struct lease *lease)
{
	struct error err = {0};
	bool owned = false;

	assert_int_equal(lease_acquire(lease, &owned, &err), 0);
	return owned;
}

static int check_lease(struct lease *lease)
{
	struct error err = {0};
	int status = lease_check(lease, &err);

	if (status < 0)
		assert_true(err.code == ERROR_STOPPED && err.retriable);
	return status;
}

static void one_of_two_holds_it(void **state)
{
	struct redis_server *server = *state;
	struct lease *a = make_lease(server, "one", TTL_MS);
	struct lease *b = make_lease(server, "one", TTL_MS);
	struct lease *other = make_lease(server, "another", TTL_MS);
	char holder[512];

	assert_string_not_equal(lease_holder(a), lease_holder(b));
	assert_true(acquire_lease(a));
	assert_true(acquire_lease(a));
	assert_false(acquire_lease(b));
	assert_int_equal(check_lease(a), 0);
	assert_int_equal(check_lease(b), -1);
	assert_true(acquire_lease(other));
	assert_string_equal(redis_server_text(server, "GET settle:one", holder),
			    lease_holder(a));
	lease_free(a);
	lease_free(b);
	lease_free(other);
	lease_free(NULL);
}

static long long left_ms(struct redis_server *server)
{
	return redis_server_number(server, "PTTL settle:ttl");
}

static void it_lasts_as_long_as_it_was_last_asked_for(void **state)
{
	struct redis_server *server = *state;
	struct lease *a = make_lease(server, "ttl", TTL_MS);
	struct lease *b = make_lease(server, "ttl", TTL_MS);

	assert_true(acquire_lease(a));
	assert_true(left_ms(server) > TTL_MS / 2);
	assert_true(left_ms(server) <= TTL_MS);
	/* The holder's lease is prolonged, also by a check; the lease of
	 * another holder is not. */
	freeReplyObject(redis_server_ask(server, "PEXPIRE settle:ttl 300000"));
	assert_false(acquire_lease(b));
	assert_true(left_ms(server) <= 300000);
	assert_int_equal(check_lease(a), 0);
	assert_true(left_ms(server) > 300000);
	freeReplyObject(redis_server_ask(server, "PEXPIRE settle:ttl 300000"));
	assert_true(acquire_lease(a));
	assert_true(left_ms(server) > 300000);
	lease_free(a);
	lease_free(b);
}

static void one_that_is_given_up_or_over_is_free(void **state)
{
	struct redis_server *server = *state;
	struct lease *a = make_lease(server, "free", TTL_MS);
	struct lease *b = make_lease(server, "free", TTL_MS);

	assert_true(acquire_lease(a));
	/* A release by another process does not end the lease. */
	lease_release(b);
	assert_false(acquire_lease(b));
	lease_release(a);
	assert_int_equal(redis_server_number(server, "EXISTS settle:free"), 0);
	assert_true(acquire_lease(b));
	freeReplyObject(redis_server_ask(server, "DEL settle:free"));
	assert_true(acquire_lease(a));
	assert_int_equal(check_lease(b), -1);
	lease_free(a);
	lease_free(b);
}

/* A lease takes little memory, and Redis does not hold the figures. */
static void it_is_taken_from_a_full_redis(void **state)
{
	struct redis_server *server = *state;
	struct lease *a = make_lease(server, "full", TTL_MS);

	freeReplyObject(redis_server_ask(server, "CONFIG SET maxmemory 1"));
	assert_true(acquire_lease(a));
	freeReplyObject(redis_server_ask(server, "CONFIG SET maxmemory 0"));
	lease_free(a);
}

/* While Redis does not answer, the holder is unknown. */
static void it_is_not_ours_while_redis_is_away(void **state)
{
	struct redis_server *server = *state;
	struct lease *a = make_lease(server, "away", TTL_MS);
	struct error err = {0};
	bool owned = false;

	assert_true(acquire_lease(a));
	redis_server_kill(server);
	assert_int_equal(lease_acquire(a, &owned, &err), -1);
	assert_false(owned);
	assert_non_null(strstr(err.text, "lease settle:away"));
	assert_int_equal(lease_check(a, &err), -1);
	lease_release(a);
	lease_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_two_holds_it),
		cmocka_unit_test(it_lasts_as_long_as_it_was_last_asked_for),
		cmocka_unit_test(one_that_is_given_up_or_over_is_free),
		cmocka_unit_test(it_is_taken_from_a_full_redis),
		cmocka_unit_test(it_is_not_ours_while_redis_is_away),
	};

	return cmocka_run_group_tests(tests, start_redis, stop_redis);
}
