/* Keys and deeds: the rule for all programs.  test_key_matrix.py tests the same
 * for the programs' routes. */
#include "common/drop_const.h"
#include "common/keys/key_access.h"
#include "tests/unit/common/keys_world.h"

/* All links; the last was forgotten. */
static const struct key_link links[] = {
	{"acme", "ann"}, {"acme", "bob"}, {"acme", ""},
	{"shop", "ann"}, {"shop", "bob"}, {"", ""},
};
#define LINKS (sizeof(links) / sizeof(links[0]))

static const struct {
	enum key_deed deed;
	const char *name;
} deeds_of_links[] = {{KEY_READS_LINK, "reads"},
		      {KEY_CHANGES_LINK, "changes"},
		      {KEY_SEES_LINK, "sees"}};
#define DEEDS (sizeof(deeds_of_links) / sizeof(deeds_of_links[0]))

/* A letter for each link; x: allowed.  The second text is for READS_ALL,
 * READS_RUNS, MODERATES and READS_VISITORS. */
static const struct {
	const char *key, *of_links[DEEDS], *of_all;
} matrix[] = {
	/*				 reads	   changes   sees */
	{"admin", {"xxxxxx", "xxxxxx", "xxxxxx"}, "xxxx"},
	{"admin account=acme", {"xxxxxx", "xxxxxx", "xxxxxx"}, "xxxx"},
	{"read accounts=*", {"xxxxxx", "......", "xxxxxx"}, "x..."},
	{"read account=acme accounts=*",
	 {"xxxxxx", "......", "xxxxxx"},
	 "x..."},
	{"read,read-own accounts=*", {"xxxxxx", "......", "xxxxxx"}, "x..."},
	{"read", {"......", "......", "......"}, "...."},
	{"read account=acme", {"xxx...", "......", "xxx..."}, "...."},
	{"read account=acme owners=ann",
	 {"x.....", "......", "x....."},
	 "...."},
	{"read account=shop owners=ann,bob",
	 {"...xx.", "......", "...xx."},
	 "...."},
	{"read account=acme owners=", {"..x...", "......", "..x..."}, "...."},
	{"read account=acme owners=an,nn,annb,Ann",
	 {"......", "......", "......"},
	 "...."},
	{"read,read-own account=acme owners=ann",
	 {"x.....", "......", "x....."},
	 "...."},
	{"read-own", {"......", "......", "......"}, "...."},
	{"read-own account=acme", {"xxx...", "......", "xxx..."}, "...."},
	{"read-own account=shop", {"...xx.", "......", "...xx."}, "...."},
	{"read-own account=acme owners=bob",
	 {".x....", "......", ".x...."},
	 "...."},
	{"create", {"......", "......", "......"}, "...."},
	{"create account=acme", {"......", "xxx...", "xxx..."}, "...."},
	{"create account=acme owners=ann,",
	 {"......", "x.x...", "x.x..."},
	 "...."},
	{"create,read-own account=acme owners=ann",
	 {"x.....", "x.....", "x....."},
	 "...."},
	{"create,read account=acme", {"xxx...", "xxx...", "xxx..."}, "...."},
	{"create,read account=acme accounts=*",
	 {"xxxxxx", "xxx...", "xxxxxx"},
	 "x..."},
	{"create,read account=acme owners=bob",
	 {".x....", ".x....", ".x...."},
	 "...."},
	{"read,visitors account=acme owners=ann",
	 {"x.....", "......", "x....."},
	 "...x"},
	{"read-own,visitors account=shop",
	 {"...xx.", "......", "...xx."},
	 "...x"},
	{"read,visitors accounts=*", {"xxxxxx", "......", "xxxxxx"}, "x..x"},
};

static struct api_keyring *ring_with(const char *words,
				     struct api_key_info *who)
{
	char roles[64], file[512];
	size_t len = strcspn(words, " ");
	struct error err = {0};
	struct api_keyring *ring;

	snprintf(roles, sizeof(roles), "%.*s", (int)len, words);
	snprintf(file, sizeof(file), "me %s " SESAME "%s\n", roles,
		 words + len);
	write_file(file);
	ring = open_ring(&err);
	if (!ring)
		fail_msg("%s", err.text);
	assert_true(api_keyring_find(ring, "open sesame", 11, who));
	return ring;
}

static char permission_letter(bool may)
{
	return may ? 'x' : '.';
}

static void try_links(const struct api_key_info *who, enum key_deed deed,
		      char ret[LINKS + 1])
{
	for (size_t i = 0; i < LINKS; i++)
		ret[i] = permission_letter(key_may(who, deed, &links[i]));
	ret[LINKS] = '\0';
}

