#include "allocator/keys/link_access.h"
#include "common/unconst.h"
#include "tests/unit/common/keys_world.h"

/* May "open sesame", as the file says of it, change such a link? */
static bool may_change(const char *file, const char *account,
		       const char *creator, const char *owner)
{
	Shortloop__Link link;
	struct api_key_info info = {0};
	struct error err = {0};
	struct api_keyring *ring;
	bool may;

	shortloop__link__init(&link);
	write_file(file);
	ring = open_ring(&err);
	if (!ring)
		fail_msg("%s", err.text);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	link.account = unconst(account);
	link.creator = unconst(creator);
	link.owner = unconst(owner);
	may = link_access_may_change(ring, &info, &link);
	api_keyring_free(ring);
	return may;
}

static void a_key_without_an_account_is_its_own(void **state)
{
	const char *file = "crm create " SESAME "\nshop create " OTHER "\n";

	(void)state;
	assert_true(may_change(file, "crm", "crm", ""));
	assert_false(may_change(file, "shop", "shop", ""));
	/* A name in `creator` is not a right. */
	assert_false(may_change(file, "shop", "crm", ""));
}

static void keys_of_an_account_change_each_others_links(void **state)
{
	const char *file = "crm-2 create " SESAME " account=crm\n"
			   "crm create " OTHER "\n";

	(void)state;
	assert_true(may_change(file, "crm", "crm", ""));
	assert_true(may_change(file, "crm", "long-gone", ""));
	assert_false(may_change(file, "crm-2", "crm-2", ""));
}

static void a_link_without_an_account_is_that_of_its_creators_key(void **state)
{
	(void)state;
	assert_true(may_change("crm create " SESAME "\n", "", "crm", ""));
	assert_false(may_change("shop create " SESAME "\n", "", "crm", ""));
	assert_true(may_change("crm create " OTHER " account=acme\n"
			       "new create " SESAME " account=acme\n",
			       "", "crm", ""));
	assert_false(may_change("crm create " OTHER " account=acme\n"
				"new create " SESAME " account=crm\n",
				"", "crm", ""));
	/* The key is gone: a new one takes its account on. */
	assert_true(may_change("new create " SESAME " account=crm\n", "", "crm",
			       ""));
}

static void a_key_writes_for_the_owners_it_names(void **state)
{
	const char *file = "crm create " SESAME " owners=ann,J%2c%20Doe,\n";

	(void)state;
	assert_true(may_change(file, "crm", "crm", "ann"));
	assert_true(may_change(file, "crm", "crm", "J, Doe"));
	assert_true(may_change(file, "crm", "crm", ""));
	assert_false(may_change(file, "crm", "crm", "bob"));
	assert_false(may_change(file, "shop", "crm", "ann"));
	file = "crm create " SESAME " owners=ann\n";
	assert_false(may_change(file, "crm", "crm", ""));
	assert_true(may_change("crm create " SESAME "\n", "crm", "crm", "x"));
}

static void an_admin_may_change_everything(void **state)
{
	(void)state;
	assert_true(may_change("root admin " SESAME "\n", "crm", "crm", "x"));
	assert_true(may_change("root admin " SESAME "\n", "", "crm", ""));
}

static void a_reader_may_not_change_what_its_account_created(void **state)
{
	(void)state;
	assert_false(may_change("crm read " SESAME "\n", "crm", "crm", ""));
	assert_false(may_change("crm read-own " SESAME "\n", "crm", "crm", ""));
}

static bool may_read(const char *roles, const char *account)
{
	Shortloop__Link link;
	struct api_key_info info = {0};
	struct error err = {0};
	struct api_keyring *ring;
	char line[256];
	bool may;

	shortloop__link__init(&link);
	snprintf(line, sizeof(line), "crm %s " SESAME "\n", roles);
	write_file(line);
	ring = open_ring(&err);
	assert_true(api_keyring_find(ring, "open sesame", 11, &info));
	link.account = unconst(account);
	may = link_access_may_read(ring, &info, &link);
	api_keyring_free(ring);
	return may;
}

static void read_is_of_all_accounts_and_read_own_of_one(void **state)
{
	(void)state;
	assert_true(may_read("read", "shop"));
	assert_true(may_read("admin", "shop"));
	assert_false(may_read("read-own", "shop"));
	assert_true(may_read("read-own", "crm"));
	assert_false(may_read("create", "crm"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FILE(a_key_without_an_account_is_its_own),
		WITH_FILE(keys_of_an_account_change_each_others_links),
		WITH_FILE(
			a_link_without_an_account_is_that_of_its_creators_key),
		WITH_FILE(a_key_writes_for_the_owners_it_names),
		WITH_FILE(an_admin_may_change_everything),
		WITH_FILE(a_reader_may_not_change_what_its_account_created),
		WITH_FILE(read_is_of_all_accounts_and_read_own_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
