#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "allocator/keys/api_keys.h"

/* SHA-256 of "open sesame". */
#define SESAME                                                                 \
	"sha256:"                                                              \
	"41ef4bb0b23661e66301aac36066912dac037827b4ae63a7b1165a5aa93ed4eb"
#define OTHER                                                                  \
	"sha256:"                                                              \
	"00000000000000000000000000000000000000000000000000000000000000aa"

static char path[64];

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int set_up(void **state)
{
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/shortloop-keys-XXXXXX");
	fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static unsigned roles_in(struct api_keyring *ring, const char *key)
{
	struct api_key_info info = {0};

	return api_keyring_find(ring, key, strlen(key), &info) ? info.roles : 0;
}

static unsigned roles_of(const char *file, const char *key)
{
	struct error err = {0};
	struct api_keyring *ring;
	unsigned roles;

	write_file(file);
	ring = api_keyring_new(path, NULL, &err);
	assert_non_null(ring);
	roles = roles_in(ring, key);
	api_keyring_free(ring);
	return roles;
}

static struct error refusal_of(const char *file)
{
	struct error err = {0};

	write_file(file);
	assert_null(api_keyring_new(path, NULL, &err));
	return err;
}

static void a_listed_key_has_its_roles(void **state)
{
	(void)state;
	assert_int_equal(
		roles_of("crm create,read " SESAME "\n", "open sesame"),
		API_READ | API_CREATE);
}

static void admin_includes_the_other_roles(void **state)
{
	(void)state;
	assert_int_equal(roles_of("root admin " SESAME "\n", "open sesame"),
			 API_READ | API_CREATE | API_ADMIN);
}

static void a_key_is_known_by_its_name(void **state)
{
	struct api_key_info info = {0};
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("crm create " SESAME "\n");
	ring = api_keyring_new(path, NULL, &err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	assert_string_equal(info.name, "crm");
	assert_null(info.limiter);
	api_keyring_free(ring);
}

static void a_key_may_change_what_its_name_created(void **state)
{
	const struct api_key_info crm = {.name = "crm", .roles = API_CREATE};

	(void)state;
	assert_true(api_key_may_change(&crm, "crm"));
	assert_false(api_key_may_change(&crm, "shop"));
}

static void an_admin_may_change_everything(void **state)
{
	const struct api_key_info root = {
		.name = "root", .roles = API_READ | API_CREATE | API_ADMIN};

	(void)state;
	assert_true(api_key_may_change(&root, "crm"));
}

static void a_reader_may_not_change_what_its_name_created(void **state)
{
	const struct api_key_info crm = {.name = "crm", .roles = API_READ};

	(void)state;
	assert_false(api_key_may_change(&crm, "crm"));
}

static void another_key_has_no_roles(void **state)
{
	(void)state;
	assert_int_equal(roles_of("crm create " SESAME "\n", "open sesam"), 0);
}

static void comments_and_blank_lines_are_skipped(void **state)
{
	(void)state;
	assert_int_equal(roles_of("# who\n\n  \na read " OTHER
				  "\nb\tread\t" SESAME " # told\n",
				  "open sesame"),
			 API_READ);
}

static void an_empty_file_lets_nobody_in(void **state)
{
	(void)state;
	assert_int_equal(roles_of("", "open sesame"), 0);
}

static void a_bad_line_is_named_by_its_number(void **state)
{
	struct error err = refusal_of("a read " OTHER "\nb read\n");

	(void)state;
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, ":2: expected"));
}

static void an_unknown_role_is_refused(void **state)
{
	(void)state;
	assert_non_null(
		strstr(refusal_of("a read,write " OTHER "\n").text, "roles"));
}

static void a_short_digest_is_refused(void **state)
{
	(void)state;
	assert_non_null(strstr(refusal_of("a read sha256:00ff\n").text, "64"));
}

static void a_plain_key_in_the_file_is_refused(void **state)
{
	(void)state;
	assert_int_equal(refusal_of("a read slk_plain\n").code, ERROR_CONFIG);
}

static void a_name_used_twice_is_refused(void **state)
{
	(void)state;
	assert_non_null(
		strstr(refusal_of("a read " OTHER "\na read " SESAME "\n").text,
		       "twice"));
}

static void a_missing_file_is_a_config_error(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(api_keyring_new("/nonexistent/keys", NULL, &err));
	assert_int_equal(err.code, ERROR_CONFIG);
}

static void a_reload_lets_a_new_key_in(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("");
	ring = api_keyring_new(path, NULL, &err);
	write_file("a read " SESAME "\n");
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	assert_int_equal(roles_in(ring, "open sesame"), API_READ);
	api_keyring_free(ring);
}

static void a_reload_that_fails_changes_nothing(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME "\n");
	ring = api_keyring_new(path, NULL, &err);
	write_file("nonsense\n");
	assert_int_equal(api_keyring_reload(ring, &err), -1);
	assert_int_equal(roles_in(ring, "open sesame"), API_READ);
	api_keyring_free(ring);
}

