/* Promises 8 and 9: settling exact members, and refusing without reliable data.
 */
#include "linkstore/space/safety_check.h"
#include "tests/unit/linkstore/fixture.h"

static struct reclaim_lock take_lock(struct fixture *f)
{
	struct reclaim_lock lock;

	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	return lock;
}

static bool has_member(struct fixture *f, const char *key, const char *member)
{
	char words[128], text[512];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	return *redis_server_text(&f->server, words, text);
}

/* --- settle --------------------------------------------------------------- */

static int settle_members(struct fixture *f, const struct reclaim_lock *lock,
			  const struct block_range *members,
			  size_t member_count, const struct settle_part *parts,
			  size_t part_count)
{
	return reclaim_settle(f->server.redis, lock, members, member_count,
			      parts, part_count, &f->err);
}

static void a_settled_range_is_split_into_its_parts(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part parts[] = {
		{SETTLE_POOL, {0, 3, 2}, 0},
		{SETTLE_KEEP, {4, 6, 1}, 7777777777777},
		{SETTLE_LOST, {7, 9, 1}, 0},
	};
	struct reclaim_lock lock = take_lock(f);
	struct space_ledger ledger;

	make_grant(f, f->day, 10);
	must(f, settle_members(f, &lock, &member, 1, parts, 3));
	assert_false(has_member(f, "issued:{s5}", "0-9:1"));
	assert_true(has_member(f, "pool:{s5}", "0-3:2"));
	assert_int_equal(
		redis_server_number(&f->server, "ZSCORE issued:{s5} 4-6:1"),
		7777777777777);
	must(f, space_read_ledger(f->server.redis, f->space, &ledger, &f->err));
	assert_int_equal(ledger.lost, 3);
	assert_int_equal(ledger.due, 0);
	assert_int_equal(ledger.pooled + ledger.quarantined, 4);
}

/* The mark stays until the state of the block is known. */
static void a_block_granted_for_ever_is_marked_until_it_is_judged(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 2};
	struct settle_part parts[] = {
		{SETTLE_POOL, {0, 3, 3}, 0},
		{SETTLE_KEEP, {4, 5, 2}, DURATION_NEVER},
		{SETTLE_KEEP, {6, 7, 2}, 7777777777777},
		{SETTLE_LOST, {8, 9, 2}, 0},
	};
	struct reclaim_lock lock = take_lock(f);

	redis_server_number(&f->server, "ZADD pool:{s5} 1000 0-9:2");
	make_grant(f, f->never, 10);
	must(f, settle_members(f, &lock, &member, 1, parts, 4));
	assert_int_equal(redis_server_number(&f->server, "ZCARD endless:{s5}"),
			 4);
	assert_int_equal(
		redis_server_number(&f->server, "ZCOUNT endless:{s5} 6 9"), 4);
}

static void members_apart_are_settled_together(void **state)
{
	struct fixture *f = *state;
	struct block_range members[] = {{0, 1, 1}, {2, 3, 1}, {8, 9, 1}};
	struct settle_part parts[] = {
		{SETTLE_POOL, {0, 3, 2}, 0},
		{SETTLE_POOL, {8, 9, 2}, 0},
	};
	struct reclaim_lock lock = take_lock(f);

	for (int i = 0; i < 5; i++)
		make_grant(f, f->day, 2);
	must(f, settle_members(f, &lock, members, 3, parts, 2));
	assert_true(has_member(f, "pool:{s5}", "0-3:2"));
	assert_true(has_member(f, "pool:{s5}", "8-9:2"));
	assert_int_equal(redis_server_number(&f->server, "ZCARD issued:{s5}"),
			 2);
}

static void a_range_is_settled_once(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 10);
	must(f, settle_members(f, &lock, &member, 1, &part, 1));
	must_fail(f, settle_members(f, &lock, &member, 1, &part, 1),
		  ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 1);
}

static void nothing_is_settled_when_one_member_is_gone(void **state)
{
	struct fixture *f = *state;
	struct block_range members[] = {{0, 1, 1}, {2, 3, 1}};
	struct settle_part part = {SETTLE_POOL, {0, 3, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 2);
	must_fail(f, settle_members(f, &lock, members, 2, &part, 1),
		  ERROR_NOTFOUND);
	assert_true(has_member(f, "issued:{s5}", "0-1:1"));
}

static void nothing_is_settled_without_the_lock(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 10);
	redis_server_number(&f->server, "DEL lock:{s5}");
	must_fail(f, settle_members(f, &lock, &member, 1, &part, 1),
		  ERROR_NOT_OWNER);
	assert_true(has_member(f, "issued:{s5}", "0-9:1"));
}

/* Nothing in a space whose record is gone can be trusted. */
static void nothing_is_settled_in_a_space_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 10);
	redis_server_number(&f->server, "DEL cursor:{s5}");
	must_fail(f, settle_members(f, &lock, &member, 1, &part, 1),
		  ERROR_UNSAFE);
	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, settle_members(f, &lock, &member, 1, &part, 1),
		  ERROR_UNSAFE);
	assert_true(has_member(f, "issued:{s5}", "0-9:1"));
}

static void what_passes_is_to_be_tried_again(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 10);
	freeReplyObject(redis_server_ask(&f->server, "REPLICAOF 127.0.0.1 1"));
	must(f, reclaim_settle_send(f->server.redis, &lock, &member, 1, &part,
				    1, &f->err));
	must_fail(f, reclaim_settle_take(f->server.redis, &lock, &f->err),
		  ERROR_REMOTE);
	assert_true(f->err.retriable);
}