static void try_all(const struct api_key_info *who, char ret[5])
{
	ret[0] = permission_letter(key_may(who, KEY_READS_ALL, NULL));
	ret[1] = permission_letter(key_may(who, KEY_READS_RUNS, NULL));
	ret[2] = permission_letter(key_may(who, KEY_MODERATES_LINK, NULL));
	ret[3] = permission_letter(key_may(who, KEY_READS_VISITORS, NULL));
	ret[4] = '\0';
}

static void a_key_may_what_its_line_says(void **state)
{
	char found[LINKS + 1], all[5];
	struct api_key_info who;
	struct api_keyring *ring;

	(void)state;
	for (size_t i = 0; i < sizeof(matrix) / sizeof(matrix[0]); i++) {
		ring = ring_with(matrix[i].key, &who);
		for (size_t d = 0; d < DEEDS; d++) {
			try_links(&who, deeds_of_links[d].deed, found);
			if (strcmp(found, matrix[i].of_links[d]) != 0)
				fail_msg("%s: %s %s, not %s", matrix[i].key,
					 deeds_of_links[d].name, found,
					 matrix[i].of_links[d]);
		}
		try_all(&who, all);
		if (strcmp(all, matrix[i].of_all) != 0)
			fail_msg("%s: of all %s, not %s", matrix[i].key, all,
				 matrix[i].of_all);
		api_keyring_free(ring);
	}
}

/* A key that reads or changes a link sees it, and every link it reads is within
 * its bounds. */
static void the_deeds_agree_with_each_other(void **state)
{
	struct api_key_info who;
	struct api_keyring *ring;

	(void)state;
	for (size_t i = 0; i < sizeof(matrix) / sizeof(matrix[0]); i++) {
		ring = ring_with(matrix[i].key, &who);
		struct key_bounds in = key_bounds_of(&who);

		for (size_t l = 0; l < LINKS; l++) {
			const struct key_link *link = &links[l];
			bool reads = key_may(&who, KEY_READS_LINK, link);

			assert_int_equal(
				key_may(&who, KEY_SEES_LINK, link),
				reads || key_may(&who, KEY_CHANGES_LINK, link));
			if (reads)
				assert_true(key_names_have(in.owners,
							   link->owner) &&
					    (!in.account ||
					     key_link_is_of(link, in.account)));
			if (key_may(&who, KEY_READS_ALL, NULL))
				assert_true(reads);
			if (key_may(&who, KEY_CREATES_LINK, link))
				assert_true(
					key_may(&who, KEY_CHANGES_LINK, link));
		}
		api_keyring_free(ring);
	}
}

static void a_key_creates_in_its_account_for_its_owners(void **state)
{
	const struct {
		const char *key, *creates;
	} rows[] = {
		{"admin account=acme", "xxx..."},
		{"create account=acme", "xxx..."},
		{"create account=acme owners=ann", "x....."},
		{"create account=shop owners=,bob", "....x."},
		{"create,read account=shop", "...xx."},
		{"read account=acme", "......"},
		{"read-own account=acme", "......"},
	};
	char found[LINKS + 1];
	struct api_key_info who;
	struct api_keyring *ring;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ring = ring_with(rows[i].key, &who);
		try_links(&who, KEY_CREATES_LINK, found);
		if (strcmp(found, rows[i].creates) != 0)
			fail_msg("%s: creates %s, not %s", rows[i].key, found,
				 rows[i].creates);
		api_keyring_free(ring);
	}
}

static void without_a_file_of_keys_all_is_read_and_nothing_written(void **state)
{
	char found[LINKS + 1], all[5];

	(void)state;
	try_links(NULL, KEY_READS_LINK, found);
	assert_string_equal(found, "xxxxxx");
	try_links(NULL, KEY_CHANGES_LINK, found);
	assert_string_equal(found, "......");
	try_links(NULL, KEY_CREATES_LINK, found);
	assert_string_equal(found, "......");
	try_all(NULL, all);
	assert_string_equal(all, "xx.x");
	assert_null(key_bounds_of(NULL).account);
}

/* This key was never filled in. */
static void nobody_may_nothing(void **state)
{
	const struct api_key_info who = {.roles = 0};
	char found[LINKS + 1], all[5];

	(void)state;
	for (int deed = 0; deed < KEY_DEEDS; deed++) {
		try_links(&who, (enum key_deed)deed, found);
		assert_string_equal(found, "......");
	}
	try_all(&who, all);
	assert_string_equal(all, "....");
}

