/* Blocks are taken out of circulation by hand, and put back. */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/block/renew.h"
#include "linkstore/space/manual_hold.h"

static long long read_score(struct fixture *f, const char *key,
			    const char *member)
{
	char words[128];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	return redis_server_number(&f->server, words);
}

static bool has_member(struct fixture *f, const char *key, const char *member)
{
	char words[128], text[512];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	return *redis_server_text(&f->server, words, text);
}

static struct hold_request make_hold_request(uint64_t first, uint64_t last)
{
	return (struct hold_request){first, last, "ann@here", "they ask why"};
}

static struct hold_result hold_blocks(struct fixture *f, uint64_t first,
				      uint64_t last)
{
	struct hold_request request = make_hold_request(first, last);
	struct hold_result result;

	must(f,
	     space_hold(f->server.redis, f->space, &request, &result, &f->err));
	return result;
}

static struct hold_result release_blocks(struct fixture *f, uint64_t first,
					 uint64_t last)
{
	struct hold_request request = make_hold_request(first, last);
	struct hold_result result;

	must(f, space_release(f->server.redis, f->space, &request, &result,
			      &f->err));
	return result;
}

/* The blocks 0 to 9 are ended, closed, pooled and out of quarantine. */
static void pool_ten(struct fixture *f)
{
	for (int i = 0; i < 10; i++)
		open_block(f, f->brief);
	redis_server_number(&f->server, "DEL issued:{s5}");
	redis_server_number(&f->server, "ZADD issued:{s5} 1 0-9:1");
	for (int i = 0; i < 10; i++) {
		char words[96];

		snprintf(words, sizeof(words), "DEL m:{s5:%d}", i);
		redis_server_number(&f->server, words);
		struct link_block b = {f->space, f->brief, (uint64_t)i, 1, "h"};

		must(f, await_close_own(f->await, &b, &f->err));
	}
	reclaim_first(f, 10, 1);
	sleep_ms(QUARANTINE + 20);
}

static void held_blocks_are_not_granted(void **state)
{
	struct fixture *f = *state;
	struct grant g;

	pool_ten(f);
	assert_int_equal(hold_blocks(f, 2, 7).moved, 6);
	assert_true(has_member(f, "out:{s5}", "2-7:2"));
	for (int i = 0; i < 3; i++) {
		g = make_grant(f, f->day, 2);
		for (size_t r = 0; r < g.count; r++)
			assert_true(g.ranges[r].last < 2 ||
				    g.ranges[r].first > 7);
	}
}

static void what_is_left_of_a_range_stays_as_it_was(void **state)
{
	struct fixture *f = *state;
	long long due;

	make_grant(f, f->day, 10);
	due = read_score(f, "issued:{s5}", "0-9:1");
	hold_blocks(f, 4, 5);
	assert_int_equal(read_score(f, "issued:{s5}", "0-3:1"), due);
	assert_int_equal(read_score(f, "issued:{s5}", "6-9:1"), due);
	assert_false(has_member(f, "issued:{s5}", "0-9:1"));
	assert_true(has_member(f, "out:{s5}", "4-5:1"));
}

static void blocks_of_several_ranges_are_held_at_once(void **state)
{
	struct fixture *f = *state;

	make_grant(f, f->day, 4);
	make_grant(f, f->day, 4);
	make_grant(f, f->never, 4);
	assert_int_equal(hold_blocks(f, 3, 9).moved, 7);
	assert_true(has_member(f, "out:{s5}", "3-3:1"));
	assert_true(has_member(f, "out:{s5}", "4-7:1"));
	assert_true(has_member(f, "out:{s5}", "8-9:1"));
}

static void holding_again_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct hold_result again;

	make_grant(f, f->day, 4);
	hold_blocks(f, 1, 2);
	again = hold_blocks(f, 0, 2);
	assert_int_equal(again.moved, 1);
	assert_int_equal(again.already, 2);
}

