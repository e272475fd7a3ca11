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

static void
a_deleted_link_is_gone_and_says_no_more_than_whose_it_was(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer answer;

	delete_link(f, &t);
	answer = read_link(f, &t);
	assert_int_equal(answer.outcome, LINK_OUTCOME_GONE);
	assert_string_equal(answer.link->url, "");
	assert_string_equal(answer.link->owner, "shop");
	assert_string_equal(answer.link->creator, "key");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_tombstone_stays_until_its_block_ends),
		TEST(a_tombstone_among_links_for_ever_stays),
		TEST_ALL(a_deleted_alias_is_free_after_quarantine),
		TEST(a_block_of_tombstones_has_no_links_once_it_has_ended),
		TEST_ALL(
			a_deleted_link_is_gone_and_says_no_more_than_whose_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
