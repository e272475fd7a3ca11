/* Replacing the key of a space: an operator activates versions, and old ones
 * can still be read. */
#include "tests/unit/linkstore/rotation.h"

#include "linkstore/space/missing_keys.h"
#include "linkstore/target.h"

/* --- activation ----------------------------------------------------------- */

static void a_key_that_only_reads_may_be_configured_before_it_is_used(void **s)
{
	struct fixture *f = *s;

	configure_keys(f, 0, 1);
	must(f, check_space_record(f, SPACE_TO_ISSUE));
	must(f, check_space_record(f, SPACE_TO_RECLAIM));
}

static void a_key_makes_no_codes_before_it_was_added_by_hand(void **s)
{
	struct fixture *f = *s;
	struct grant g;

	configure_keys(f, 1, 0);
	must(f, check_space_record(f, SPACE_TO_READ));
	must_fail(f, check_space_record(f, SPACE_TO_ISSUE), ERROR_UNSAFE);
	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_UNSAFE);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"), 0);
	assert_int_equal(create_space(f), SPACE_EXTENDED);
	must(f, check_space_record(f, SPACE_TO_ISSUE));
	make_grant(f, f->day, 1);
}

static void codes_of_both_versions_are_found(void **s)
{
	struct fixture *f = *s;
	struct link_target old = rotate_after_a_link(f, f->day), new, found;
	struct link_block block = open_block(f, f->day);

	new = store_link(f, &block, 0);
	assert_true(linkstore_locate(f->store, old.code, 5, &found));
	assert_int_equal(found.version, 0);
	assert_true(linkstore_locate(f->store, new.code, 5, &found));
	assert_int_equal(found.version, 1);
}

static void another_key_under_a_number_in_use_is_found_out(void **s)
{
	struct fixture *f = *s;

	f->keys[1] = (struct links_key_config){
		0, text_of("not the secret that it is made with")};
	f->space_config.keys = (struct setting_list){&f->keys[1], 1};
	fixture_open_store(f);
	must_fail(f, check_space_record(f, SPACE_TO_READ), ERROR_CONFIG);
}

/* --- a program without a key ---------------------------------------------- */

static void a_code_whose_key_is_missing_is_not_denied(void **s)
{
	struct fixture *f = *s;
	struct link_target old = rotate_after_a_link(f, f->day), t;

	configure_keys(f, 1, -1);
	assert_false(linkstore_locate(f->store, old.code, 5, &t));
	assert_false(linkstore_lacks_key(f->store, old.code, 5));
	must(f, check_space_record(f, SPACE_TO_READ));
	assert_true(linkstore_lacks_key(f->store, old.code, 5));
	/* The code is of version 2, which the space does not have. */
	assert_false(linkstore_lacks_key(f->store, "abcdW", 5));
	assert_false(linkstore_lacks_key(f->store, old.code, 4));
}

static void a_missing_key_is_told_once_codes_were_made_with_it(void **s)
{
	struct fixture *f = *s;
	char why[MISSING_KEYS_TEXT_MAX];

	configure_keys(f, 0, 1);
	create_space(f);
	configure_keys(f, 0, -1);
	must(f, check_space_record(f, SPACE_TO_READ));
	assert_int_equal(linkstore_missing_keys(f->space, false), 2);
	assert_false(missing_keys_tell(f->space, NULL, why));

	configure_keys(f, 1, 0);
	make_grant(f, f->day, 1);
	configure_keys(f, 0, -1);
	must(f, check_space_record(f, SPACE_TO_READ));
	assert_true(missing_keys_tell(f->space, NULL, why));
	assert_non_null(strstr(why, "key version 1"));
}

static void who_reclaims_needs_every_key_that_codes_were_made_with(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->day);
	configure_keys(f, 1, -1);
	must(f, check_space_record(f, SPACE_TO_READ));
	must_fail(f, check_space_record(f, SPACE_TO_RECLAIM), ERROR_CONFIG);
}

/* --- spaces without blocks ------------------------------------------------ */

static void a_snowflake_space_takes_a_new_key(void **s)
{
	struct fixture *f = *s;
	struct links_key_config keys[3] = {
		{2, text_of("a secret for the version 2")},
		f->keys[0],
		f->keys[1]};
	struct link_target old, new, found;

	linkstore_snowflake_code(f->snowflake, 1, &old);
	f->spaces[2].keys = (struct setting_list){keys, 3};
	fixture_open_store(f);
	f->space = f->snowflake;
	must_fail(f, check_space_record(f, SPACE_TO_ISSUE), ERROR_UNSAFE);
	assert_int_equal(create_space(f), SPACE_EXTENDED);
	must(f, check_space_record(f, SPACE_TO_ISSUE));
	linkstore_snowflake_code(f->snowflake, 1, &new);
	assert_true(linkstore_locate(f->store, old.code, 11, &found));
	assert_true(linkstore_locate(f->store, new.code, 11, &found));
	assert_int_equal(found.version, 2);

	f->spaces[2].keys.count = 1;
	fixture_open_store(f);
	must(f, space_check(f->server.redis, f->snowflake, SPACE_TO_READ,
			    &f->err));
	assert_false(linkstore_locate(f->store, old.code, 11, &found));
	assert_true(linkstore_lacks_key(f->store, old.code, 11));
	assert_false(linkstore_lacks_key(f->store, new.code, 11));
}

static void a_hash_space_takes_no_other_key(void **s)
{
	struct fixture *f = *s;
	struct links_key_config key = {0, text_of("another secret for hashes")};

	f->spaces[1].keys = (struct setting_list){&key, 1};
	fixture_open_store(f);
	f->space = f->hash;
	must_fail(f, check_space_record(f, SPACE_TO_READ), ERROR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_key_that_only_reads_may_be_configured_before_it_is_used),
		TEST(a_key_makes_no_codes_before_it_was_added_by_hand),
		TEST(codes_of_both_versions_are_found),
		TEST(another_key_under_a_number_in_use_is_found_out),
		TEST(a_code_whose_key_is_missing_is_not_denied),
		TEST(a_missing_key_is_told_once_codes_were_made_with_it),
		TEST(who_reclaims_needs_every_key_that_codes_were_made_with),
		TEST_ALL(a_snowflake_space_takes_a_new_key),
		TEST_ALL(a_hash_space_takes_no_other_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
