/* Promise 8: due ranges, closing, and a whole round. */
#include "linkstore/block/block_scan.h"
#include "linkstore/block/link_count.h"
#include "linkstore/target.h"
#include "tests/unit/linkstore/fixture.h"

static size_t read_on(struct fixture *f, struct due_cursor *cursor,
		      struct due_range *ret, size_t max)
{
	size_t count;

	must(f, reclaim_due(f->server.redis, f->space, cursor, max, ret, &count,
			    &f->err));
	return count;
}

static size_t read_due_ranges(struct fixture *f, struct due_range *ret,
			      size_t max)
{
	return read_on(f, &(struct due_cursor){0}, ret, max);
}

static struct block_scan scan_block(struct fixture *f, uint64_t block)
{
	struct block_scan l;

	must(f, block_scan_read(f->server.redis, f->space, &block, 1,
				clock_real_ms(), &l, &f->err));
	return l;
}

static struct block_scan close_block(struct fixture *f, uint64_t block,
				     uint32_t generation)
{
	struct block_scan l;

	must(f, block_scan_close(f->server.redis, f->space, &block, 1,
				 generation, &l, &f->err));
	return l;
}

static void let_it_end(void)
{
	sleep_ms(1000 + HOLD + 20);
}

/* --- due ------------------------------------------------------------------ */

static void ranges_come_due_when_hold_and_ttl_are_over(void **state)
{
	struct fixture *f = *state;
	struct due_range ranges[4];

	make_grant(f, f->day, 2);
	make_grant(f, f->brief, 3);
	assert_int_equal(read_due_ranges(f, ranges, 4), 0);
	let_it_end();
	assert_int_equal(read_due_ranges(f, ranges, 4), 1);
	assert_int_equal(ranges[0].range.first, 2);
	assert_int_equal(ranges[0].range.last, 4);
}

static void add_issued_range(struct fixture *f, const char *score_and_member)
{
	char words[128];

	snprintf(words, sizeof(words), "ZADD issued:{s5} %s", score_and_member);
	redis_server_number(&f->server, words);
}

static void due_ranges_are_read_in_pages(void **state)
{
	struct fixture *f = *state;
	struct due_cursor cursor = {0};
	struct due_range ranges[2];

	add_issued_range(f, "1000 0-0:1");
	add_issued_range(f, "1001 1-1:1");
	add_issued_range(f, "1001 2-2:1");
	assert_int_equal(read_on(f, &cursor, ranges, 2), 2);
	assert_int_equal(cursor.total, 3);
	assert_int_equal(read_on(f, &cursor, ranges, 2), 1);
	assert_int_equal(ranges[0].range.first, 2);
	assert_int_equal(read_on(f, &cursor, ranges, 2), 0);
}

static void reading_goes_on_when_what_was_read_is_gone(void **state)
{
	struct fixture *f = *state;
	struct due_cursor cursor = {0};
	struct due_range ranges[2];

	add_issued_range(f, "1000 0-0:1");
	add_issued_range(f, "1001 1-1:1");
	add_issued_range(f, "1002 2-2:1");
	read_on(f, &cursor, ranges, 2);
	redis_server_number(&f->server, "ZREM issued:{s5} 0-0:1");
	assert_int_equal(read_on(f, &cursor, ranges, 2), 1);
	assert_int_equal(ranges[0].range.first, 2);
}

static void a_span_holds_what_was_due_in_it(void **state)
{
	struct due_cursor cursor = {.from = 2000, .until = 2999};
	struct fixture *f = *state;
	struct due_range ranges[4];

	add_issued_range(f, "1999 0-0:1");
	add_issued_range(f, "2000 1-1:1");
	add_issued_range(f, "2999 2-2:1");
	add_issued_range(f, "3000 3-3:1");
	add_issued_range(f, "0 4-4:1");
	assert_int_equal(read_on(f, &cursor, ranges, 4), 2);
	assert_int_equal(ranges[0].range.first, 1);
	assert_int_equal(ranges[1].range.first, 2);
	assert_int_equal(cursor.total, 2);
}

static void what_is_to_come_is_not_due_however_late_the_span_ends(void **state)
{
	struct due_cursor cursor = {.until = DURATION_NEVER - 1};
	struct fixture *f = *state;
	struct due_range ranges[4];

	add_issued_range(f, "1000 0-0:1");
	add_issued_range(f, "9999999999999 1-1:1");
	add_issued_range(f, "+inf 2-2:1");
	assert_int_equal(read_on(f, &cursor, ranges, 4), 1);
}