/* A link without an account would not belong to it either. */
static void a_link_that_was_forgotten_is_of_no_account(void **state)
{
	const struct key_link forgotten = {"", ""}, ours = {"acme", ""};

	(void)state;
	assert_false(key_link_is_of(&forgotten, ""));
	assert_false(key_link_is_of(&forgotten, "acme"));
	assert_false(key_link_is_of(&ours, ""));
	assert_true(key_link_is_of(&ours, "acme"));
}

/* Keys with the same letter have the same read access. */
static void
what_began_with_a_key_goes_on_with_one_that_reads_alike(void **state)
{
	static const struct {
		char letter;
		const char *key;
	} rows[] = {
		{'a', "read account=acme"},
		{'a', "read account=acme rate=3/s"},
		{'b', "read account=shop"},
		{'a', "read-own account=acme"},
		{'c', "read account=acme accounts=*"},
		{'d', "read account=acme owners=ann"},
		{'d', "read account=acme owners=ann rate=none"},
		{'e', "read account=acme owners=ann,bob"},
		{'f', "read account=acme owners=an"},
		{'g', "read account=acme owners="},
	};
	enum {
		ROWS = sizeof(rows) / sizeof(rows[0])
	};
	struct api_key_info who[ROWS];
	struct api_keyring *rings[ROWS];

	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		rings[i] = ring_with(rows[i].key, &who[i]);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t k = 0; k < ROWS; k++)
			if (key_reads_alike(&who[i], &who[k]) !=
			    (rows[i].letter == rows[k].letter))
				fail_msg("%s, %s", rows[i].key, rows[k].key);
	for (size_t i = 0; i < ROWS; i++)
		api_keyring_free(rings[i]);
}

/* --- domains and spaces --------------------------------------------------- */

static const char *const accounts[][3] = {
	{NULL}, {"acme", NULL}, {"shop", "acme", NULL}, {"*", NULL}};
#define LISTS (sizeof(accounts) / sizeof(accounts[0]))

/* A letter for each of `accounts`; the second text is for the default domain.
 */
static const struct {
	const char *key, *uses;
} domains[] = {
	{"admin", "xxxx xxxx"},
	{"create account=acme", ".xxx xxxx"},
	{"create account=shop", "..xx x.xx"},
	{"create account=acme-2", "...x x..x"},
	{"create account=ACME", "...x x..x"},
	{"create,read account=shop", "..xx x.xx"},
};

static void a_domain_is_for_the_accounts_it_names(void **state)
{
	char found[2 * LISTS + 2];
	struct api_key_info who;
	struct api_keyring *ring;

	(void)state;
	for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
		ring = ring_with(domains[i].key, &who);
		memset(found, 0, sizeof(found));
		for (size_t l = 0; l < 2 * LISTS; l++) {
			char *items[3];
			struct setting_strings list = {.items = items};

			while (list.count < 3 &&
			       accounts[l % LISTS][list.count]) {
				items[list.count] = drop_const(
					accounts[l % LISTS][list.count]);
				list.count++;
			}
			found[l + (l >= LISTS)] = permission_letter(
				key_may_use_domain(&who, &list, l >= LISTS));
		}
		found[LISTS] = ' ';
		if (strcmp(found, domains[i].uses) != 0)
			fail_msg("%s: uses %s, not %s", domains[i].key, found,
				 domains[i].uses);
		api_keyring_free(ring);
	}
}

static void a_key_creates_in_the_spaces_it_names(void **state)
{
	struct api_key_info who;
	struct api_keyring *ring = ring_with("create spaces=s7,h6", &who);

	(void)state;
	assert_true(key_may_use_space(&who, "s7"));
	assert_true(key_may_use_space(&who, "h6"));
	assert_false(key_may_use_space(&who, "s8"));
	assert_false(key_may_use_space(&who, "s"));
	api_keyring_free(ring);
	ring = ring_with("create", &who);
	assert_true(key_may_use_space(&who, "s8"));
	api_keyring_free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_may_what_its_line_says),
		WITH_FILE(the_deeds_agree_with_each_other),
		WITH_FILE(a_key_creates_in_its_account_for_its_owners),
		cmocka_unit_test(
			without_a_file_of_keys_all_is_read_and_nothing_written),
		cmocka_unit_test(nobody_may_nothing),
		cmocka_unit_test(a_link_that_was_forgotten_is_of_no_account),
		WITH_FILE(
			what_began_with_a_key_goes_on_with_one_that_reads_alike),
		WITH_FILE(a_domain_is_for_the_accounts_it_names),
		WITH_FILE(a_key_creates_in_the_spaces_it_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