static void more_ranges_than_one_script_takes_are_held(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 450; i++)
		make_grant(f, f->day, 1);
	assert_int_equal(hold_blocks(f, 0, 449).moved, 450);
	assert_int_equal(redis_server_number(&f->server, "ZCARD out:{s5}"),
			 450);
	assert_int_equal(release_blocks(f, 0, 449).moved, 450);
	assert_int_equal(redis_server_number(&f->server, "ZCARD out:{s5}"), 0);
	assert_int_equal(redis_server_number(&f->server, "HLEN why:{s5}"), 0);
}

static void released_blocks_are_due_when_they_were(void **state)
{
	struct fixture *f = *state;
	long long due;

	make_grant(f, f->day, 4);
	due = read_score(f, "issued:{s5}", "0-3:1");
	hold_blocks(f, 0, 3);
	release_blocks(f, 0, 3);
	assert_int_equal(read_score(f, "issued:{s5}", "0-3:1"), due);
}

static void released_blocks_of_the_pool_are_due_now(void **state)
{
	struct fixture *f = *state;
	struct due_cursor cursor = {0};
	struct due_range due[4];
	size_t count;

	pool_ten(f);
	hold_blocks(f, 3, 4);
	release_blocks(f, 3, 4);
	must(f, reclaim_due(f->server.redis, f->space, &cursor, 4, due, &count,
			    &f->err));
	assert_int_equal(count, 1);
	assert_int_equal(due[0].range.first, 3);
	assert_int_equal(due[0].range.generation, 2);
	assert_false(has_member(f, "pool:{s5}", "3-4:2"));
}

static void lost_blocks_stay_lost(void **state)
{
	struct fixture *f = *state;

	make_grant(f, f->day, 2);
	redis_server_number(&f->server, "ZADD issued:{s5} 0 0-1:1");
	hold_blocks(f, 0, 1);
	release_blocks(f, 0, 1);
	assert_int_equal(read_score(f, "issued:{s5}", "0-1:1"), 0);
}

static void a_part_can_be_released(void **state)
{
	struct fixture *f = *state;
	struct out_range out[4];
	uint64_t total;
	size_t count;

	make_grant(f, f->day, 10);
	hold_blocks(f, 0, 9);
	assert_int_equal(release_blocks(f, 4, 5).moved, 2);
	must(f, space_read_out(f->server.redis, f->space, 4, out, &count,
			       &total, &f->err));
	assert_int_equal(count, 2);
	assert_int_equal(out[0].range.first, 0);
	assert_int_equal(out[0].range.last, 3);
	assert_int_equal(out[1].range.first, 6);
	assert_string_equal(out[1].who, "ann@here");
	assert_string_equal(out[1].reason, "they ask why");
	assert_true(has_member(f, "issued:{s5}", "4-5:1"));
}

static void what_is_not_out_cannot_be_released(void **state)
{
	struct fixture *f = *state;
	struct hold_request request = make_hold_request(0, 3);
	struct hold_result result;

	make_grant(f, f->day, 4);
	hold_blocks(f, 0, 2);
	must_fail(f,
		  space_release(f->server.redis, f->space, &request, &result,
				&f->err),
		  ERROR_NOTFOUND);
	assert_non_null(strstr(f->err.text, "block 3 is not out"));
	assert_true(has_member(f, "out:{s5}", "0-2:1"));
}

static void blocks_never_issued_cannot_be_held(void **state)
{
	struct fixture *f = *state;
	struct hold_request request = make_hold_request(3, 4);
	struct hold_result result;

	make_grant(f, f->day, 4);
	must_fail(f,
		  space_hold(f->server.redis, f->space, &request, &result,
			     &f->err),
		  ERROR_INPUT);
	assert_non_null(strstr(f->err.text, "block 4 was never issued"));
}

static void a_block_in_no_set_is_named(void **state)
{
	struct fixture *f = *state;
	struct hold_request request = make_hold_request(0, 3);
	struct hold_result result;

	make_grant(f, f->day, 1);
	make_grant(f, f->day, 3);
	redis_server_number(&f->server, "ZREM issued:{s5} 0-0:1");
	must_fail(f,
		  space_hold(f->server.redis, f->space, &request, &result,
			     &f->err),
		  ERROR_NOTFOUND);
	assert_non_null(strstr(f->err.text, "block 0 is neither"));
	assert_true(has_member(f, "issued:{s5}", "1-3:1"));
}

