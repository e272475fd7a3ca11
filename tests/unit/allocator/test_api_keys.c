#include "tests/unit/allocator/keys_world.h"

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

/* Which of the two had asked, and with which roles? */
static void a_key_of_two_names_is_refused(void **state)
{
	struct error err = refusal_of("a admin " SESAME "\nb read " OTHER
				      "\nc read " SESAME "\n");

	(void)state;
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "'a'"));
	assert_non_null(strstr(err.text, "'c'"));
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
		WITH_FILE(a_key_of_two_names_is_refused),
		cmocka_unit_test(a_missing_file_is_a_config_error),
		WITH_FILE(a_reload_lets_a_new_key_in),
		WITH_FILE(a_reload_that_fails_changes_nothing),
		WITH_FILE(a_made_key_carries_its_limits),
		cmocka_unit_test(a_key_with_a_bad_rate_is_not_made),
		WITH_FILE(a_made_key_is_let_in_by_its_line),
		cmocka_unit_test(made_keys_differ),
		cmocka_unit_test(a_key_for_an_unknown_role_is_not_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