/* What of 10 requests the key may make at once. */
static unsigned granted_of_ten(struct api_keyring *ring)
{
	struct api_key_info info = {0};
	unsigned granted = 0;
	int64_t wait;

	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	for (int i = 0; i < 10; i++)
		granted += rate_take(info.limiter, 1, 1, &wait);
	return granted;
}

static void a_key_has_the_rate_of_its_line(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " rate=3/s\n");
	ring = api_keyring_new(path, NULL, &err);
	assert_int_equal(granted_of_ten(ring), 3);
	api_keyring_free(ring);
}

static void a_burst_may_be_larger_than_the_rate(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " burst=7 rate=3/m\n");
	ring = api_keyring_new(path, NULL, &err);
	assert_int_equal(granted_of_ten(ring), 7);
	api_keyring_free(ring);
}

static void a_key_keeps_its_bucket_through_a_reload(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("a read " SESAME " rate=3/h\n");
	ring = api_keyring_new(path, NULL, &err);
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
	ring = api_keyring_new(path, NULL, &err);
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

static void a_made_key_carries_its_limits(void **state)
{
	char key[API_KEY_TEXT_MAX], line[API_KEY_LINE_MAX];
	struct error err = {0};

	(void)state;
	assert_int_equal(
		api_key_make("crm", "create", "100/s", "200", key, line, &err),
		0);
	assert_non_null(strstr(line, " rate=100/s burst=200"));
	assert_int_equal(roles_of(line, key), API_CREATE);
}

static void a_key_with_a_bad_rate_is_not_made(void **state)
{
	char key[API_KEY_TEXT_MAX], line[API_KEY_LINE_MAX];
	struct error err = {0};

	(void)state;
	assert_int_equal(
		api_key_make("crm", "create", "fast", NULL, key, line, &err),
		-1);
	assert_int_equal(err.code, ERROR_USAGE);
}

static void a_made_key_is_let_in_by_its_line(void **state)
{
	char key[API_KEY_TEXT_MAX], line[API_KEY_LINE_MAX];
	struct error err = {0};

	(void)state;
	assert_int_equal(
		api_key_make("crm", "create", NULL, NULL, key, line, &err), 0);
	assert_int_equal(roles_of(line, key), API_CREATE);
}

static void made_keys_differ(void **state)
{
	char a[API_KEY_TEXT_MAX], b[API_KEY_TEXT_MAX], line[API_KEY_LINE_MAX];
	struct error err = {0};

	(void)state;
	api_key_make("crm", "create", NULL, NULL, a, line, &err);
	api_key_make("crm", "create", NULL, NULL, b, line, &err);
	assert_string_not_equal(a, b);
}

static void a_key_for_an_unknown_role_is_not_made(void **state)
{
	char key[API_KEY_TEXT_MAX], line[API_KEY_LINE_MAX];
	struct error err = {0};

	(void)state;
	assert_int_equal(
		api_key_make("crm", "owner", NULL, NULL, key, line, &err), -1);
	assert_int_equal(err.code, ERROR_USAGE);
}

#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_listed_key_has_its_roles),
		WITH_FILE(admin_includes_the_other_roles),
		WITH_FILE(a_key_is_known_by_its_name),
		cmocka_unit_test(a_key_may_change_what_its_name_created),
		cmocka_unit_test(an_admin_may_change_everything),
		cmocka_unit_test(a_reader_may_not_change_what_its_name_created),
		WITH_FILE(another_key_has_no_roles),
		WITH_FILE(comments_and_blank_lines_are_skipped),
		WITH_FILE(an_empty_file_lets_nobody_in),
		WITH_FILE(a_bad_line_is_named_by_its_number),
		WITH_FILE(an_unknown_role_is_refused),
		WITH_FILE(a_short_digest_is_refused),
		WITH_FILE(a_plain_key_in_the_file_is_refused),
		WITH_FILE(a_name_used_twice_is_refused),
		cmocka_unit_test(a_missing_file_is_a_config_error),
		WITH_FILE(a_reload_lets_a_new_key_in),
		WITH_FILE(a_reload_that_fails_changes_nothing),
		WITH_FILE(a_key_has_the_rate_of_its_line),
		WITH_FILE(a_burst_may_be_larger_than_the_rate),
		WITH_FILE(a_key_keeps_its_bucket_through_a_reload),
		WITH_FILE(a_rate_taken_out_of_the_file_ends),
		WITH_FILE(a_bad_rate_is_refused),
		WITH_FILE(a_made_key_carries_its_limits),
		cmocka_unit_test(a_key_with_a_bad_rate_is_not_made),
		WITH_FILE(a_made_key_is_let_in_by_its_line),
		cmocka_unit_test(made_keys_differ),
		cmocka_unit_test(a_key_for_an_unknown_role_is_not_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