static void a_held_range_cannot_be_settled(void **state)
{
	struct fixture *f = *state;
	struct block_range member = {0, 9, 1};
	struct settle_part part = {SETTLE_POOL, {0, 9, 2}, 0};
	struct reclaim_lock lock;

	make_grant(f, f->day, 10);
	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	hold_blocks(f, 5, 5);
	must_fail(f,
		  reclaim_settle(f->server.redis, &lock, &member, 1, &part, 1,
				 &f->err),
		  ERROR_NOTFOUND);
	assert_false(has_member(f, "pool:{s5}", "0-9:2"));
}

static void a_held_block_cannot_be_handed_back(void **state)
{
	struct fixture *f = *state;
	struct block_range whole = {0, 3, 1}, part = {2, 3, 1};

	make_grant(f, f->day, 4);
	hold_blocks(f, 3, 3);
	must_fail(f,
		  await_hand_back(f->await, f->space, &whole, &part, &f->err),
		  ERROR_NOTFOUND);
}

static void links_of_held_blocks_are_found_and_renewed(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target target = store_link(f, &block, 3);
	struct link_answer answer;
	int64_t left;

	hold_blocks(f, block.number, block.number);
	must(f, await_lookup(f->await, &target, &answer, &f->err));
	assert_int_equal(answer.outcome, LINK_OUTCOME_REDIRECT);
	must(f, await_renew(f->await, &target, answer.link, &left, &f->err));
	assert_true(left > 0);
	await_release(&answer.link);
}

static void the_ledger_counts_what_is_out_and_overdue(void **state)
{
	struct fixture *f = *state;
	struct space_ledger ledger;
	char words[128];

	make_grant(f, f->day, 10);
	hold_blocks(f, 0, 3);
	snprintf(words, sizeof(words), "ZADD issued:{s5} %lld 4-9:1",
		 (long long)(clock_real_ms() - 5000));
	redis_server_number(&f->server, words);
	must(f, space_read_ledger_late(f->server.redis, f->space, 3000, &ledger,
				       &f->err));
	assert_int_equal(ledger.out, 4);
	assert_int_equal(ledger.due, 6);
	assert_int_equal(ledger.overdue, 6);
	must(f, space_read_ledger_late(f->server.redis, f->space, 9000, &ledger,
				       &f->err));
	assert_int_equal(ledger.overdue, 0);
}

static void every_step_is_written_down(void **state)
{
	struct fixture *f = *state;
	char text[512];

	make_grant(f, f->day, 4);
	hold_blocks(f, 1, 2);
	release_blocks(f, 1, 2);
	redis_server_text(&f->server, "LINDEX hand:{s5} 0", text);
	assert_non_null(strstr(text, " release 1-2 2 ann@here they ask why"));
	redis_server_text(&f->server, "LINDEX hand:{s5} 1", text);
	assert_non_null(strstr(text, " hold 1-2 2 ann@here"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(held_blocks_are_not_granted),
		TEST(what_is_left_of_a_range_stays_as_it_was),
		TEST(blocks_of_several_ranges_are_held_at_once),
		TEST(holding_again_changes_nothing),
		TEST(more_ranges_than_one_script_takes_are_held),
		TEST(released_blocks_are_due_when_they_were),
		TEST(released_blocks_of_the_pool_are_due_now),
		TEST(lost_blocks_stay_lost),
		TEST(a_part_can_be_released),
		TEST(what_is_not_out_cannot_be_released),
		TEST(blocks_never_issued_cannot_be_held),
		TEST(a_block_in_no_set_is_named),
		TEST(a_held_range_cannot_be_settled),
		TEST(a_held_block_cannot_be_handed_back),
		TEST(links_of_held_blocks_are_found_and_renewed),
		TEST(the_ledger_counts_what_is_out_and_overdue),
		TEST(every_step_is_written_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
