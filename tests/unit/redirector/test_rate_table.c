#include <arpa/inet.h>

#include "common/clock.h"
#include "redirector/visit/rate_table.h"
#include "tests/unit/unit.h"

#define NOW  (5 * CLOCK_HOUR)
#define ROOM (1 << 16) /* 2048 buckets and a few bytes */

static uint64_t parse_network(const char *text)
{
	struct address a = {.len = 0};

	a.len = (uint8_t)ip_parse(text, a.bytes);
	assert_int_not_equal(a.len, 0);
	return network_of(&a);
}

/* Returns the nth of many clients. */
static uint64_t network_of_nth_client(uint32_t n)
{
	struct address a = {.len = 4,
			    .bytes = {(uint8_t)(n >> 24), (uint8_t)(n >> 16),
				      (uint8_t)(n >> 8), (uint8_t)n}};

	return network_of(&a);
}

static struct rate_table *table_of(uint64_t a_second, uint64_t burst,
				   size_t bytes)
{
	const struct rate_rule rule = {a_second, CLOCK_SECOND, burst};
	struct error err = {0};
	struct rate_table *t = rate_table_new(&rule, bytes, &err);

	assert_non_null(t);
	return t;
}

/* Returns how many of `n` requests are allowed at `now`. */
static unsigned count_allowed(struct rate_table *t, uint64_t net, unsigned n,
			      int64_t now)
{
	unsigned count = 0;
	int64_t wait;

	while (n--)
		count += rate_table_take(t, net, now, &wait);
	return count;
}

static void a_new_network_has_its_burst(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);

	(void)state;
	assert_int_equal(count_allowed(t, parse_network("192.0.2.1"), 100, NOW),
			 25);
	rate_table_free(t);
}

static void a_bucket_fills_at_its_rate_and_not_beyond(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);
	uint64_t net = parse_network("192.0.2.1");

	(void)state;
	count_allowed(t, net, 100, NOW);
	assert_int_equal(count_allowed(t, net, 100, NOW + 500), 5);
	assert_int_equal(count_allowed(t, net, 100, NOW + CLOCK_HOUR), 25);
	rate_table_free(t);
}

static void the_wait_is_long_enough_and_not_longer(void **state)
{
	struct rate_table *t = table_of(3, 1, ROOM);
	uint64_t net = parse_network("192.0.2.1");
	int64_t wait = 0, other;

	(void)state;
	count_allowed(t, net, 1, NOW);
	assert_false(rate_table_take(t, net, NOW, &wait));
	assert_false(rate_table_take(t, net, NOW + wait - 1, &other));
	assert_true(rate_table_take(t, net, NOW + wait, &other));
	rate_table_free(t);
}

static void a_clock_that_goes_back_stands_still(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);
	uint64_t net = parse_network("192.0.2.1");
	int64_t wait = 0;

	(void)state;
	count_allowed(t, net, 25, NOW);
	assert_false(rate_table_take(t, net, NOW - CLOCK_HOUR, &wait));
	assert_int_equal(wait, 100);
	assert_int_equal(count_allowed(t, parse_network("192.0.2.2"), 100, 0),
			 25);
	assert_int_equal(count_allowed(t, net, 100, NOW + 100), 1);
	rate_table_free(t);
}

static void what_was_returned_can_be_taken_again(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);
	uint64_t net = parse_network("192.0.2.1");

	(void)state;
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(count_allowed(t, net, 1, NOW), 1);
		rate_table_give_back(t, net);
	}
	assert_int_equal(count_allowed(t, net, 100, NOW), 25);
	rate_table_free(t);
}

static void returning_late_never_fills_beyond_the_burst(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);
	uint64_t net = parse_network("192.0.2.1");

	(void)state;
	count_allowed(t, net, 5, NOW);
	for (int i = 0; i < 5; i++)
		rate_table_give_back(t, net);
	assert_int_equal(count_allowed(t, net, 100, NOW + CLOCK_MINUTE), 25);
	rate_table_free(t);
}

static void
what_is_returned_of_a_forgotten_network_is_nobody_elses(void **state)
{
	struct rate_table *t = table_of(10, 25, ROOM);

	(void)state;
	count_allowed(t, parse_network("192.0.2.1"), 25, NOW);
	rate_table_give_back(t, parse_network("192.0.2.2"));
	assert_int_equal(count_allowed(t, parse_network("192.0.2.1"), 100, NOW),
			 0);
	rate_table_free(t);
}

/* --- networks of addresses -------------------------------------------------
 */

static void neighbours_of_ipv4_are_apart(void **state)
{
	(void)state;
	assert_int_not_equal(parse_network("192.0.2.1"),
			     parse_network("192.0.2.2"));
}

static void a_mapped_address_is_its_ipv4_address(void **state)
{
	(void)state;
	assert_int_equal(parse_network("::ffff:192.0.2.1"),
			 parse_network("192.0.2.1"));
}

static void a_64_of_ipv6_is_one_network(void **state)
{
	(void)state;
	assert_int_equal(parse_network("2001:db8:1:2::1"),
			 parse_network("2001:db8:1:2:ffff:ffff:ffff:ffff"));
	assert_int_not_equal(parse_network("2001:db8:1:2::1"),
			     parse_network("2001:db8:1:3::1"));
	assert_int_not_equal(parse_network("::1"), parse_network("0.0.0.0"));
}

