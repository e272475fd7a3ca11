#include "aggregator/api/shares/share_access.h"
#include "common/buf.h"
#include "tests/unit/common/keys_world.h"

/* Writes a file in which the key has that line, and another one. */
static struct api_keyring *ring_with(const char *name, const char *words)
{
	char roles[64], file[512];
	size_t len = strcspn(words, " ");
	struct error err = {0};
	struct api_keyring *ring;

	snprintf(roles, sizeof(roles), "%.*s", (int)len, words);
	snprintf(file, sizeof(file),
		 "other read " OTHER "\n%s %s " SESAME "%s\n", name, roles,
		 words + len);
	write_file(file);
	ring = open_ring(&err);
	if (!ring)
		fail_msg("%s", err.text);
	return ring;
}

static struct access access_of(const char *words)
{
	struct access a = {.keys = ring_with("me", words)};

	assert_true(api_keyring_find(a.keys, "open sesame", 11, &a.who));
	return a;
}

/* Makes a share with a key of these words; returns what begin does. */
static int make_share(struct share *ret, const char *words, const char *filters,
		      const struct key_link *link, struct error *err)
{
	struct access maker = access_of(words);
	int status;

	*ret = (struct share){.filters = json_loads(filters, 0, NULL),
			      .link_id = link != NULL,
			      .from = -1,
			      .to = -1};
	assert_non_null(ret->filters);
	status = share_access_begin(ret, &maker, link, err);
	api_keyring_free(maker.keys);
	return status;
}

/* Writes what a caller reads: "ALL", "acme", "acme: ann bob". */
static void describe_access(const struct access *a, char to[512])
{
	struct access_bounds bounds;
	struct error err = {0};
	char *end;

	assert_int_equal(access_bounds_fill(&bounds, a, &err), 0);
	assert_int_equal(bounds.account == NULL, access_sees_all(a));
	for (end = bounds.owners.data; end && (end = strchr(end, '\n'));)
		*end = ' ';
	snprintf(to, 512, "%s%s%s", bounds.account ? bounds.account : "ALL",
		 bounds.has_owners ? ": " : "",
		 bounds.has_owners ? buf_cstr(&bounds.owners) : "");
	access_bounds_release(&bounds);
}

static void check_use(struct share *share, const char *words,
		      const char *expected)
{
	struct api_keyring *ring = ring_with("me", words);
	struct access a = {.keys = NULL};
	struct error err = {0};
	char text[512];

	if (share_access_narrow(&a, share, ring, &err) < 0) {
		snprintf(text, sizeof(text), "%s",
			 err.code == ERROR_NOTFOUND    ? "gone"
			 : err.code == ERROR_NOT_OWNER ? "less"
						       : err.text);
	} else {
		describe_access(&a, text);
		/* A share reads, and does nothing else. */
		assert_int_equal(a.who.roles & (API_ADMIN | API_CREATE), 0);
		assert_ptr_equal(a.share, share);
	}
	if (strcmp(text, expected) != 0)
		fail_msg("a key %s now: %s, not %s", words, text, expected);
	key_names_free(share->narrowed);
	share->narrowed = NULL;
	api_keyring_free(ring);
}

/* The key's line when the share was made, its filters, the line at its use, and
 * what a request with it then reads. */
static const struct {
	const char *maker, *filters, *now, *reads;
} uses[] = {
	{"admin", "{}", "admin", "ALL"},
	{"admin", "{}", "read accounts=*", "ALL"},
	{"admin", "{}", "read account=acme", "acme"},
	{"admin", "{}", "read account=acme owners=ann", "acme: ann"},
	{"admin", "{}", "create account=acme", "gone"},
	{"admin", "{\"account\":\"acme\"}", "admin", "acme"},
	{"admin", "{\"account\":\"acme\"}", "read account=shop", "less"},
	{"admin", "{\"account\":\"acme\",\"owner\":\"ann,bob\"}", "admin",
	 "acme: ann bob"},
	{"admin", "{\"account\":\"acme\",\"owner\":\"ann,bob\"}",
	 "read account=acme owners=bob,cat", "acme: bob"},
	{"admin", "{\"account\":\"acme\",\"owner\":\"ann\"}",
	 "read account=acme owners=bob", "less"},
	{"admin", "{\"account\":\"acme,shop\"}", "admin", "ALL"},
	{"admin", "{\"account\":\"-acme\"}", "admin", "ALL"},
	{"read account=acme", "{}", "read account=acme", "acme"},
	{"read account=acme", "{}", "admin", "acme"},
	{"read account=acme", "{}", "read account=shop", "less"},
	{"read account=acme", "{}", "read account=acme owners=ann",
	 "acme: ann"},
	{"read account=acme owners=ann", "{}", "read account=acme",
	 "acme: ann"},
	{"read account=acme owners=ann", "{}", "admin", "acme: ann"},
	{"read account=acme owners=,a%2cb", "{}",
	 "read account=acme owners=a%2cb,", "acme:  a,b"},
	{"read account=acme", "{\"owner\":\"a\\\\,b,\"}", "read account=acme",
	 "acme: a,b "},
	{"read account=acme", "{\"owner\":\"-ann\"}", "read account=acme",
	 "acme"},
	{"read account=acme", "{\"account\":\"acme,shop\"}", "admin", "acme"},
};

