/* A key is retired once no code made with it can lead anywhere. */
#include "tests/unit/linkstore/rotation.h"

#include "linkstore/retire.h"

#define HELD (HOLD + HOLD / 8 + 10) /* ms until no new code is made */

static int retire_key(struct fixture *f, unsigned version)
{
	uint64_t blocks;

	return space_retire_key(f->server.redis, f->space, version, &blocks,
				&f->err);
}

/* --- retiring ------------------------------------------------------------- */

static void the_key_that_makes_codes_is_not_retired(void **s)
{
	struct fixture *f = *s;

	must_fail(f, retire_key(f, 0), ERROR_CONFIG);
}

static void a_key_that_is_not_configured_is_not_retired(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->day);
	configure_keys(f, 1, -1);
	must_fail(f, retire_key(f, 0), ERROR_CONFIG);
}

static void a_key_that_is_not_in_use_is_not_retired(void **s)
{
	struct fixture *f = *s;

	configure_keys(f, 0, 1);
	must_fail(f, retire_key(f, 1), ERROR_NOTFOUND);
}

static void a_key_added_by_mistake_is_retired_at_once(void **s)
{
	struct fixture *f = *s;

	configure_keys(f, 0, 1);
	create_space(f);
	must(f, retire_key(f, 1));
	assert_int_equal(
		redis_server_number(&f->server, "HEXISTS space:{s5} key:1"), 0);
}

static void a_redis_that_forgot_cannot_say_that_a_key_was_never_used(void **s)
{
	struct fixture *f = *s;

	configure_keys(f, 0, 1);
	create_space(f);
	redis_server_number(&f->server, "HSET space:{s5} run_id 0");
	must_fail(f, retire_key(f, 1), ERROR_BUSY);
	sleep_ms(HELD);
	must(f, retire_key(f, 1));
}

static void a_key_is_not_retired_while_codes_may_be_made_with_it(void **s)
{
	struct fixture *f = *s;

	make_grant(f, f->day, 1);
	configure_keys(f, 1, 0);
	create_space(f);
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
	assert_non_null(strstr(f->err.text, "hold_max"));
}

static void a_key_is_not_retired_while_a_link_of_it_lives(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->brief);
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
	assert_non_null(strstr(f->err.text, "1 blocks may hold links"));
}

static void a_key_is_not_retired_while_a_block_of_it_is_in_quarantine(void **s)
{
	struct fixture *f = *s;

	f->config.quarantine = CLOCK_HOUR;
	rotate_after_a_link(f, f->brief);
	sleep_ms(1000 + HOLD + 20);
	reclaim_first(f, 1, 1);
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
	assert_non_null(strstr(f->err.text, "1 are in quarantine"));
}

static void a_key_is_retired_once_its_links_and_their_quarantine_ended(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->brief);
	sleep_ms(1000 + HOLD + QUARANTINE + 20);
	must(f, retire_key(f, 0));
	must_fail(f, retire_key(f, 0), ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "EXISTS lock:{s5}"),
			 0);
}

static void nothing_is_granted_for_a_retired_key(void **s)
{
	struct fixture *f = *s;
	struct grant g;

	configure_keys(f, 1, 0);
	create_space(f);
	sleep_ms(HELD);
	must(f, retire_key(f, 0));
	configure_keys(f, 0, 1);
	must_fail(f, try_grant(f, f->day, 1, 0, &g), ERROR_UNSAFE);
	must_fail(f, check_space_record(f, SPACE_TO_ISSUE), ERROR_UNSAFE);
	must(f, check_space_record(f, SPACE_TO_READ));
}

static void a_retired_number_takes_another_key(void **s)
{
	struct fixture *f = *s;

	configure_keys(f, 1, 0);
	create_space(f);
	sleep_ms(HELD);
	must(f, retire_key(f, 0));
	f->keys[1].key = text_of("a third secret, of version 0 again");
	fixture_open_store(f);
	assert_int_equal(create_space(f), SPACE_EXTENDED);
	must(f, check_space_record(f, SPACE_TO_ISSUE));
}

static void links_that_never_expire_keep_their_key(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->never);
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "never expire"));
}

/* The block was opened while allocators still used the old key, but with the
 * new one. */
static void blocks_of_the_new_key_do_not_keep_the_old_one(void **s)
{
	struct fixture *f = *s;
	struct link_block block;

	rotate_after_a_link(f, f->brief);
	block = open_block(f, f->never);
	store_link(f, &block, 0);
	block = open_block(f, f->day);
	store_link(f, &block, 0);
	open_block(f, f->never);
	sleep_ms(1000 + HOLD + QUARANTINE + 20);
	must(f, retire_key(f, 0));
}

static void a_renewed_link_keeps_its_key(void **s)
{
	struct fixture *f = *s;
	struct link_target old = rotate_after_a_link(f, f->brief);
	char words[128];

	set_marker(f, "1 o 1s 1 99999999999999 test#1");
	snprintf(words, sizeof(words), "PERSIST l:{s5:0}:%s", old.code);
	redis_server_number(&f->server, words);
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
	assert_non_null(strstr(f->err.text, "5138-11-16"));
}

