#include "common/keys/key_make.h"
#include "tests/unit/common/keys_world.h"

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
	ring = open_ring(&err);
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
	assert_int_equal(roles_of("crm read-own " SESAME "\n", "open sesame"),
			 API_READ);
	assert_int_equal(
		roles_of("crm read " SESAME " accounts=*\n", "open sesame"),
		API_READ | API_READ_ALL);
}

static void admin_includes_the_other_roles(void **state)
{
	(void)state;
	assert_int_equal(roles_of("root admin " SESAME "\n", "open sesame"),
			 API_READ_ALL | API_READ | API_CREATE | API_ADMIN |
				 API_VISITORS);
}

static void a_key_is_known_by_its_name(void **state)
{
	struct api_key_info info = {0};
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("crm create " SESAME "\n");
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	assert_string_equal(info.name, "crm");
	assert_null(info.limiter);
	api_keyring_free(ring);
}

/* --- accounts ------------------------------------------------------------- */

static void what_is_said_of_accounts_has_to_make_sense(void **state)
{
	static const struct {
		const char *words, *says;
	} bad[] = {
		{"account=", "account=: expected a name"},
		{"account=a/b", "account=: expected a name"},
		{"account=a account=a", "account= is given twice"},
		{"accounts=", "accounts=: only the role read"},
		{"owners=%0a", "owners=: expected %XX"},
		{"owners=a%2", "owners=: expected %XX"},
		{"owners=a%", "owners=: expected %XX"},
		{"owners=a owners=b", "owners= is given twice"},
	};
	static const struct {
		const char *line, *says;
	} bad_lines[] = {
		{"a admin " SESAME " owners=ann\n", "admin writes for all"},
		{"a admin " SESAME " accounts=*\n", "admin reads all"},
		{"a read-own " SESAME " accounts=*\n", "only the role read"},
		{"a visitors,create " SESAME "\n",
		 "expected read or read-own beside the role visitors"},
		{"a read " SESAME " accounts=\n", "accounts=: expected *"},
		{"a read " SESAME " accounts=acme\n", "accounts=: expected *"},
		{"a read " SESAME " accounts=* accounts=*\n", "given twice"},
		{"a read " SESAME " accounts=* owners=ann\n",
		 "owners= are those of one account"},
		{"a read " SESAME " owners=ann accounts=*\n",
		 "owners= are those of one account"},
	};
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(line, sizeof(line), "a create " SESAME " %s\n",
			 bad[i].words);
		assert_non_null(strstr(refusal_of(line).text, bad[i].says));
	}
	for (size_t i = 0; i < sizeof(bad_lines) / sizeof(bad_lines[0]); i++)
		assert_non_null(strstr(refusal_of(bad_lines[i].line).text,
				       bad_lines[i].says));
}

