/* Promise 7: the state after a deletion. */
#include "linkstore/block/link_count.h"
#include "tests/unit/linkstore/edits.h"

static void a_tombstone_stays_until_its_block_ends(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	int64_t end;

	store_link(f, &block, 1);
	delete_link(f, &t);
	end = read_marker(f, 0).end;
	assert_in_range(clock_real_ms() + read_link_pttl(f, &t), end - 50,
			end + 50);
}

static void a_tombstone_among_links_for_ever_stays(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	struct link_target t = store_link(f, &block, 0);

	delete_link(f, &t);
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void purge_link(struct fixture *f, const struct link_target *t)
{
	struct link_answer read = read_link(f, t);
	Shortloop__Link after;
	int64_t expires;

	link_edit_purge(read.link, &after);
	after.editor = text_of("me");
	after.changed_ms = 1700000000000;
	must(f, await_edit(f->await, t, read.link, &after, NULL, &expires,
			   &f->err));
	await_release(&read.link);
}

static int try_restore(struct fixture *f, const struct link_target *t,
		       int64_t *ret_expires)
{
	struct link_answer read = read_link(f, t);
	Shortloop__Link after;
	int status;

	assert_true(link_edit_may_restore(read.link));
	link_edit_restore(read.link, &after);
	status = await_edit(f->await, t, read.link, &after, NULL, ret_expires,
			    &f->err);
	await_release(&read.link);
	return status;
}

static int64_t restore_link(struct fixture *f, const struct link_target *t)
{
	int64_t expires = 0;

	must(f, try_restore(f, t, &expires));
	return expires;
}

static void
a_purged_link_is_gone_and_says_no_more_than_whose_it_was(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer answer;

	purge_link(f, &t);
	answer = read_link(f, &t);
	assert_int_equal(answer.outcome, LINK_OUTCOME_GONE);
	assert_false(link_edit_may_restore(answer.link));
	assert_string_equal(answer.link->url, "");
	assert_string_equal(answer.link->owner, "shop");
	assert_string_equal(answer.link->creator, "key");
	assert_int_equal(answer.link->source,
			 SHORTLOOP__LINK_SOURCE__SOURCE_BATCH);
	assert_string_equal(answer.link->editor, "me");
	assert_true(answer.link->changed_ms == 1700000000000);
	assert_true(answer.link->link_id == link_id_blockless(7));
	assert_int_equal(answer.link->version, 2);
	await_release(&answer.link);
}

static void a_deleted_alias_is_free_after_quarantine(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	Shortloop__Link other = empty_link();
	struct standalone_result result;

	delete_link(f, &t);
	standalone_prepare(f->day, link_id_blockless(8), &other);
	must(f, await_standalone(f->await, &t, &other, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_TAKEN);
	assert_int_equal(result.existing->state,
			 SHORTLOOP__LINK_STATE__LINK_DELETED);
	await_release(&result.existing);
	sleep_ms(QUARANTINE + 20);
	must(f, await_standalone(f->await, &t, &other, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
}

static void a_block_of_tombstones_has_no_links_once_it_has_ended(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target t = store_link(f, &block, 0);
	uint64_t links;

	delete_link(f, &t);
	sleep_ms(1000 + HOLD + 50);
	reclaim_first(f, 1, 1);
	must(f, link_count_read(f->server.redis, f->space, NULL, 0, &links,
				&f->err));
	assert_int_equal(links, 0);
}

static void a_tombstone_that_is_purged_keeps_its_end(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	int64_t left;

	f->config.quarantine = CLOCK_HOUR;
	delete_link(f, &t);
	left = read_link_pttl(f, &t);
	purge_link(f, &t);
	assert_in_range(read_link_pttl(f, &t), left - 5000, left);
}

/* --- restore -------------------------------------------------------------- */

static void check_restored(struct fixture *f, const struct link_target *t)
{
	struct link_answer before = read_link(f, t), after;
	int64_t expires;

	delete_link(f, t);
	expires = restore_link(f, t);
	after = read_link(f, t);
	assert_int_equal(after.outcome, LINK_OUTCOME_REDIRECT);
	assert_true(after.link->link_id == before.link->link_id);
	assert_int_equal(after.link->version, before.link->version + 2);
	assert_string_equal(after.link->url, before.link->url);
	assert_int_equal(after.link->life_left_ms, 0);
	assert_int_equal(after.link->former_state,
			 SHORTLOOP__LINK_STATE__LINK_LIVE);
	/* The life that it had left, from now on. */
	assert_in_range(expires, clock_real_ms() + before.ttl_left - 5000,
			clock_real_ms() + before.ttl_left);
	await_release(&before.link);
	await_release(&after.link);
}

static void a_restored_link_is_what_it_was(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target in_block = store_link(f, &block, 0),
			   alone = store_alias(f, 7);

	edit_link(f, &in_block, "https://a.example/", NULL);
	check_restored(f, &in_block);
	check_restored(f, &alone);
	/* The trace keeps the alias from others for its quarantine again. */
	assert_int_equal(redis_server_number(&f->server, "EXISTS q:{sale-26}"),
			 1);
}

static void a_restored_link_is_in_its_block_as_long_as_it_lives(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target t = store_link(f, &block, 0);
	int64_t expires;

	edit_link(f, &t, "https://a.example/", f->day);
	delete_link(f, &t);
	sleep_ms(200);
	expires = restore_link(f, &t);
	assert_true(read_marker(f, 0).end >= expires);
}

static void a_link_that_never_ends_comes_back_for_ever(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->never);
	struct link_target t = store_link(f, &block, 0);

	delete_link(f, &t);
	assert_true(restore_link(f, &t) == DURATION_NEVER);
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void a_blocked_link_comes_back_blocked(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_answer read;
	int64_t expires;

	must(f, try_moderate(f, &t, true, NULL, &expires));
	assert_int_equal(read_marker(f, 0).blocked, 1);
	delete_link(f, &t);
	assert_int_equal(read_marker(f, 0).blocked, 0);
	assert_true(restore_link(f, &t) == DURATION_NEVER);
	assert_int_equal(read_marker(f, 0).blocked, 1);
	read = read_link(f, &t);
	assert_int_equal(read.outcome, LINK_OUTCOME_BLOCKED);
	await_release(&read.link);
	/* The life that it had when it was blocked. */
	must(f, try_moderate(f, &t, false, NULL, &expires));
	assert_in_range(expires, clock_real_ms() + CLOCK_DAY - 60000,
			clock_real_ms() + CLOCK_DAY);
}

/* A caller that does not know that the link was deleted sends no life. */
static void no_link_comes_back_with_the_end_of_its_tombstone(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read;
	Shortloop__Link before, after;
	int64_t expires;

	delete_link(f, &t);
	read = read_link(f, &t);
	before = *read.link;
	before.state = SHORTLOOP__LINK_STATE__LINK_LIVE;
	link_edit_restore(read.link, &after);
	assert_int_equal(await_edit(f->await, &t, &before, &after, NULL,
				    &expires, &f->err),
			 -1);
	await_release(&read.link);
	read = read_link(f, &t);
	assert_int_equal(read.outcome, LINK_OUTCOME_GONE);
	await_release(&read.link);
}

static void a_code_that_was_issued_again_has_no_link_to_restore(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	Shortloop__Link other = empty_link(), after;
	struct standalone_result result;
	struct link_answer tombstone;
	int64_t expires;

	delete_link(f, &t);
	tombstone = read_link(f, &t);
	sleep_ms(QUARANTINE + 20);
	standalone_prepare(f->day, link_id_blockless(8), &other);
	must(f, await_standalone(f->await, &t, &other, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_CREATED);
	link_edit_restore(tombstone.link, &after);
	assert_int_equal(await_edit(f->await, &t, tombstone.link, &after, NULL,
				    &expires, &f->err),
			 -1);
	assert_int_equal(f->err.code, ERROR_NOTFOUND);
	await_release(&tombstone.link);
}

static void a_paused_link_ends_as_a_live_one(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_answer read = read_link(f, &t);
	Shortloop__Link after = *read.link;
	int64_t expires;

	link_edit_prepare(read.link, NULL, &after);
	after.state = SHORTLOOP__LINK_STATE__LINK_PAUSED;
	link_edit_keep_life(read.link, NULL, read.ttl_left, &after);
	must(f, await_edit(f->await, &t, read.link, &after, NULL, &expires,
			   &f->err));
	await_release(&read.link);
	assert_in_range(read_link_pttl(f, &t), CLOCK_DAY - 60000, CLOCK_DAY);
	read = read_link(f, &t);
	assert_int_equal(read.outcome, LINK_OUTCOME_PAUSED);
	assert_false(read.renew);
	await_release(&read.link);
	/* The link comes back as it was deleted: paused. */
	delete_link(f, &t);
	restore_link(f, &t);
	read = read_link(f, &t);
	assert_int_equal(read.outcome, LINK_OUTCOME_PAUSED);
	await_release(&read.link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_tombstone_stays_until_its_block_ends),
		TEST(a_tombstone_among_links_for_ever_stays),
		TEST_ALL(a_deleted_alias_is_free_after_quarantine),
		TEST(a_block_of_tombstones_has_no_links_once_it_has_ended),
		TEST_ALL(
			a_purged_link_is_gone_and_says_no_more_than_whose_it_was),
		TEST_ALL(a_tombstone_that_is_purged_keeps_its_end),
		TEST_ALL(a_restored_link_is_what_it_was),
		TEST(a_restored_link_is_in_its_block_as_long_as_it_lives),
		TEST(a_link_that_never_ends_comes_back_for_ever),
		TEST(a_blocked_link_comes_back_blocked),
		TEST_ALL(no_link_comes_back_with_the_end_of_its_tombstone),
		TEST_ALL(a_code_that_was_issued_again_has_no_link_to_restore),
		TEST_ALL(a_paused_link_ends_as_a_live_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