static void a_share_is_its_key_within_its_filters(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		struct share share;
		struct error err = {0};

		if (make_share(&share, uses[i].maker, uses[i].filters, NULL,
			       &err) < 0)
			fail_msg("%s %s: %s", uses[i].maker, uses[i].filters,
				 err.text);
		check_use(&share, uses[i].now, uses[i].reads);
		share_release(&share);
	}
}

static void what_a_key_does_not_read_it_does_not_share(void **state)
{
	static const struct {
		const char *maker, *filters;
		enum error_code code;
	} refused[] = {
		{"read account=acme", "{\"account\":\"shop\"}",
		 ERROR_NOT_OWNER},
		{"read account=acme", "{\"account\":\"-acme\"}",
		 ERROR_NOT_OWNER},
		{"read account=acme owners=ann", "{\"owner\":\"bob\"}",
		 ERROR_NOT_OWNER},
		{"read account=acme owners=ann", "{\"owner\":\"ann,bob\"}",
		 ERROR_NOT_OWNER},
		{"read account=acme owners=ann", "{\"owner\":\"\"}",
		 ERROR_NOT_OWNER},
		{"admin", "{\"owner\":\"ann\"}", ERROR_INPUT},
		{"admin", "{\"owner\":\"-ann\"}", ERROR_INPUT},
		{"admin", "{\"owner\":\"ann\",\"account\":\"a,b\"}",
		 ERROR_INPUT},
		{"read account=acme", "{\"owner\":\"\\u0001\"}", ERROR_INPUT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct share share;
		struct error err = {0};

		if (make_share(&share, refused[i].maker, refused[i].filters,
			       NULL, &err) == 0)
			fail_msg("%s %s", refused[i].maker, refused[i].filters);
		assert_int_equal(err.code, refused[i].code);
		share_release(&share);
	}
}

/* The link changes hands: its present owner decides what a share of it
 * shows. */
static void a_share_of_a_link_is_bounded_by_its_account(void **state)
{
	static const struct key_link link = {"acme", "ann"};
	struct share share;
	struct error err = {0};

	(void)state;
	assert_int_equal(make_share(&share, "admin", "{}", &link, &err), 0);
	check_use(&share, "admin", "acme");
	check_use(&share, "read account=acme owners=bob", "acme: bob");
	check_use(&share, "read account=shop", "less");
	assert_string_equal(share.listed, "acme");
	share_release(&share);
}

static void another_key_of_the_name_is_another_key(void **state)
{
	struct share share;
	struct error err = {0};
	struct api_keyring *renamed = ring_with("you", "admin");
	struct access a = {.keys = NULL};

	(void)state;
	assert_int_equal(make_share(&share, "admin", "{}", NULL, &err), 0);
	assert_int_equal(share_access_narrow(&a, &share, renamed, &err), -1);
	assert_int_equal(err.code, ERROR_NOTFOUND);
	share.key_digest[0] ^= 1;
	check_use(&share, "admin", "gone");
	api_keyring_free(renamed);
	share_release(&share);
}

static void who_reads_all_of_a_share_sees_it(void **state)
{
	static const struct {
		const char *maker, *filters, *caller;
		bool sees;
	} cases[] = {
		{"admin", "{}", "admin", true},
		{"admin", "{}", "read accounts=*", true},
		{"admin", "{}", "read account=me", false},
		{"admin", "{\"account\":\"acme\"}", "read account=acme", true},
		{"admin", "{\"account\":\"acme\"}", "read account=shop", false},
		{"read account=acme", "{}", "read account=acme", true},
		{"read account=acme", "{}", "read account=acme owners=ann",
		 false},
		{"read account=acme", "{}", "read account=acme owners=,ann",
		 false},
		{"read account=acme", "{\"owner\":\"ann\"}",
		 "read account=acme owners=ann", true},
		{"read account=acme", "{\"owner\":\"ann,bob\"}",
		 "read account=acme owners=ann", false},
		{"read account=acme", "{\"owner\":\"ann\"}",
		 "read account=shop owners=ann", false},
		{"read account=acme owners=ann", "{}",
		 "read account=acme owners=ann,bob", true},
		{"read account=acme", "{}", "create account=acme", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct share share;
		struct error err = {0};
		struct access caller;

		assert_int_equal(make_share(&share, cases[i].maker,
					    cases[i].filters, NULL, &err),
				 0);
		caller = access_of(cases[i].caller);
		if (share_is_seen(&caller, &share) != cases[i].sees)
			fail_msg("%s %s, %s", cases[i].maker, cases[i].filters,
				 cases[i].caller);
		api_keyring_free(caller.keys);
		share_release(&share);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_share_is_its_key_within_its_filters),
		WITH_FILE(what_a_key_does_not_read_it_does_not_share),
		WITH_FILE(a_share_of_a_link_is_bounded_by_its_account),
		WITH_FILE(another_key_of_the_name_is_another_key),
		WITH_FILE(who_reads_all_of_a_share_sees_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