static void what_a_key_writes_for_outlives_a_reload(void **state)
{
	struct api_key_info info = {0};
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("crm create " SESAME " owners=ann\n");
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	write_file("crm create " SESAME " owners=bob\n");
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	assert_true(key_names_have(info.owners, "ann"));
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	assert_false(key_names_have(info.owners, "ann"));
	api_keyring_free(ring);
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

static void what_is_said_of_accounts_is_passed_over(void **state)
{
	(void)state;
	assert_int_equal(roles_of("@* links=1/day\n@\n@acme hue=3\n"
				  "a read " SESAME "\n",
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

/* The sender and its roles would be ambiguous. */
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
	assert_null(api_keyring_new(
		&(struct api_keyring_options){.path = "/nonexistent/keys",
					      .setting = "x.keys_file"},
		&err));
	assert_int_equal(err.code, ERROR_CONFIG);
	assert_non_null(strstr(err.text, "x.keys_file: /nonexistent/keys: "));
}

static void a_reload_lets_a_new_key_in(void **state)
{
	struct error err = {0};
	struct api_keyring *ring;

	(void)state;
	write_file("");
	ring = open_ring(&err);
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
	ring = open_ring(&err);
	write_file("nonsense\n");
	assert_int_equal(api_keyring_reload(ring, &err), -1);
	assert_int_equal(roles_in(ring, "open sesame"), API_READ);
	api_keyring_free(ring);
}

/* --- loading -------------------------------------------------------------- */

struct made {
	int status;
	char key[KEY_TEXT_MAX];
	struct buf line;
	struct error err;
};

static struct made try_make_key(struct key_make_options wish)
{
	struct made made = {0};

	made.status = key_make(&wish, made.key, &made.line, &made.err);
	return made;
}

static void assert_made(struct made made, const char *line_has)
{
	assert_int_equal(made.status, 0);
	assert_non_null(strstr(buf_cstr(&made.line), line_has));
	assert_int_equal(roles_of(buf_cstr(&made.line), made.key), API_CREATE);
	buf_free(&made.line);
}

static void assert_not_made(struct made made)
{
	assert_int_equal(made.status, -1);
	assert_int_equal(made.err.code, ERROR_USAGE);
	buf_free(&made.line);
}

static void a_made_key_is_let_in_by_its_line(void **state)
{
	(void)state;
	assert_made(try_make_key((struct key_make_options){.name = "crm",
							   .roles = "create"}),
		    "crm create sha256:");
}

static void a_made_key_carries_its_limits(void **state)
{
	(void)state;
	assert_made(try_make_key((struct key_make_options){.name = "crm",
							   .roles = "create",
							   .rate = "100/s",
							   .burst = "200"}),
		    " rate=100/s burst=200");
}

static void a_made_key_carries_its_account_and_owners(void **state)
{
	(void)state;
	assert_made(try_make_key(
			    (struct key_make_options){.name = "crm",
						      .roles = "create",
						      .account = "acme",
						      .owners = "ann,J%20Doe"}),
		    " account=acme owners=ann,J%20Doe");
}

static void a_key_is_not_made_of_what_the_file_would_refuse(void **state)
{
	static const struct key_make_options bad[] = {
		{.name = "crm", .roles = "owner"},
		{.name = "c/m", .roles = "create"},
		{.name = "crm", .roles = "create", .rate = "fast"},
		{.name = "crm", .roles = "create", .burst = "5"},
		{.name = "crm", .roles = "create", .account = "a b"},
		{.name = "crm", .roles = "create", .account = "a#b"},
		{.name = "crm", .roles = "create", .owners = "ann bob"},
		{.name = "crm", .roles = "create", .owners = "a#b"},
		{.name = "crm", .roles = "create", .owners = "%0a"},
		{.name = "crm", .roles = "admin", .owners = "ann"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_not_made(try_make_key(bad[i]));
}

static void made_keys_differ(void **state)
{
	struct made a = try_make_key(
		(struct key_make_options){.name = "crm", .roles = "create"});
	struct made b = try_make_key(
		(struct key_make_options){.name = "crm", .roles = "create"});

	(void)state;
	assert_string_not_equal(a.key, b.key);
	buf_free(&a.line);
	buf_free(&b.line);
}

/* --- requests after a reload ---------------------------------------------- */

/* Returns whether a request that began with the first file may continue with
 * the second, in that role. */
static bool may_go_on(const char *first, const char *then, enum api_role role,
		      struct api_key_info *info)
{
	struct error err = {0};
	struct api_keyring *ring;
	bool may;

	write_file(first);
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, info));
	assert_true(api_keyring_still_may(ring, info, role));
	write_file(then);
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	may = api_keyring_still_may(ring, info, role);
	assert_int_equal(api_keyring_still_may(ring, info, role), may);
	api_keyring_free(ring);
	return may;
}

static void what_a_key_began_goes_on_while_the_file_lets_it(void **state)
{
	static const char first[] = "crm create " SESAME "\n";
	struct api_key_info info;

	(void)state;
	assert_true(may_go_on(first,
			      "x read " OTHER "\n"
			      "crm create,read " SESAME "\n",
			      API_CREATE, &info));
	assert_int_equal(info.roles, API_CREATE | API_READ);
	assert_false(
		may_go_on(first, "crm read " SESAME "\n", API_CREATE, &info));
	assert_int_equal(info.roles, API_READ);
	assert_false(
		may_go_on(first, "crm create " OTHER "\n", API_CREATE, &info));
	assert_int_equal(info.roles, 0);
	assert_false(may_go_on(first, "", API_CREATE, &info));
}

/* A key is counted, limited and recorded under its name. */
static void a_key_that_was_renamed_is_another_one(void **state)
{
	struct api_key_info info;

	(void)state;
	assert_false(may_go_on("crm create " SESAME "\n",
			       "shop create " SESAME "\n", API_CREATE, &info));
	assert_int_equal(info.roles, 0);
}

static void a_key_that_goes_on_has_what_its_line_says_now(void **state)
{
	struct error err = {0};
	struct api_key_info info;
	struct api_keyring *ring;

	(void)state;
	write_file("crm read-own " SESAME " account=acme owners=ann\n");
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	write_file("crm read-own " SESAME " account=shop owners=bob\n");
	assert_int_equal(api_keyring_reload(ring, &err), 0);
	assert_true(api_keyring_still_may(ring, &info, API_READ));
	assert_string_equal(info.account, "shop");
	assert_true(key_names_have(info.owners, "bob"));
	assert_false(key_names_have(info.owners, "ann"));
	api_keyring_free(ring);
}

static void without_a_reload_a_role_that_lacks_is_lacking(void **state)
{
	struct error err = {0};
	struct api_key_info info;
	struct api_keyring *ring;

	(void)state;
	write_file("crm read " SESAME "\n");
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	assert_false(api_keyring_still_may(ring, &info, API_CREATE));
	assert_true(api_keyring_still_may(ring, &info, API_READ));
	assert_int_equal(api_keyring_count(ring), 1);
	api_keyring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_listed_key_has_its_roles),
		WITH_FILE(admin_includes_the_other_roles),
		WITH_FILE(a_key_is_known_by_its_name),
		WITH_FILE(what_is_said_of_accounts_has_to_make_sense),
		WITH_FILE(what_a_key_writes_for_outlives_a_reload),
		WITH_FILE(another_key_has_no_roles),
		WITH_FILE(comments_and_blank_lines_are_skipped),
		WITH_FILE(what_is_said_of_accounts_is_passed_over),
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
		WITH_FILE(a_made_key_is_let_in_by_its_line),
		WITH_FILE(a_made_key_carries_its_limits),
		WITH_FILE(a_made_key_carries_its_account_and_owners),
		cmocka_unit_test(
			a_key_is_not_made_of_what_the_file_would_refuse),
		cmocka_unit_test(made_keys_differ),
		WITH_FILE(what_a_key_began_goes_on_while_the_file_lets_it),
		WITH_FILE(a_key_that_was_renamed_is_another_one),
		WITH_FILE(a_key_that_goes_on_has_what_its_line_says_now),
		WITH_FILE(without_a_reload_a_role_that_lacks_is_lacking),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