static void a_member_that_is_no_range_is_refused(void **state)
{
	struct due_cursor cursor = {0};
	struct fixture *f = *state;
	struct due_range ranges[4];
	size_t count;

	add_issued_range(f, "1000 7-5:1");
	must_fail(f,
		  reclaim_due(f->server.redis, f->space, &cursor, 4, ranges,
			      &count, &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "'7-5:1'"));
}

/* --- check and close ------------------------------------------------------ */

static void a_look_tells_live_ended_and_lost(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->day);
	open_block(f, f->brief);
	let_it_end();
	assert_int_equal(scan_block(f, 0).state, BLOCK_LIVE);
	assert_true(scan_block(f, 0).end > clock_real_ms() + CLOCK_HOUR);
	assert_int_equal(scan_block(f, 1).state, BLOCK_ENDED);
	assert_int_equal(scan_block(f, 2).state, BLOCK_LOST);
}

static void a_look_tells_what_the_marker_says(void **state)
{
	const long long now = clock_real_ms();
	const uint64_t block = 0;
	struct fixture *f = *state;
	struct block_scan l;
	char text[64];

	snprintf(text, sizeof(text), "3 o 1d 700 %lld test", now);
	set_marker(f, text);
	must(f, block_scan_read(f->server.redis, f->space, &block, 1, now, &l,
				&f->err));
	assert_int_equal(l.state, BLOCK_LIVE);
	assert_int_equal(l.generation, 3);
	assert_int_equal(l.opened, 700);
	assert_int_equal(l.end, now);
	assert_false(l.has_blocked);
	must(f, block_scan_read(f->server.redis, f->space, &block, 1, now + 1,
				&l, &f->err));
	assert_int_equal(l.state, BLOCK_ENDED);
	/* With a blocked link the block is live, and is checked again. */
	snprintf(text, sizeof(text), "3 o1 1d 700 %lld test", now);
	set_marker(f, text);
	must(f, block_scan_read(f->server.redis, f->space, &block, 1, now + 1,
				&l, &f->err));
	assert_int_equal(l.state, BLOCK_LIVE);
	assert_true(l.has_blocked);
	assert_int_equal(l.end, now + 1 + QUARANTINE);
	must(f, block_scan_read(f->server.redis, f->space, &block, 1, now, &l,
				&f->err));
	assert_int_equal(l.end, now);
}

static void a_block_with_a_blocked_link_is_not_closed(void **state)
{
	struct fixture *f = *state;
	struct block_scan l;

	set_marker(f, "1 o1 1d 700 1000 test");
	l = close_block(f, 0, 1);
	assert_int_equal(l.state, BLOCK_LIVE);
	assert_in_range(l.end, clock_real_ms() - 60000 + QUARANTINE,
			clock_real_ms() + QUARANTINE);
	assert_true(read_marker(f, 0).open);
}

static void a_marker_that_is_damaged_is_not_looked_past(void **state)
{
	const uint64_t blocks[] = {1, 0};
	struct fixture *f = *state;
	struct block_scan l[2];

	set_marker(f, "what?");
	must_fail(f,
		  block_scan_read(f->server.redis, f->space, blocks, 2, 0, l,
				  &f->err),
		  ERROR_UNSAFE);
	assert_non_null(strstr(f->err.text, "block 0"));
}

static void many_markers_are_looked_at_in_order(void **state)
{
	struct fixture *f = *state;
	struct block_scan *looks = calloc(3000, sizeof(*looks));
	uint64_t *blocks = calloc(3000, sizeof(*blocks));

	for (uint64_t i = 0; i < 3000; i++)
		blocks[i] = 2999 - i;
	open_block(f, f->day);
	must(f, block_scan_read(f->server.redis, f->space, blocks, 3000, 0,
				looks, &f->err));
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
	assert_int_equal(scan_block(f, 0).state, BLOCK_LIVE);
}

static void a_closed_block_takes_no_more_links(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	Shortloop__Link link = empty_link();
	int64_t expires;

	let_it_end();
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
	must(f, link_prepare(&block, 0, &link, &f->err));
	must_fail(f,
		  await_create(f->await, &block, "abcde", &link, 0, &expires,
			       &f->err),
		  ERROR_NOT_OWNER);
}

