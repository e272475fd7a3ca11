#include "aggregator/api/access.h"
#include "tests/unit/common/keys_world.h"

/* All links: account, owner. Two were forgotten. */
static const struct key_link links[] = {
	{"acme", "ann"}, {"acme", "bob"}, {"acme", ""},
	{"shop", "ann"}, {"", "bob"},	  {"", "cat"},
};
#define LINKS (sizeof(links) / sizeof(links[0]))

/* "sees" has a letter for each of the links, and one for all links: x if the
 * key sees it. */
static const struct {
	const char *key, *sees;
} matrix[] = {
	{"admin", "xxxxxx x"},
	{"read accounts=*", "xxxxxx x"},
	{"read account=acme accounts=*", "xxxxxx x"},
	{"read,create accounts=*", "xxxxxx x"},
	{"read account=acme", "xxx... ."},
	{"read account=shop", "...x.. ."},
	{"read", "...... ."},
	{"read owners=ann", "...... ."},
	{"read account=acme owners=ann", "x..... ."},
	{"read account=acme owners=ann,bob", "xx.... ."},
	{"read account=acme owners=,ann", "x.x... ."},
	{"read account=acme owners=", "..x... ."},
	{"read account=acme owners=an,nn,annb,Ann", "...... ."},
	{"create,read account=acme owners=bob", ".x.... ."},
	{"read-own account=acme", "xxx... ."},
	{"read-own account=shop", "...x.. ."},
	{"read-own account=gone", "...... ."},
	{"read-own", "...... ."},
	{"read-own account=acme owners=bob", ".x.... ."},
	{"read-own account=crm", "...... ."},
	{"read-own,create account=acme", "xxx... ."},
	{"create account=acme", "...... ."},
	{"create", "...... ."},
};

static struct api_keyring *ring_with(const char *words)
{
	char roles[64], file[512];
	size_t len = strcspn(words, " ");
	struct error err = {0};
	struct api_keyring *ring;

	snprintf(roles, sizeof(roles), "%.*s", (int)len, words);
	snprintf(file, sizeof(file),
		 "@acme links=1/day\ncrm create " OTHER " account=acme\n"
		 "me %s " SESAME "%s\n",
		 roles, words + len);
	write_file(file);
	ring = open_ring(&err);
	if (!ring)
		fail_msg("%s", err.text);
	return ring;
}

/* Returns the access of a key with such a line; the caller frees the ring. */
static struct access access_of(const char *words)
{
	struct access a = {.keys = ring_with(words)};

	assert_true(api_keyring_find(a.keys, "open sesame", 11, &a.who));
	return a;
}

static void mark_seen_links(const struct access *a, char seen[LINKS + 3])
{
	struct error err = {0};

	for (size_t i = 0; i < LINKS; i++)
		seen[i] = access_sees_link(a, &links[i]) ? 'x' : '.';
	seen[LINKS] = ' ';
	seen[LINKS + 1] = access_check_all(a, "try", &err) == 0 ? 'x' : '.';
	seen[LINKS + 2] = '\0';
	assert_int_equal(err.code,
			 seen[LINKS + 1] == 'x' ? ERROR_NONE : ERROR_NOT_OWNER);
}

static void a_key_sees_what_its_line_says(void **state)
{
	char seen[LINKS + 3];

	(void)state;
	for (size_t i = 0; i < sizeof(matrix) / sizeof(matrix[0]); i++) {
		struct access a = access_of(matrix[i].key);

		mark_seen_links(&a, seen);
		if (strcmp(seen, matrix[i].sees) != 0)
			fail_msg("%s: sees %s, not %s", matrix[i].key, seen,
				 matrix[i].sees);
		api_keyring_free(a.keys);
	}
}

static void without_keys_everybody_sees_all(void **state)
{
	const struct access a = {.keys = NULL};
	char seen[LINKS + 3];

	(void)state;
	mark_seen_links(&a, seen);
	assert_string_equal(seen, "xxxxxx x");
}

/* This access was never filled in. */
static void nobody_sees_nothing(void **state)
{
	struct access a = {.keys = ring_with("read")};
	char seen[LINKS + 3];

	(void)state;
	mark_seen_links(&a, seen);
	assert_string_equal(seen, "...... .");
	api_keyring_free(a.keys);
}

static const char *get_refusal_text(const char *words, struct error *err)
{
	struct access a = access_of(words);

	assert_int_equal(access_check_all(&a, "try", err), -1);
	api_keyring_free(a.keys);
	return err->text;
}

static void a_refusal_says_what_to_ask_instead(void **state)
{
	struct error err = {0};

	(void)state;
	assert_string_equal(get_refusal_text("read owners=ann", &err),
			    "this key sees the links of its owners only: "
			    "try");
	assert_string_equal(get_refusal_text("read-own", &err),
			    "this key sees the links of its account only: "
			    "try");
}

/* A query about many links is limited to an account, and to owners in it, one a
 * line; the key sees what is about the installation or not. */
