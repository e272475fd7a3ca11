#include "aggregator/api/access.h"
#include "tests/unit/common/keys_world.h"

/* What links there are: account, owner.  Two were forgotten. */
static const struct key_link links[] = {
	{"acme", "ann"}, {"acme", "bob"}, {"acme", ""},
	{"shop", "ann"}, {"", "bob"},	  {"", "cat"},
};
#define LINKS (sizeof(links) / sizeof(links[0]))

/* "sees" has a letter for each of them, and one for all: x is seen. */
static const struct {
	const char *key, *sees;
} matrix[] = {
	{"admin", "xxxxxx x"},
	{"read", "xxxxxx x"},
	{"read account=acme", "xxxxxx x"},
	{"read,create", "xxxxxx x"},
	{"read owners=ann", "x..x.. ."},
	{"read owners=ann,bob", "xx.xx. ."},
	{"read owners=,ann", "x.xx.. ."},
	{"read owners=", "..x... ."},
	{"read owners=an,nn,annb,Ann", "...... ."},
	{"create,read owners=bob", ".x..x. ."},
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

static void see(const struct access *a, char seen[LINKS + 3])
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
		struct access a = {.keys = ring_with(matrix[i].key)};

		assert_true(
			api_keyring_find(a.keys, "open sesame", 11, &a.who));
		see(&a, seen);
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
	see(&a, seen);
	assert_string_equal(seen, "xxxxxx x");
}

/* An access that nobody filled in. */
static void nobody_sees_nothing(void **state)
{
	struct access a = {.keys = ring_with("read")};
	char seen[LINKS + 3];

	(void)state;
	see(&a, seen);
	assert_string_equal(seen, "...... .");
	api_keyring_free(a.keys);
}

static const char *refusal(const char *words, struct error *err)
{
	struct access a = {.keys = ring_with(words)};

	assert_true(api_keyring_find(a.keys, "open sesame", 11, &a.who));
	assert_int_equal(access_check_all(&a, ACCESS_ASK_OF_ONE, err), -1);
	api_keyring_free(a.keys);
	return err->text;
}

static void a_refusal_says_what_to_ask_instead(void **state)
{
	struct error err = {0};

	(void)state;
	assert_string_equal(refusal("read owners=ann", &err),
			    "this key sees the links of its owners only: ask "
			    "with code or link_id");
	assert_string_equal(refusal("read-own", &err),
			    "this key sees the links of its account only: ask "
			    "with code or link_id");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_sees_what_its_line_says),
		WITH_FILE(without_keys_everybody_sees_all),
		WITH_FILE(nobody_sees_nothing),
		WITH_FILE(a_refusal_says_what_to_ask_instead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