/* Redis deletes a key after the millisecond in which it expires. */
static void a_block_is_live_through_the_millisecond_it_ends_in(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	char words[160], text[64];
	long long end;
	uint64_t links;

	linkstore_code(f->space, 0, 0, &t);
	for (int i = 0; i < 150; i++) {
		end = clock_real_ms() + 3;
		snprintf(text, sizeof(text), "1 o 1s 1000 %lld test", end);
		set_marker(f, text);
		snprintf(words, sizeof(words), "SET l:{s5:0}:%s x PXAT %lld",
			 t.code, end);
		freeReplyObject(redis_server_ask(&f->server, words));
		while (close_block(f, 0, 1).state == BLOCK_LIVE)
			;
		must(f, link_count_read(f->server.redis, f->space, NULL, 0,
					&links, &f->err));
		assert_int_equal(links, 0);
	}
}

static void a_holder_that_comes_first_keeps_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);

	let_it_end();
	assert_int_equal(scan_block(f, 0).state, BLOCK_ENDED);
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
	const uint64_t block = 0;
	struct block_scan closed;

	open_block(f, f->brief);
	let_it_end();
	freeReplyObject(redis_server_ask(&f->server, "SCRIPT FLUSH"));
	must_fail(f,
		  block_scan_close(f->server.redis, f->space, &block, 1, 1,
				   &closed, &f->err),
		  ERROR_REMOTE);
	assert_true(f->err.retriable);
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
}

/* A master that became a replica is soon a master again, or another one is. */
static void what_passes_is_to_be_tried_again(void **state)
{
	struct fixture *f = *state;
	redisContext *other;
	const uint64_t block = 0;
	struct block_scan closed;

	open_block(f, f->brief);
	let_it_end();
	freeReplyObject(redis_server_ask(&f->server, "REPLICAOF 127.0.0.1 1"));
	must_fail(f,
		  block_scan_close(f->server.redis, f->space, &block, 1, 1,
				   &closed, &f->err),
		  ERROR_REMOTE);
	assert_true(f->err.retriable);
	/* This connection is separate: the store's connects to masters only. */
	other = redisConnectUnix(f->server.address + strlen("unix:"));
	freeReplyObject(redisCommand(other, "REPLICAOF NO ONE"));
	redisFree(other);
	assert_int_equal(close_block(f, 0, 1).state, BLOCK_ENDED);
}

static void a_marker_that_is_damaged_now_is_not_closed(void **state)
{
	struct fixture *f = *state;
	const uint64_t block = 0;
	struct block_scan closed;

	open_block(f, f->brief);
	freeReplyObject(redis_server_ask(&f->server, "SET m:{s5:0} what?"));
	must_fail(f,
		  block_scan_close(f->server.redis, f->space, &block, 1, 1,
				   &closed, &f->err),
		  ERROR_UNSAFE);
}

static void links_left_in_a_block_are_counted(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	uint64_t links;

	store_link(f, &block, 0);
	store_link(f, &block, 999);
	must(f, link_count_read(f->server.redis, f->space, NULL, 0, &links,
				&f->err));
	assert_int_equal(links, 2);
	must(f, link_count_read(f->server.redis, f->space, NULL, 1, &links,
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
	must(f, await_lookup(f->await, &again, &answer, &f->err));
	assert_int_equal(answer.link->generation, 2);
	assert_int_equal(answer.link->link_id >> 42 & 32767, 2);
	await_release(&answer.link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ranges_come_due_when_hold_and_ttl_are_over),
		TEST(due_ranges_are_read_in_pages),
		TEST(reading_goes_on_when_what_was_read_is_gone),
		TEST(a_span_holds_what_was_due_in_it),
		TEST(what_is_to_come_is_not_due_however_late_the_span_ends),
		TEST(a_member_that_is_no_range_is_refused),
		TEST(a_look_tells_live_ended_and_lost),
		TEST(a_look_tells_what_the_marker_says),
		TEST(a_block_with_a_blocked_link_is_not_closed),
		TEST(a_marker_that_is_damaged_is_not_looked_past),
		TEST(many_markers_are_looked_at_in_order),
		TEST(a_live_block_is_not_closed_whatever_was_read),
		TEST(a_closed_block_takes_no_more_links),
		TEST(a_block_is_live_through_the_millisecond_it_ends_in),
		TEST(a_holder_that_comes_first_keeps_its_block),
		TEST(closing_again_finds_the_same),
		TEST(a_reused_block_never_opened_closes_under_its_generation),
		TEST(closing_works_after_redis_has_dropped_the_script),
		TEST(what_passes_is_to_be_tried_again),
		TEST(a_marker_that_is_damaged_now_is_not_closed),
		TEST(links_left_in_a_block_are_counted),
		TEST(a_reused_block_makes_the_same_codes_with_other_link_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
