/* A Redis that has reached its maxmemory (`noeviction`): what ends, shrinks, is
 * renewed or moves goes on; growth is refused, and the error gives the reason.
 */
#include "tests/unit/linkstore/async_fixture.h"
#include "tests/unit/linkstore/edits.h"

#include "linkstore/block/markers.h"
#include "linkstore/block/renew.h"
#include "linkstore/link/visit_count.h"
#include "linkstore/quota.h"
#include "linkstore/space/manual_hold.h"
#include "linkstore/space/raise_cursor.h"
#include "linkstore/target.h"

static void make_redis_full(struct fixture *f)
{
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 1"));
}

static void must_be_refused(struct fixture *f, int status)
{
	assert_int_equal(status, -1);
	if (f->err.code != ERROR_REMOTE || !f->err.retriable ||
	    !strstr(f->err.text, "redis is full"))
		fail_msg("unexpected: %s", f->err.text);
}

static void a_link_is_blocked_and_deleted(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target in_block = store_link(f, &b, 0),
			   alone = store_alias(f, 7);

	make_redis_full(f);
	moderate_link(f, &in_block, true);
	moderate_link(f, &alone, true);
	moderate_link(f, &alone, false);
	delete_link(f, &in_block);
	delete_link(f, &alone);
}

static void a_link_is_changed_to_one_that_is_no_longer(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read;
	int64_t expires;

	make_redis_full(f);
	edit_link(f, &t, "https://example.com/", f->day);
	read = read_link(f, &t);
	must_be_refused(f, try_edit(f, &t, &read, "https://example.org/longer",
				    NULL, &expires));
	await_release(&read.link);
}

/* The record gets a few bytes longer: "never" is stored without a number. */
static void a_link_that_never_ended_is_made_to_end(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);

	edit_link(f, &t, "https://example.org/", f->never);
	assert_int_equal(read_link_pttl(f, &t), -1);
	make_redis_full(f);
	edit_link(f, &t, "https://example.org/", f->day);
	assert_true(read_link_pttl(f, &t) > 0);
}

/* The author, time and number of changes do not count as growth either. */
static void what_every_change_adds_is_no_growth(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read;
	Shortloop__Link after;
	int64_t expires;

	/* The number of the next version takes a byte more. */
	for (int version = 1; version < 127; version++)
		edit_link(f, &t, "https://example.org/", NULL);
	make_redis_full(f);
	read = read_link(f, &t);
	assert_int_equal(read.link->version, 127);
	after = *read.link;
	after.editor = text_of("one whose name is rather long");
	after.changed_ms = 1700000000000;
	link_edit_prepare(read.link, f->never, &after);
	must(f, await_edit(f->await, &t, read.link, &after, f->never, &expires,
			   &f->err));
	await_release(&read.link);
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void a_visit_is_counted_and_renews(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day);
	struct link_target t = store_link(f, &b, 0);
	struct link_answer read = read_link(f, &t);
	char words[96];
	int64_t left;
	enum visit_count result;
	uint64_t used;

	make_redis_full(f);
	snprintf(words, sizeof(words), "PEXPIRE l:{s5:%d}:%s 5000",
		 (int)t.block, t.code);
	redis_server_number(&f->server, words);
	must(f, await_renew(f->await, &t, read.link, &left, &f->err));
	assert_true(read_link_pttl(f, &t) > 5000);
	must(f, await_count_visit(f->await, &t, read.link->link_id, 9, &result,
				  &used, &f->err));
	assert_int_equal(result, VISIT_COUNTED);
	await_release(&read.link);
}

/* Reclaiming frees memory. */
static void blocks_are_reclaimed(void **state)
{
	struct fixture *f = *state;

	open_block(f, f->brief);
	sleep_ms(1000 + HOLD + 20);
	make_redis_full(f);
	reclaim_first(f, 1, 1);
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 1);
}

