/* Promise 1, and that one code has one key. */
#include "linkstore/target.h"
#include "tests/unit/linkstore/fixture.h"

static int create_space(struct fixture *f, enum space_created *ret)
{
	return space_create(f->server.redis, f->space, 0, ret, &f->err);
}

static int check_space_record(struct fixture *f, const struct link_space *space)
{
	return space_check(f->server.redis, space, SPACE_TO_ISSUE, &f->err);
}

static void nothing_is_granted_from_a_space_never_created(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "EXISTS cursor:{s5}"),
			 0);
}

static void nothing_is_granted_once_the_cursor_is_gone(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	make_grant(f, f->day, 3);
	redis_server_number(&f->server, "DEL cursor:{s5}");
	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_NOTFOUND);
	must_fail(f, check_space_record(f, f->space), ERROR_NOTFOUND);
}

static void a_space_is_created_once(void **state)
{
	struct fixture *f = *state;
	enum space_created created;

	make_grant(f, f->day, 3);
	must(f, create_space(f, &created));
	assert_int_equal(created, SPACE_UNCHANGED);
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"), 3);
}

static void a_space_may_start_above_what_the_archive_knows(void **state)
{
	struct fixture *f = *state;
	enum space_created created;
	struct grant g;

	must(f, space_create(f->server.redis, f->space, 40, &created, &f->err));
	assert_int_equal(created, SPACE_CREATED);
	g = make_grant(f, f->day, 1);
	assert_int_equal(g.ranges[0].first, 40);
}

static void remains_of_a_space_are_not_built_upon(void **state)
{
	struct fixture *f = *state;
	enum space_created created;

	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, create_space(f, &created), ERROR_UNSAFE);
	redis_server_number(&f->server, "DEL cursor:{s5}");
	redis_server_number(&f->server, "ZADD out:{s5} 1 4-5:1");
	must_fail(f, create_space(f, &created), ERROR_UNSAFE);
}

static void another_key_is_found_out(void **state)
{
	struct fixture *f = *state;
	enum space_created created;

	f->keys[0].key = text_of("this is not the secret it was made with");
	fixture_open_store(f);
	must_fail(f, check_space_record(f, f->space), ERROR_CONFIG);
	must_fail(f, create_space(f, &created), ERROR_CONFIG);
}

static void another_block_size_is_found_out(void **state)
{
	struct fixture *f = *state;

	f->space_config.block_size = 100;
	fixture_open_store(f);
	must_fail(f, check_space_record(f, f->space), ERROR_CONFIG);
	assert_non_null(strstr(f->err.text, "block_size = 1000"));
}

static void another_space_number_is_found_out(void **state)
{
	struct fixture *f = *state;

	f->space_config.number = 6;
	fixture_open_store(f);
	must_fail(f, check_space_record(f, f->space), ERROR_CONFIG);
}

static void the_record_does_not_hold_the_secret(void **state)
{
	struct fixture *f = *state;
	redisReply *reply = redis_server_ask(&f->server, "HGETALL space:{s5}");

	for (size_t i = 0; i < reply->elements; i++)
		assert_null(strstr(reply->element[i]->str, "secret"));
	freeReplyObject(reply);
}

static void a_checked_space_knows_its_cursor(void **state)
{
	struct fixture *f = *state;
	struct link_target t, far;
	uint64_t cursor;

	linkstore_code(f->space, 14000, 0, &far);
	assert_true(linkstore_locate(f->store, far.code, 5, &t));
	must(f, space_read_cursor(f->server.redis, f->space, &cursor, &f->err));
	assert_int_equal(cursor, 0);
	assert_false(linkstore_locate(f->store, far.code, 5, &t));
}

static void a_space_of_every_strategy_is_created_and_found_right(void **state)
{
	struct fixture *f = *state;
	enum space_created created;

	for (size_t i = 0; i < linkstore_space_count(f->store); i++) {
		must(f, check_space_record(f, linkstore_space(f->store, i)));
		must(f,
		     space_create(f->server.redis, linkstore_space(f->store, i),
				  0, &created, &f->err));
		assert_int_equal(created, SPACE_UNCHANGED);
	}
}

static void a_space_without_blocks_has_nothing_to_grant(void **state)
{
	struct fixture *f = *state;
	enum space_created created;
	struct grant g;

	f->space = f->hash;
	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_INPUT);
	assert_int_equal(redis_server_number(&f->server, "EXISTS cursor:{h6}"),
			 0);
	must_fail(f,
		  space_create(f->server.redis, f->hash, 1, &created, &f->err),
		  ERROR_INPUT);
}

static void another_strategy_is_found_out(void **state)
{
	struct fixture *f = *state;

	f->spaces[1].strategy = text_of("sequence");
	f->spaces[1].block_size = 1000;
	fixture_open_store(f);
	must_fail(f,
		  check_space_record(f, linkstore_space_named(f->store, "h6")),
		  ERROR_CONFIG);
}

static void another_set_of_symbols_is_found_out(void **state)
{
	struct fixture *f = *state;

	f->spaces[1].look_alikes = text_of("keep");
	fixture_open_store(f);
	must_fail(f, check_space_record(f, f->hash), ERROR_CONFIG);
	assert_non_null(strstr(f->err.text, "symbols = 57"));
}