static void an_unknown_address_has_no_limit(void **state)
{
	const struct address unknown = {.len = 0};
	struct rate_table *t = table_of(10, 25, ROOM);

	(void)state;
	assert_int_equal(count_allowed(t, network_of(&unknown), 1000, NOW),
			 1000);
	rate_table_give_back(t, network_of(&unknown));
	rate_table_free(t);
}

static void no_table_is_no_limit(void **state)
{
	(void)state;
	assert_int_equal(
		count_allowed(NULL, parse_network("192.0.2.1"), 1000, NOW),
		1000);
	rate_table_give_back(NULL, parse_network("192.0.2.1"));
	assert_int_equal(rate_table_forgotten(NULL), 0);
}

/* --- many ------------------------------------------------------------------
 */

static void each_of_many_networks_has_its_own_bucket(void **state)
{
	struct rate_table *t = table_of(1, 3, ROOM);

	(void)state;
	for (uint32_t n = 0; n < 100; n++)
		assert_int_equal(
			count_allowed(t, network_of_nth_client(n), 2, NOW), 2);
	for (uint32_t n = 0; n < 100; n++)
		assert_int_equal(
			count_allowed(t, network_of_nth_client(n), 2, NOW), 1);
	assert_int_equal(rate_table_forgotten(t), 0);
	rate_table_free(t);
}

static void a_debt_outlives_a_crowd_of_strangers(void **state)
{
	struct rate_table *t = table_of(1, 100, ROOM);
	uint64_t debtor = parse_network("198.51.100.1");
	int64_t wait;

	(void)state;
	assert_int_equal(count_allowed(t, debtor, 1000, NOW), 100);
	/* A hundred clients for each bucket. */
	for (uint32_t n = 0; n < 200000; n++)
		assert_true(rate_table_take(t, network_of_nth_client(n), NOW,
					    &wait));
	assert_int_equal(count_allowed(t, debtor, 1000, NOW), 0);
	assert_true(rate_table_forgotten(t) > 0);
	rate_table_free(t);
}

static void a_full_table_serves_strangers(void **state)
{
	struct rate_table *t = table_of(1, 10, ROOM);

	(void)state;
	for (uint32_t n = 0; n < 20000; n++)
		count_allowed(t, network_of_nth_client(n), 10, NOW);
	assert_true(count_allowed(t, parse_network("198.51.100.1"), 5, NOW) ==
		    5);
	rate_table_free(t);
}

static void full_buckets_make_room_unnoticed(void **state)
{
	struct rate_table *t = table_of(1, 10, ROOM);

	(void)state;
	for (uint32_t n = 0; n < 200000; n++)
		assert_int_equal(count_allowed(t, network_of_nth_client(n), 10,
					       NOW + 200 * (int64_t)n),
				 10);
	/* Fifty clients, those of ten seconds, have debts at the same time. */
	assert_int_equal(rate_table_forgotten(t), 0);
	rate_table_free(t);
}

static void the_smallest_table_limits_one_network(void **state)
{
	struct rate_table *t = table_of(10, 25, 0);

	(void)state;
	assert_int_equal(count_allowed(t, parse_network("192.0.2.1"), 100, NOW),
			 25);
	rate_table_free(t);
}

static void extreme_rules_do_not_overflow(void **state)
{
	const struct rate_rule slow = {1, CLOCK_HOUR, RATE_COUNT_MAX};
	struct error err = {0};
	struct rate_table *t = rate_table_new(&slow, ROOM, &err);
	uint64_t net = parse_network("192.0.2.1");
	int64_t wait = 0;

	(void)state;
	assert_int_equal(count_allowed(t, net, RATE_COUNT_MAX, NOW),
			 RATE_COUNT_MAX);
	assert_false(rate_table_take(t, net, NOW, &wait));
	assert_int_equal(wait, CLOCK_HOUR);
	rate_table_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_network_has_its_burst),
		cmocka_unit_test(a_bucket_fills_at_its_rate_and_not_beyond),
		cmocka_unit_test(the_wait_is_long_enough_and_not_longer),
		cmocka_unit_test(a_clock_that_goes_back_stands_still),
		cmocka_unit_test(what_was_returned_can_be_taken_again),
		cmocka_unit_test(returning_late_never_fills_beyond_the_burst),
		cmocka_unit_test(
			what_is_returned_of_a_forgotten_network_is_nobody_elses),
		cmocka_unit_test(neighbours_of_ipv4_are_apart),
		cmocka_unit_test(a_mapped_address_is_its_ipv4_address),
		cmocka_unit_test(a_64_of_ipv6_is_one_network),
		cmocka_unit_test(an_unknown_address_has_no_limit),
		cmocka_unit_test(no_table_is_no_limit),
		cmocka_unit_test(each_of_many_networks_has_its_own_bucket),
		cmocka_unit_test(a_debt_outlives_a_crowd_of_strangers),
		cmocka_unit_test(a_full_table_serves_strangers),
		cmocka_unit_test(full_buckets_make_room_unnoticed),
		cmocka_unit_test(the_smallest_table_limits_one_network),
		cmocka_unit_test(extreme_rules_do_not_overflow),
	};

	return cmocka_run_group_tests_name("rate_table", tests, NULL, NULL);
}