static const struct {
	const char *key, *owners, *account;
	bool has_owners, installation;
} of_many[] = {
	{"admin account=acme", "", NULL, false, true},
	{"read account=acme accounts=*", "", NULL, false, false},
	{"read account=acme", "", "acme", false, false},
	{"read owners=ann", "ann", "me", true, false},
	{"read owners=ann,,bob", "ann\n\nbob", "me", true, false},
	{"read owners=", "", "me", true, false},
	{"read-own account=acme", "", "acme", false, false},
	{"read-own owners=ann,bob", "ann\nbob", "me", true, false},
	{"create account=acme", "", "acme", false, false},
};

static void assert_bounds(const struct access *a, size_t i)
{
	struct access_bounds bounds;
	struct error err = {0};

	assert_int_equal(access_bounds_fill(&bounds, a, &err), 0);
	assert_string_equal(bounds.owners.data, of_many[i].owners);
	assert_int_equal(bounds.has_owners, of_many[i].has_owners);
	if (of_many[i].account)
		assert_string_equal(bounds.account, of_many[i].account);
	else
		assert_null(bounds.account);
	access_bounds_release(&bounds);
}

static void many_links_are_asked_for_within_the_bounds_of_a_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_many) / sizeof(of_many[0]); i++) {
		struct access a = access_of(of_many[i].key);

		assert_bounds(&a, i);
		api_keyring_free(a.keys);
	}
}

static void who_sees_several_accounts_names_one_beside_an_owner(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_many) / sizeof(of_many[0]); i++) {
		struct access a = access_of(of_many[i].key);
		struct error err = {0};

		assert_int_equal(access_sees_all(&a), !of_many[i].account);
		assert_int_equal(access_check_owner(&a, true, "owner", &err),
				 0);
		assert_int_equal(access_check_owner(&a, false, "owner", &err),
				 of_many[i].account ? 0 : -1);
		assert_int_equal(err.code,
				 of_many[i].account ? ERROR_NONE : ERROR_INPUT);
		if (!of_many[i].account)
			assert_string_equal(err.text,
					    "owner: an owner belongs to an "
					    "account: expected one "
					    "account=NAME beside it");
		api_keyring_free(a.keys);
	}
}

static void the_installation_is_for_admins(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(of_many) / sizeof(of_many[0]); i++) {
		struct access a = access_of(of_many[i].key);
		struct error err = {0};

		assert_int_equal(access_check_admin(&a, &err),
				 of_many[i].installation ? 0 : -1);
		assert_int_equal(err.code, of_many[i].installation
						   ? ERROR_NONE
						   : ERROR_NOT_OWNER);
		api_keyring_free(a.keys);
	}
}

static void one_visitor_is_for_the_role_that_says_so(void **state)
{
	static const struct {
		const char *key;
		int status;
	} cases[] = {
		{"admin", 0},
		{"read,visitors account=acme", 0},
		{"read-own,visitors account=acme owners=ann", 0},
		{"read accounts=*", -1},
		{"create,read account=acme", -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct access a = access_of(cases[i].key);
		struct error err = {0};

		assert_int_equal(access_check_visitors(&a, "visitor", &err),
				 cases[i].status);
		assert_int_equal(err.code, cases[i].status ? ERROR_NOT_OWNER
							   : ERROR_NONE);
		api_keyring_free(a.keys);
	}
}

static void without_keys_there_are_no_bounds(void **state)
{
	const struct access a = {.keys = NULL};
	struct access_bounds bounds;
	struct error err = {0};

	(void)state;
	assert_int_equal(access_bounds_fill(&bounds, &a, &err), 0);
	assert_false(bounds.has_owners);
	assert_null(bounds.account);
	access_bounds_release(&bounds);
	assert_true(access_sees_all(&a));
	assert_int_equal(access_check_owner(&a, false, "owner", &err), -1);
	assert_int_equal(access_check_admin(&a, &err), 0);
	assert_int_equal(access_check_visitors(&a, "visitor", &err), 0);
}

static void each_key_takes_turns_by_its_name(void **state)
{
	struct access a = {.keys = NULL}, b = {.keys = NULL};

	(void)state;
	assert_true(access_turn(&a) == 0);
	strcpy(a.who.name, "one");
	strcpy(b.who.name, "other");
	assert_true(access_turn(&a) != 0);
	assert_true(access_turn(&a) != access_turn(&b));
	strcpy(b.who.name, "one");
	assert_true(access_turn(&a) == access_turn(&b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_sees_what_its_line_says),
		WITH_FILE(without_keys_everybody_sees_all),
		WITH_FILE(nobody_sees_nothing),
		WITH_FILE(a_refusal_says_what_to_ask_instead),
		WITH_FILE(many_links_are_asked_for_within_the_bounds_of_a_key),
		WITH_FILE(who_sees_several_accounts_names_one_beside_an_owner),
		WITH_FILE(the_installation_is_for_admins),
		cmocka_unit_test(one_visitor_is_for_the_role_that_says_so),
		cmocka_unit_test(without_keys_there_are_no_bounds),
		cmocka_unit_test(each_key_takes_turns_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