/* Part of the record was deleted: the space's properties are unknown. */
static void a_record_without_a_field_is_refused(void **state)
{
	static const char *const fields[] = {"number",	   "length",
					     "block_size", "symbols",
					     "strategy",   "hash_codes"};
	struct fixture *f = *state;
	enum space_created created;
	char text[512], words[200];

	must(f, space_create(f->server.redis, f->hash, 0, &created, &f->err));
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(words, sizeof(words), "HGET space:{h6} %s", fields[i]);
		redis_server_text(&f->server, words, text);
		snprintf(words, sizeof(words), "HDEL space:{h6} %s", fields[i]);
		assert_int_equal(redis_server_number(&f->server, words), 1);
		must_fail(f, check_space_record(f, f->hash), ERROR_CONFIG);
		assert_non_null(strstr(f->err.text, fields[i]));
		assert_non_null(strstr(f->err.text, "(none)"));
		must_fail(f,
			  space_create(f->server.redis, f->hash, 0, &created,
				       &f->err),
			  ERROR_CONFIG);
		assert_non_null(strstr(f->err.text, fields[i]));
		snprintf(words, sizeof(words), "HSET space:{h6} %s %.100s",
			 fields[i], text);
		redis_server_number(&f->server, words);
	}
	must(f, check_space_record(f, f->hash));
}

static void set_hash_codes(struct fixture *f, const char *method)
{
	f->spaces[1].hash_codes = text_of(method);
	fixture_open_store(f);
}

static void a_new_hash_space_has_keyed_codes(void **state)
{
	struct fixture *f = *state;
	char text[512];

	redis_server_text(&f->server, "HGET space:{h6} hash_codes", text);
	assert_string_equal(text, "keyed");
	fixture_open_store(f);
	must(f, check_space_record(f, f->hash));
	assert_ptr_equal(linkstore_hash_codes(f->hash),
			 f->hash->url_codes[URL_CODE_KEYED]);
	set_hash_codes(f, "md5-quarters");
	must_fail(f, check_space_record(f, f->hash), ERROR_CONFIG);
	assert_non_null(strstr(f->err.text, "hash_codes = keyed"));
}

static void make_quarters_space(struct fixture *f)
{
	enum space_created created;

	redis_server_number(&f->server, "DEL space:{h6}");
	set_hash_codes(f, "md5-quarters");
	must(f, space_create(f->server.redis, f->hash, 0, &created, &f->err));
	assert_int_equal(created, SPACE_CREATED);
}

static void a_hash_space_goes_on_as_it_was_created(void **state)
{
	static const struct url_code_subject of = {"", "", "https://a.example/",
						   18};
	struct fixture *f = *state;
	struct link_target before, after;
	enum space_created created;

	make_quarters_space(f);
	must(f, linkstore_hash_code(f->hash, &of, 0, &before, &f->err));
	set_hash_codes(f, "as-created");
	must(f, check_space_record(f, f->hash));
	must(f, linkstore_hash_code(f->hash, &of, 0, &after, &f->err));
	assert_string_equal(after.code, before.code);
	fixture_open_store(f);
	must(f, space_create(f->server.redis, f->hash, 0, &created, &f->err));
	assert_int_equal(created, SPACE_UNCHANGED);
	must(f, linkstore_hash_code(f->hash, &of, 0, &after, &f->err));
	assert_string_equal(after.code, before.code);
	set_hash_codes(f, "keyed");
	must_fail(f, check_space_record(f, f->hash), ERROR_CONFIG);
	must_fail(f,
		  space_create(f->server.redis, f->hash, 0, &created, &f->err),
		  ERROR_CONFIG);
}

static void a_way_to_make_codes_that_is_not_known_is_refused(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "HSET space:{h6} hash_codes later");
	must_fail(f, check_space_record(f, f->hash), ERROR_CONFIG);
	assert_non_null(strstr(f->err.text, "later"));
}

static void the_ledger_of_a_space_without_blocks_counts_links(void **state)
{
	struct fixture *f = *state;
	struct space_ledger ledger;

	must(f, space_read_ledger(f->server.redis, f->alias, &ledger, &f->err));
	assert_int_equal(ledger.capacity, 0);
	assert_int_equal(ledger.cursor, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			nothing_is_granted_from_a_space_never_created,
			setup_without_space, teardown_fixture),
		TEST(nothing_is_granted_once_the_cursor_is_gone),
		TEST(a_space_is_created_once),
		cmocka_unit_test_setup_teardown(
			a_space_may_start_above_what_the_archive_knows,
			setup_without_space, teardown_fixture),
		TEST(remains_of_a_space_are_not_built_upon),
		TEST(another_key_is_found_out),
		TEST(another_block_size_is_found_out),
		TEST(another_space_number_is_found_out),
		TEST(the_record_does_not_hold_the_secret),
		TEST(a_checked_space_knows_its_cursor),
		TEST_ALL(a_space_of_every_strategy_is_created_and_found_right),
		TEST_ALL(a_space_without_blocks_has_nothing_to_grant),
		TEST_ALL(another_strategy_is_found_out),
		TEST_ALL(another_set_of_symbols_is_found_out),
		TEST_ALL(a_new_hash_space_has_keyed_codes),
		TEST_ALL(a_hash_space_goes_on_as_it_was_created),
		TEST_ALL(a_way_to_make_codes_that_is_not_known_is_refused),
		TEST_ALL(a_record_without_a_field_is_refused),
		TEST_ALL(the_ledger_of_a_space_without_blocks_counts_links),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
