/* Promises 8 and 9: the steps of a reclaim, each against a real Redis. */
#include "tests/unit/linkstore/fixture.h"

static struct reclaim_lock take_lock(struct fixture *f)
{
	struct reclaim_lock lock;

	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	return lock;
}

static size_t due(struct fixture *f, struct due_range *ret, size_t max)
{
	size_t count;
	int64_t now;

	must(f, reclaim_due(f->server.redis, f->space, 0, 0, max, ret, &count,
			    &now, &f->err));
	return count;
}

static struct block_look look(struct fixture *f, uint64_t block)
{
	struct block_look l;
	int64_t now = clock_real_ms();

	must(f, reclaim_look(f->server.redis, f->space, &block, 1, now, &l,
			     &f->err));
	return l;
}

static struct block_look close_block(struct fixture *f, uint64_t block,
				     uint32_t generation)
{
	struct block_look l;

	must(f, reclaim_close(f->server.redis, f->space, &block, 1, generation,
			      &l, &f->err));
	return l;
}

static bool has(struct fixture *f, const char *key, const char *member)
{
	char words[128], text[512];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	return *redis_server_text(&f->server, words, text);
}

static void let_it_end(void)
{
	sleep_ms(1000 + HOLD + 20);
}

/* --- lock ----------------------------------------------------------------- */

static void one_reclaimer_at_a_time(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f), second;

	must_fail(f,
		  reclaim_lock_take(f->server.redis, f->space, 1000, &second,
				    &f->err),
		  ERROR_BUSY);
	must(f, reclaim_lock_release(f->server.redis, &lock, &f->err));
	take_lock(f);
}

static void a_lock_that_ran_out_is_neither_kept_nor_taken_down(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock first = take_lock(f);

	redis_server_number(&f->server, "DEL lock:{s5}");
	take_lock(f);
	must_fail(f, reclaim_lock_keep(f->server.redis, &first, &f->err),
		  ERROR_BUSY);
	must(f, reclaim_lock_release(f->server.redis, &first, &f->err));
	assert_int_equal(redis_server_number(&f->server, "EXISTS lock:{s5}"),
			 1);
}

/* --- due ------------------------------------------------------------------ */

static void ranges_come_due_when_hold_and_ttl_are_over(void **state)
{
	struct fixture *f = *state;
	struct due_range ranges[4];

	grant(f, f->day, 2);
	grant(f, f->brief, 3);
	assert_int_equal(due(f, ranges, 4), 0);
	let_it_end();
	assert_int_equal(due(f, ranges, 4), 1);
	assert_int_equal(ranges[0].range.first, 2);
	assert_int_equal(ranges[0].range.last, 4);
}

static void due_ranges_are_read_in_pages(void **state)
{
	struct fixture *f = *state;
	struct due_range ranges[2];
	size_t count;
	int64_t now;

	for (int i = 0; i < 3; i++)
		grant(f, f->brief, 1);
	let_it_end();
	assert_int_equal(due(f, ranges, 2), 2);
	must(f, reclaim_due(f->server.redis, f->space, 0, 2, 2, ranges, &count,
			    &now, &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(ranges[0].range.first, 2);
}

/* --- look and close ------------------------------------------------------- */

static void a_look_tells_live_ended_and_lost(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->day);
	open_block(f, f->brief);
	let_it_end();
	assert_int_equal(look(f, 0).state, BLOCK_LIVE);
	assert_true(look(f, 0).end > clock_real_ms() + CLOCK_HOUR);
	assert_int_equal(look(f, 1).state, BLOCK_ENDED);
	assert_int_equal(look(f, 2).state, BLOCK_LOST);
}

static void many_markers_are_looked_at_in_order(void **state)
{
	struct fixture *f = *state;
	struct block_look *looks = calloc(3000, sizeof(*looks));
	uint64_t *blocks = calloc(3000, sizeof(*blocks));

	for (uint64_t i = 0; i < 3000; i++)
		blocks[i] = 2999 - i;
	open_block(f, f->day);
	must(f, reclaim_look(f->server.redis, f->space, blocks, 3000, 0, looks,
			     &f->err));
	assert_int_equal(looks[2999].state, BLOCK_LIVE);
	assert_int_equal(looks[2998].state, BLOCK_LOST);
	free(looks);
	free(blocks);
}

static void a_live_block_is_not_closed_whatever_was_read(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->day);
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_LIVE);
	assert_int_equal(look(f, 0).state, BLOCK_LIVE);
}

