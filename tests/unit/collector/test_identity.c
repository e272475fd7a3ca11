#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collector/enrich/identity.h"
#include "common/clock.h"

#define SECRET "0123456789abcdef0123456789abcdef"

struct identity {
	unsigned char bytes[IDENTITY_LEN];
};

static struct identity_hasher *make_hasher(const char *secret)
{
	struct error err = {0};
	struct identity_hasher *h = identity_hasher_new(secret, &err);

	assert_non_null(h);
	return h;
}

static struct identity compute_identity(struct identity_hasher *h,
					const char *ip, const char *user_agent,
					int64_t ts)
{
	struct identity id;
	struct error err = {0};

	assert_int_equal(identity_of(h, ip, strlen(ip), user_agent,
				     strlen(user_agent), ts, id.bytes, &err),
			 0);
	return id;
}

static bool is_same_identity(struct identity a, struct identity b)
{
	return !memcmp(a.bytes, b.bytes, IDENTITY_LEN);
}

static void without_a_secret_it_is_sha1(void **state)
{
	/* the digest of "abc" in FIPS 180 */
	static const unsigned char abc[IDENTITY_LEN] =
		"\xa9\x99\x3e\x36\x47\x06\x81\x6a\xba\x3e"
		"\x25\x71\x78\x50\xc2\x6c\x9c\xd0\xd8\x9d";
	struct identity_hasher *h = make_hasher(NULL);

	(void)state;
	assert_memory_equal(compute_identity(h, "a", "bc", 1).bytes, abc,
			    IDENTITY_LEN);
	assert_memory_equal(compute_identity(h, "a", "bc", CLOCK_DAY * 9).bytes,
			    abc, IDENTITY_LEN);
	identity_hasher_free(h);
}

static void a_visitor_is_somebody_else_the_next_day(void **state)
{
	struct identity_hasher *h = make_hasher(SECRET);
	struct identity first =
		compute_identity(h, "1234", "ua", 10 * CLOCK_DAY);

	(void)state;
	assert_true(is_same_identity(
		first, compute_identity(h, "1234", "ua", 11 * CLOCK_DAY - 1)));
	assert_false(is_same_identity(
		first, compute_identity(h, "1234", "ua", 11 * CLOCK_DAY)));
	assert_false(is_same_identity(
		first, compute_identity(h, "1234", "ua", 10 * CLOCK_DAY - 1)));
	assert_true(is_same_identity(
		first, compute_identity(h, "1234", "ua", 10 * CLOCK_DAY)));
	identity_hasher_free(h);
}

static void collectors_with_one_secret_agree(void **state)
{
	struct identity_hasher *a = make_hasher(SECRET),
			       *b = make_hasher(SECRET);
	struct identity_hasher *other = make_hasher(SECRET "x");

	(void)state;
	compute_identity(b, "4321", "other", 3 * CLOCK_DAY);
	assert_true(
		is_same_identity(compute_identity(a, "1234", "ua", CLOCK_DAY),
				 compute_identity(b, "1234", "ua", CLOCK_DAY)));
	assert_false(is_same_identity(
		compute_identity(a, "1234", "ua", CLOCK_DAY),
		compute_identity(other, "1234", "ua", CLOCK_DAY)));
	identity_hasher_free(a);
	identity_hasher_free(b);
	identity_hasher_free(other);
}

static void address_and_user_agent_are_told_apart(void **state)
{
	struct identity_hasher *h = make_hasher(SECRET);

	(void)state;
	assert_false(is_same_identity(compute_identity(h, "1234", "ua", 1),
				      compute_identity(h, "1235", "ua", 1)));
	assert_false(is_same_identity(compute_identity(h, "1234", "ua", 1),
				      compute_identity(h, "1234", "ub", 1)));
	assert_false(is_same_identity(
		compute_identity(h, "1234", "567890123456ua", 1),
		compute_identity(h, "1234567890123456", "ua", 1)));
	assert_false(is_same_identity(compute_identity(h, "", "1234", 1),
				      compute_identity(h, "1234", "", 1)));
	identity_hasher_free(h);
}

/* Collectors of all versions must make the same identity; otherwise a visitor
 * would count twice on the day of an upgrade. */
static void a_visitor_has_the_same_identity_for_ever(void **state)
{
	static const unsigned char expected[IDENTITY_LEN] =
		"\x99\x0a\x50\xa8\x91\xa7\x80\x9f\xf0\xf4"
		"\x80\xf7\x9a\xa2\xac\x9f\xe7\xd1\xce\x6d";
	struct identity_hasher *h = make_hasher(SECRET);

	(void)state;
	assert_memory_equal(compute_identity(h, "\x01\x02\x03\x04", "ua",
					     20777 * CLOCK_DAY + 1)
				    .bytes,
			    expected, IDENTITY_LEN);
	identity_hasher_free(h);
}

static void assert_truncated(const char *address, const char *expected)
{
	uint8_t ip[16], want[16];

	assert_int_equal(inet_pton(AF_INET6, address, ip), 1);
	assert_int_equal(inet_pton(AF_INET6, expected, want), 1);
	identity_truncate(ip);
	assert_memory_equal(ip, want, sizeof(ip));
}

static void an_address_loses_all_below_its_network(void **state)
{
	(void)state;
	assert_truncated("::ffff:203.0.113.77", "::ffff:203.0.113.0");
	assert_truncated("2001:db8:1234:5678:9abc:def0:1234:5678",
			 "2001:db8:1234::");
	/* 6to4 addresses of 203.0.113.77 */
	assert_truncated("2002:cb00:714d:1::1", "2002:cb00:7100::");
	assert_truncated("2102:cb00:714d:1::1", "2102:cb00:714d::");
	assert_truncated("2003:cb00:714d:1::1", "2003:cb00:714d::");
	assert_truncated("64:ff9b::203.0.113.77", "64:ff9b::");
	assert_truncated("::", "::");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_secret_it_is_sha1),
		cmocka_unit_test(a_visitor_is_somebody_else_the_next_day),
		cmocka_unit_test(collectors_with_one_secret_agree),
		cmocka_unit_test(address_and_user_agent_are_told_apart),
		cmocka_unit_test(a_visitor_has_the_same_identity_for_ever),
		cmocka_unit_test(an_address_loses_all_below_its_network),
	};

	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
