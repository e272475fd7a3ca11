#include "common/clock.h"
#include "tests/unit/common/keys_world.h"

/* Returns how many of 10 requests the key may make at once. */
static unsigned granted_of_ten(struct api_keyring *ring)
{
	struct api_key_info info = {0};
	unsigned granted = 0;
	int64_t wait;

	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	if (!info.limiter)
		return 10;
	for (int i = 0; i < 10; i++)
		granted += rate_limiter_take(info.limiter, 1, 1, &wait);
	return granted;
}

static void a_key_has_the_rate_of_its_line(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " rate=3/s\n");
	ring = open_ring(&err);
	assert_int_equal(granted_of_ten(ring), 3);
	api_keyring_free(ring);
}

/* The key of an admin has no rate. */
static void a_key_without_a_rate_has_that_of_all(void **state)
{
	const struct api_keyring_options options = {
		.path = path,
		.setting = "x.keys_file",
		.rate = {.count = 4, .period_ms = CLOCK_SECOND, .burst = 4}};
	static const struct {
		const char *line;
		unsigned granted; /* out of 10 */
	} keys[] = {{"a read " SESAME "\n", 4},
		    {"a read " SESAME " rate=3/s\n", 3},
		    {"a read " SESAME " rate=none\n", 10},
		    {"a admin " SESAME "\n", 10},
		    {"a admin " SESAME " rate=3/s\n", 3}};
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		write_file(keys[i].line);
		ring = api_keyring_new(&options, &err);
		assert_non_null(ring);
		assert_int_equal(granted_of_ten(ring), keys[i].granted);
		api_keyring_free(ring);
	}
}

static void a_burst_may_be_larger_than_the_rate(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " burst=7 rate=3/m\n");
	ring = open_ring(&err);
	assert_int_equal(granted_of_ten(ring), 7);
	api_keyring_free(ring);
}

static void a_key_keeps_its_bucket_through_a_reload(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " rate=3/h\n");
	ring = open_ring(&err);
	granted_of_ten(ring);
	write_file("b read " OTHER "\na read " SESAME " rate=3/h\n");
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	assert_int_equal(granted_of_ten(ring), 0);
	api_keyring_free(ring);
}

static void a_rate_taken_out_of_the_file_ends(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " rate=3/h\n");
	ring = open_ring(&err);
	granted_of_ten(ring);
	write_file("a read " SESAME "\n");
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	assert_int_equal(granted_of_ten(ring), 10);
	api_keyring_free(ring);
}

static void a_bad_rate_is_refused(void **state)
{
	static const char *const bad[] = {
		"rate=0/s",	     "rate=10",		 "rate=10/d",
		"rate=-1/s",	     "rate=x/s",	 "burst=10",
		"rate=1000001/s",    "rate=1/s burst=0", "rate=1/s rate=2/s",
		"rate=1/s burst=5x", "limit=3",		 "rate=",
	};
	char line[160];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "a read " SESAME " %s\n", bad[i]);
		assert_non_null(strstr(refusal_of(line).text, ":1: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_has_the_rate_of_its_line),
		WITH_FILE(a_key_without_a_rate_has_that_of_all),
		WITH_FILE(a_burst_may_be_larger_than_the_rate),
		WITH_FILE(a_key_keeps_its_bucket_through_a_reload),
		WITH_FILE(a_rate_taken_out_of_the_file_ends),
		WITH_FILE(a_bad_rate_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