static void a_closed_block_takes_no_more_links(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	Shortloop__Link link = SHORTLOOP__LINK__INIT;
	int64_t expires;

	let_it_end();
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
	must(f, link_prepare(&block, 0, &link, &f->err));
	must_fail(f,
		  link_create(f->server.redis, &block, "abcde", &link, &expires,
			      &f->err),
		  ERROR_BUSY);
}

static void a_holder_that_comes_first_keeps_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);

	let_it_end();
	assert_int_equal(look(f, 0).state, BLOCK_ENDED);
	store_link(f, &block, 0);
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_LIVE);
}

static void closing_again_finds_the_same(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->brief);
	let_it_end();
	close_block(f, 0, 1);
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
	assert_int_equal(close_block(f, 0, 1).generation, 1);
}

static void a_reused_block_never_opened_closes_under_its_generation(void **s)
{
	struct fixture *f = *s;

	open_block(f, f->brief);
	let_it_end();
	close_block(f, 0, 1);
	assert_int_equal(close_block(f, 0, 2).generation, 2);
}

static void closing_works_after_redis_has_dropped_the_script(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->brief);
	let_it_end();
	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
}

/* --- settle --------------------------------------------------------------- */

static int settle(struct fixture *f, const struct reclaim_lock *lock,
		  const struct block_range *members, size_t member_count,
		  const struct settle_part *parts, size_t part_count)
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

	grant(f, f->day, 10);
	must(f, settle(f, &lock, &member, 1, parts, 3));
	assert_false(has(f, "issued:{s5}", "0-9:1"));
	assert_true(has(f, "pool:{s5}", "0-3:2"));
	assert_int_equal(
		redis_server_number(&f->server, "ZSCORE issued:{s5} 4-6:1"),
		7777777777777);
	must(f, space_read_ledger(f->server.redis, f->space, &ledger, &f->err));
	assert_int_equal(ledger.lost, 3);
	assert_int_equal(ledger.due, 0);
	assert_int_equal(ledger.pooled + ledger.quarantined, 4);
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
		grant(f, f->day, 2);
	must(f, settle(f, &lock, members, 3, parts, 2));
	assert_true(has(f, "pool:{s5}", "0-3:2"));
	assert_true(has(f, "pool:{s5}", "8-9:2"));
	assert_int_equal(redis_server_number(&f->server, "ZCARD issued:{s5}"),
			 2);
}

static void a_range_is_settled_once(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	grant(f, f->day, 10);
	must(f, settle(f, &lock, &member, 1, &part, 1));
	must_fail(f, settle(f, &lock, &member, 1, &part, 1), ERROR_NOTFOUND);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 1);
}

static void nothing_is_settled_when_one_member_is_gone(void **state)
{
	struct fixture *f = *state;
	struct block_range members[] = {{0, 1, 1}, {2, 3, 1}};
	struct settle_part part = {SETTLE_POOL, {0, 3, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	grant(f, f->day, 2);
	must_fail(f, settle(f, &lock, members, 2, &part, 1), ERROR_NOTFOUND);
	assert_true(has(f, "issued:{s5}", "0-1:1"));
}

static void nothing_is_settled_without_the_lock(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock = take_lock(f);

	grant(f, f->day, 10);
	redis_server_number(&f->server, "DEL lock:{s5}");
	must_fail(f, settle(f, &lock, &member, 1, &part, 1), ERROR_BUSY);
	assert_true(has(f, "issued:{s5}", "0-9:1"));
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

	grant(f, f->day, 10);
	for (int i = 0; i < 4; i++)
		must_fail(f, settle(f, &lock, &member, 1, wrong[i], 2),
			  ERROR_REMOTE);
	assert_true(has(f, "issued:{s5}", "0-9:1"));
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 0);
}

static void a_block_out_of_generations_is_retired(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 0, 32767};
	struct settle_part part = {SETTLE_POOL, {0, 0, 32768}, 0};
	struct reclaim_lock lock = take_lock(f);

	redis_server_number(&f->server, "ZADD issued:{s5} 1000 0-0:32767");
	must(f, settle(f, &lock, &member, 1, &part, 1));
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

	grant(f, f->day, 10);
	redis_server_number(&f->server, "ZADD pool:{s5} 1000 100-109:3");
	redis_server_restart(&f->server);
	lock = take_lock(f);
	must(f, settle(f, &lock, &member, 1, &part, 1));
	assert_true(has(f, "pool:{s5}", "100-109:4"));
	assert_true(has(f, "pool:{s5}", "0-9:2"));
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"),
			 10 + GAP);
}