static void a_block_taken_out_by_hand_keeps_its_key(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->day);
	redis_server_number(&f->server, "ZREM issued:{s5} 0-0:1");
	redis_server_number(&f->server, "ZADD out:{s5} 1 0-0:1");
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
}

static void links_without_a_marker_stop_the_retiring(void **s)
{
	struct fixture *f = *s;

	rotate_after_a_link(f, f->day);
	redis_server_number(&f->server, "DEL m:{s5:0}");
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "no marker"));
}

/* The caller of the grant that Redis forgot has made codes in the block. */
static void links_in_a_gap_without_a_marker_stop_it_too(void **s)
{
	struct fixture *f = *s;
	const char *gap[] = {"HSET", "space:{s5}", "gaps", "0-9 "};
	redisReply *reply;

	rotate_after_a_link(f, f->day);
	must(f, redis_command(f->server.redis, 4, gap, NULL, &reply, &f->err));
	freeReplyObject(reply);
	redis_server_number(&f->server, "DEL m:{s5:0}");
	sleep_ms(HELD);
	must_fail(f, retire_key(f, 0), ERROR_UNSAFE);
}

static void what_redis_does_not_tell_stops_the_retiring(void **s)
{
	static const char *const refused[] = {"exists", "mget"};
	struct fixture *f = *s;
	char words[64];

	rotate_after_a_link(f, f->day);
	sleep_ms(HELD);
	for (size_t i = 0; i < 2; i++) {
		snprintf(words, sizeof(words), "ACL SETUSER default -%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
		must_fail(f, retire_key(f, 0), ERROR_REMOTE);
		snprintf(words, sizeof(words), "ACL SETUSER default +%s",
			 refused[i]);
		freeReplyObject(redis_server_ask(&f->server, words));
	}
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
}

static void a_block_that_was_never_opened_keeps_no_key(void **s)
{
	struct fixture *f = *s;

	make_grant(f, f->day, 3);
	configure_keys(f, 1, 0);
	create_space(f);
	sleep_ms(HELD);
	must(f, retire_key(f, 0));
}

static void many_blocks_are_looked_through(void **s)
{
	struct fixture *f = *s;
	uint64_t blocks;

	for (int i = 0; i < 10; i++)
		make_grant(f, f->day, 256);
	configure_keys(f, 1, 0);
	create_space(f);
	sleep_ms(HELD);
	must(f,
	     space_retire_key(f->server.redis, f->space, 0, &blocks, &f->err));
	assert_int_equal(blocks, 2560);
}

static void a_reclaimer_at_work_keeps_others_from_retiring(void **s)
{
	struct fixture *f = *s;
	struct reclaim_lock lock;

	configure_keys(f, 1, 0);
	create_space(f);
	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	must_fail(f, retire_key(f, 0), ERROR_BUSY);
}

static void spaces_without_blocks_keep_their_keys(void **s)
{
	struct fixture *f = *s;

	f->space = f->hash;
	must_fail(f, retire_key(f, 0), ERROR_INPUT);
	f->space = f->snowflake;
	must_fail(f, retire_key(f, 0), ERROR_INPUT);
	f->space = f->alias;
	must_fail(f, retire_key(f, 0), ERROR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_key_that_makes_codes_is_not_retired),
		TEST(a_key_that_is_not_configured_is_not_retired),
		TEST(a_key_that_is_not_in_use_is_not_retired),
		TEST(a_key_added_by_mistake_is_retired_at_once),
		TEST(a_redis_that_forgot_cannot_say_that_a_key_was_never_used),
		TEST(a_key_is_not_retired_while_codes_may_be_made_with_it),
		TEST(a_key_is_not_retired_while_a_link_of_it_lives),
		TEST(a_key_is_not_retired_while_a_block_of_it_is_in_quarantine),
		TEST(a_key_is_retired_once_its_links_and_their_quarantine_ended),
		TEST(nothing_is_granted_for_a_retired_key),
		TEST(a_retired_number_takes_another_key),
		TEST(links_that_never_expire_keep_their_key),
		TEST(blocks_of_the_new_key_do_not_keep_the_old_one),
		TEST(a_renewed_link_keeps_its_key),
		TEST(a_block_taken_out_by_hand_keeps_its_key),
		TEST(links_without_a_marker_stop_the_retiring),
		TEST(links_in_a_gap_without_a_marker_stop_it_too),
		TEST(what_redis_does_not_tell_stops_the_retiring),
		TEST(a_block_that_was_never_opened_keeps_no_key),
		TEST(many_blocks_are_looked_through),
		TEST(a_reclaimer_at_work_keeps_others_from_retiring),
		TEST_ALL(spaces_without_blocks_keep_their_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
