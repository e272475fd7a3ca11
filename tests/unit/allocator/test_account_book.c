#include "allocator/keys/account_book.h"
#include "tests/unit/common/keys_world.h"

struct world {
	struct account_book *book;
	struct api_keyring *ring;
};

static struct world open_world(const char *file, struct error *err)
{
	struct world w = {.book = account_book_new(NULL, NULL, err)};
	struct api_keyring_options options = {.path = path};

	assert_non_null(w.book);
	write_file(file);
	options.accounts = account_book_reader(w.book);
	w.ring = api_keyring_new(&options, err);
	return w;
}

static void close_world(struct world *w)
{
	api_keyring_free(w->ring);
	account_book_free(w->book);
}

/* Returns the maximum number of links for the account of "open sesame"; 0:
 * none. */
static int64_t bound_in(const struct world *w)
{
	struct api_key_info info = {0};

	assert_true(api_keyring_find(w->ring, "open sesame", 11, &info));
	return info.rules ? info.rules->quota.links.max : 0;
}

static int64_t bound_of(const char *file)
{
	struct error err = {0};
	struct world w = open_world(file, &err);
	int64_t bound;

	if (!w.ring)
		fail_msg("%s", err.text);
	bound = bound_in(&w);
	close_world(&w);
	return bound;
}

static void a_key_has_the_rules_of_its_account(void **state)
{
	(void)state;
	assert_int_equal(bound_of("@crm links=3/day # few\n@* links=4/day\n"
				  "a create " SESAME " account=crm\n"),
			 3);
	assert_int_equal(bound_of("a create " SESAME "\n@a links=5/day\n"), 5);
	assert_int_equal(bound_of("a create " SESAME "\n@b links=5/day\n"), 0);
}

static void others_have_those_of_the_star(void **state)
{
	(void)state;
	assert_int_equal(bound_of("@* links=4/day\na create " SESAME "\n"), 4);
}

static void an_admin_has_none(void **state)
{
	(void)state;
	assert_int_equal(bound_of("@* links=4/day\na admin " SESAME "\n"), 0);
}

static void a_reload_forgets_what_the_file_no_longer_says(void **state)
{
	struct error err = {0};
	struct world w =
		open_world("@a links=4/day\na create " SESAME "\n", &err);
	struct api_key_info before = {0};

	(void)state;
	assert_true(api_keyring_find(w.ring, "open sesame", 11, &before));
	write_file("a create " SESAME "\n");
	assert_int_equal(api_keyring_reload(w.ring, &err), 0);
	assert_int_equal(bound_in(&w), 0);
	/* A request under way still has the rules. */
	assert_int_equal(before.rules->quota.links.max, 4);
	close_world(&w);
}

static void a_bad_line_is_told_with_its_number(void **state)
{
	static const struct {
		const char *file, *says;
	} bad[] = {
		{"\n@a links=1/day\n@a links=2/day\n",
		 ":3: the account 'a' has a line already"},
		{"@\n", ":1: expected @* or @ and the name"},
		{"@a/b\n", ":1: expected @* or @ and the name"},
		{"@a hue=3\n", ":1: expected nothing, links="},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct error err = {0};
		struct world w = open_world(bad[i].file, &err);

		assert_null(w.ring);
		assert_int_equal(err.code, ERROR_CONFIG);
		assert_non_null(strstr(err.text, bad[i].says));
		close_world(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_has_the_rules_of_its_account),
		WITH_FILE(others_have_those_of_the_star),
		WITH_FILE(an_admin_has_none),
		WITH_FILE(a_reload_forgets_what_the_file_no_longer_says),
		WITH_FILE(a_bad_line_is_told_with_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