static void parts_that_do_not_cover_the_members_change_nothing(void **state)
{
	static const struct settle_part wrong[][2] = {
		{{SETTLE_POOL, {0, 3, 2}, 0}, {SETTLE_POOL, {5, 9, 2}, 0}},
		{{SETTLE_POOL, {0, 5, 2}, 0}, {SETTLE_POOL, {5, 9, 2}, 0}},
		{{SETTLE_POOL, {0, 5, 2}, 0}, {SETTLE_POOL, {6, 10, 2}, 0}},
		{{SETTLE_POOL, {0, 5, 2}, 0}, {SETTLE_POOL, {6, 8, 2}, 0}},
	};
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct reclaim_lock lock = take_lock(f);

	make_grant(f, f->day, 10);
	for (int i = 0; i < 4; i++)
		must_fail(f, settle_members(f, &lock, &member, 1, wrong[i], 2),
			  ERROR_REMOTE);
	assert_true(has_member(f, "issued:{s5}", "0-9:1"));
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 0);
}

static void a_block_out_of_generations_is_retired(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 0, 32767};
	struct settle_part part = {SETTLE_POOL, {0, 0, 32768}, 0};
	struct reclaim_lock lock = take_lock(f);

	redis_server_number(&f->server, "ZADD issued:{s5} 1000 0-0:32767");
	must(f, settle_members(f, &lock, &member, 1, &part, 1));
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 0);
	assert_int_equal(
		redis_server_number(&f->server, "HGET space:{s5} retired"), 1);
}

static void settling_first_after_a_restart_makes_the_pool_wait(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock;

	make_grant(f, f->day, 10);
	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-129:3");
	redis_server_restart(&f->server);
	lock = take_lock(f);
	must(f, settle_members(f, &lock, &member, 1, &part, 1));
	assert_int_equal(
		redis_server_number(&f->server, "HEXISTS space:{s5} waits"), 1);
	assert_true(has_member(f, "issued:{s5}", "100-119:3"));
	assert_true(has_member(f, "pool:{s5}", "120-129:3"));
	assert_true(has_member(f, "pool:{s5}", "0-9:2"));
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"),
			 10 + 2 * 10);
}

/* --- eviction ------------------------------------------------------------- */

static void a_sound_redis_is_believed(void **state)
{
	struct fixture *f = *state;

	must(f, space_safety_check(f->server.redis, f->space, NULL, &f->err));
}

static void a_policy_that_may_evict_is_refused(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(redis_server_ask(
		&f->server, "CONFIG SET maxmemory-policy volatile-lru"));
	must_fail(f,
		  space_safety_check(f->server.redis, f->space, NULL, &f->err),
		  ERROR_UNSAFE);
}

static void configure_redis(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

/* Redis evicts only keys with a TTL, and there is one. */
static void evict_a_key(struct fixture *f)
{
	configure_redis(f, "SET victim 1 EX 1000");
	configure_redis(f, "CONFIG SET maxmemory-policy volatile-random");
	configure_redis(f, "CONFIG SET maxmemory 1");
	for (int i = 0; i < 100; i++)
		if (redis_server_number(&f->server, "EXISTS victim") == 0)
			break;
	configure_redis(f, "CONFIG SET maxmemory 0");
	configure_redis(f, "CONFIG SET maxmemory-policy noeviction");
}

static void evicted_keys_are_refused_until_they_are_noted(void **state)
{
	struct fixture *f = *state;

	evict_a_key(f);
	must_fail(f,
		  space_safety_check(f->server.redis, f->space, NULL, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "evicted 1 keys"));
	redis_server_number(&f->server, "HSET space:{s5} evicted_keys 1");
	must(f, space_safety_check(f->server.redis, f->space, NULL, &f->err));
}

static void evictions_of_before_a_restart_do_not_excuse_later_ones(void **state)
{
	struct fixture *f = *state;

	evict_a_key(f);
	redis_server_number(&f->server, "HSET space:{s5} evicted_keys 7");
	must_fail(f,
		  space_safety_check(f->server.redis, f->space, NULL, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "evicted_keys 1"));
	freeReplyObject(redis_server_ask(&f->server, "CONFIG RESETSTAT"));
	must(f, space_safety_check(f->server.redis, f->space, NULL, &f->err));
}

static void a_space_record_that_is_gone_is_refused(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f,
		  space_safety_check(f->server.redis, f->space, NULL, &f->err),
		  ERROR_UNSAFE);
}

static void a_cursor_that_is_gone_is_refused(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "DEL cursor:{s5}");
	must_fail(f,
		  space_safety_check(f->server.redis, f->space, NULL, &f->err),
		  ERROR_UNSAFE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_settled_range_is_split_into_its_parts),
		TEST(a_block_granted_for_ever_is_marked_until_it_is_judged),
		TEST(members_apart_are_settled_together),
		TEST(a_range_is_settled_once),
		TEST(nothing_is_settled_when_one_member_is_gone),
		TEST(nothing_is_settled_without_the_lock),
		TEST(nothing_is_settled_in_a_space_that_is_gone),
		TEST(what_passes_is_to_be_tried_again),
		TEST(parts_that_do_not_cover_the_members_change_nothing),
		TEST(a_block_out_of_generations_is_retired),
		TEST(settling_first_after_a_restart_makes_the_pool_wait),
		TEST(a_sound_redis_is_believed),
		TEST(a_policy_that_may_evict_is_refused),
		TEST(evicted_keys_are_refused_until_they_are_noted),
		TEST(evictions_of_before_a_restart_do_not_excuse_later_ones),
		TEST(a_space_record_that_is_gone_is_refused),
		TEST(a_cursor_that_is_gone_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