static void blocks_are_handed_back_held_and_released(void **state)
{
	struct fixture *f = *state;
	struct link_block a = open_block(f, f->day);
	struct grant g = make_grant(f, f->day, 5);
	struct block_range whole = {a.number, a.number, a.generation};
	const struct high_water high_water = {.cursor = 20, .moves = 900};
	struct hold_request request = {2, 3, "ann", "why"};
	struct hold_result result;
	bool closed;

	make_redis_full(f);
	must(f, await_confirm(f->await, f->space, &g.ranges[0], &f->err));
	must(f, await_close_own(f->await, &a, &f->err));
	must(f, await_hand_back(f->await, f->space, &whole, &whole, &f->err));
	must(f,
	     space_hold(f->server.redis, f->space, &request, &result, &f->err));
	must(f, space_release(f->server.redis, f->space, &request, &result,
			      &f->err));
	must(f, space_raise_cursor(f->server.redis, f->space, &high_water,
				   &f->err));
	must(f, marker_close_lost(f->server.redis, f->space, 5, 1, &closed,
				  &f->err));
}

struct taken {
	struct async_fixture *a;
	struct quota_answer answer;
};

static void on_taken(void *arg, const struct quota_answer *answer,
		     const struct error *err)
{
	struct taken *taken = arg;

	if (err)
		fail_msg("%s", err->text);
	taken->answer = *answer;
	loop_stop(taken->a->loop);
}

static const struct quota ten_a_month = {.links = {10, QUOTA_MONTH},
					 .bytes = {1000, QUOTA_MONTH}};

static struct quota_answer take_quota(struct async_fixture *a, int64_t links,
				      int64_t bytes)
{
	struct taken taken = {.a = a};

	must(a->f,
	     quota_take_async(a->redis, a->f->store, "acme", &ten_a_month,
			      links, bytes, on_taken, &taken, &a->f->err));
	run_loop(a);
	return taken.answer;
}

/* Storing the links of that quota was refused. */
static void what_an_account_took_is_given_back(void **state)
{
	struct async_fixture *a = *state;
	struct quota_answer taken = take_quota(a, 4, 100);

	make_redis_full(a->f);
	must(a->f, quota_give_async(a->redis, a->f->store, "acme", &taken, 3,
				    90, &a->f->err));
	/* Nothing of eleven is counted.  The first call may come before the
	 * giving back, since Redis does not have that script yet. */
	take_quota(a, 11, 0);
	assert_int_equal(take_quota(a, 11, 0).counted, 1);
	assert_int_equal(take_quota(a, 1, 1000).counted, 10);
}

static void nothing_new_is_stored(void **state)
{
	struct fixture *f = *state;
	struct link_block b = open_block(f, f->day), later;
	struct link_target t;
	struct standalone_result result;
	Shortloop__Link link = empty_link();
	struct grant g = make_grant(f, f->day, 1);
	int64_t expires;

	later = block_of(f, &g, f->day);
	make_redis_full(f);
	must_be_refused(f, try_grant(f, f->day, 1, 0, &g));
	must_be_refused(f, await_open(f->await, &later, &expires, &f->err));
	linkstore_code(f->space, b.number, 0, &t);
	must(f, link_prepare(&b, 0, &link, &f->err));
	must_be_refused(f, await_create(f->await, &b, t.code, &link, 0,
					&expires, &f->err));
	must(f, linkstore_alias(f->store, "sale-26", 7, &t, &f->err));
	must_be_refused(
		f, await_standalone(f->await, &t, &link, 0, &result, &f->err));
	/* No part of it is done. */
	assert_int_equal(redis_server_number(&f->server, "GET cursor:{s5}"), 2);
	freeReplyObject(redis_server_ask(&f->server, "CONFIG SET maxmemory 0"));
	must(f, await_open(f->await, &later, &expires, &f->err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(a_link_is_blocked_and_deleted),
		TEST_ALL(a_link_is_changed_to_one_that_is_no_longer),
		TEST_ALL(a_link_that_never_ended_is_made_to_end),
		TEST_ALL(what_every_change_adds_is_no_growth),
		TEST_ALL(a_visit_is_counted_and_renews),
		TEST_ALL(blocks_are_reclaimed),
		TEST_ALL(blocks_are_handed_back_held_and_released),
		ASYNC(what_an_account_took_is_given_back),
		TEST_ALL(nothing_new_is_stored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