/* --- sight ---------------------------------------------------------------- */

static void a_sound_redis_is_believed(void **state)
{
	struct fixture *f = *state;

	must(f, reclaim_check_sight(f->server.redis, f->space, &f->err));
}

static void a_policy_that_may_evict_is_refused(void **state)
{
	struct fixture *f = *state;

	freeReplyObject(redis_server_ask(
		&f->server, "CONFIG SET maxmemory-policy volatile-lru"));
	must_fail(f, reclaim_check_sight(f->server.redis, f->space, &f->err),
		  ERROR_UNSAFE);
}

static void configure_redis(struct fixture *f, const char *words)
{
	freeReplyObject(redis_server_ask(&f->server, words));
}

/* Only keys with a TTL, of which there is one. */
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
	must_fail(f, reclaim_check_sight(f->server.redis, f->space, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "evicted 1 keys"));
	redis_server_number(&f->server, "HSET space:{s5} evicted_keys 1");
	must(f, reclaim_check_sight(f->server.redis, f->space, &f->err));
}

static void a_space_record_that_is_gone_is_refused(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "DEL space:{s5}");
	must_fail(f, reclaim_check_sight(f->server.redis, f->space, &f->err),
		  ERROR_UNSAFE);
}

static void a_cursor_that_is_gone_is_refused(void **state)
{
	struct fixture *f = *state;

	redis_server_number(&f->server, "DEL cursor:{s5}");
	must_fail(f, reclaim_check_sight(f->server.redis, f->space, &f->err),
		  ERROR_UNSAFE);
}

static void links_left_in_a_block_are_counted(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	uint64_t links;

	store_link(f, &block, 0);
	store_link(f, &block, 999);
	must(f, reclaim_count_links(f->server.redis, f->space, 0, &links,
				    &f->err));
	assert_int_equal(links, 2);
	must(f, reclaim_count_links(f->server.redis, f->space, 1, &links,
				    &f->err));
	assert_int_equal(links, 0);
}

/* --- the whole round ------------------------------------------------------ */

static void a_reused_block_makes_the_same_codes_with_other_link_ids(void **s)
{
	struct fixture *f = *s;
	struct link_block block = open_block(f, f->brief);
	struct link_target first = store_link(f, &block, 0), again;
	struct link_answer answer;

	let_it_end();
	reclaim_first(f, 1, 1);
	sleep_ms(QUARANTINE + 20);
	block = open_block(f, f->day);
	assert_int_equal(block.number, 0);
	assert_int_equal(block.generation, 2);
	again = store_link(f, &block, 0);
	assert_string_equal(again.code, first.code);
	must(f, link_lookup(f->server.redis, &again, &answer, &f->err));
	assert_int_equal(answer.link->generation, 2);
	assert_int_equal(answer.link->link_id >> 42 & 32767, 2);
	link_answer_release(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_reclaimer_at_a_time),
		TEST(a_lock_that_ran_out_is_neither_kept_nor_taken_down),
		TEST(ranges_come_due_when_hold_and_ttl_are_over),
		TEST(due_ranges_are_read_in_pages),
		TEST(a_look_tells_live_ended_and_lost),
		TEST(many_markers_are_looked_at_in_order),
		TEST(a_live_block_is_not_closed_whatever_was_read),
		TEST(a_closed_block_takes_no_more_links),
		TEST(a_holder_that_comes_first_keeps_its_block),
		TEST(closing_again_finds_the_same),
		TEST(a_reused_block_never_opened_closes_under_its_generation),
		TEST(closing_works_after_redis_has_dropped_the_script),
		TEST(a_settled_range_is_split_into_its_parts),
		TEST(members_apart_are_settled_together),
		TEST(a_range_is_settled_once),
		TEST(nothing_is_settled_when_one_member_is_gone),
		TEST(nothing_is_settled_without_the_lock),
		TEST(parts_that_do_not_cover_the_members_change_nothing),
		TEST(a_block_out_of_generations_is_retired),
		TEST(settling_first_after_a_restart_makes_the_pool_wait),
		TEST(a_sound_redis_is_believed),
		TEST(a_policy_that_may_evict_is_refused),
		TEST(evicted_keys_are_refused_until_they_are_noted),
		TEST(a_space_record_that_is_gone_is_refused),
		TEST(a_cursor_that_is_gone_is_refused),
		TEST(links_left_in_a_block_are_counted),
		TEST(a_reused_block_makes_the_same_codes_with_other_link_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
