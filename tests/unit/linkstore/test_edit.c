/* Promise 7: an edit or a deletion never affects a new owner's link. */
#include "linkstore/block/renew.h"
#include "tests/unit/linkstore/edits.h"

/* --- editing -------------------------------------------------------------- */

static void check_edit(struct fixture *f, const struct link_target *t)
{
	struct link_answer answer;
	char text[64];

	edit_link(f, t, "https://new.example/", NULL);
	assert_string_equal(url_at(f, t, text), "https://new.example/");
	answer = read_link(f, t);
	assert_int_equal(answer.link->version, 2);
	assert_in_range(answer.ttl_left, CLOCK_DAY - 5000, CLOCK_DAY);
	await_release(&answer.link);
}

static void an_edit_replaces_the_version_that_was_read(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target in_block = store_link(f, &block, 0),
			   alone = store_alias(f, 7);

	check_edit(f, &in_block);
	check_edit(f, &alone);
}

static void check_conflict(struct fixture *f, const struct link_target *t)
{
	struct link_answer read = read_link(f, t);
	char text[64];
	int64_t expires;

	edit_link(f, t, "https://first.example/", NULL);
	must_fail(
		f,
		try_edit(f, t, &read, "https://late.example/", NULL, &expires),
		ERROR_CONFLICT);
	must_fail(f, try_delete(f, t, &read), ERROR_CONFLICT);
	assert_string_equal(url_at(f, t, text), "https://first.example/");
	await_release(&read.link);
}

static void of_two_edits_of_one_version_the_second_fails(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target in_block = store_link(f, &block, 0),
			   alone = store_alias(f, 7);

	check_conflict(f, &in_block);
	check_conflict(f, &alone);
}

static void the_very_same_edit_again_is_a_success(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read = read_link(f, &t);
	int64_t first, again;

	must(f, try_edit(f, &t, &read, "https://new.example/", NULL, &first));
	must(f, try_edit(f, &t, &read, "https://new.example/", NULL, &again));
	assert_in_range(again, first - 20, first + 20);
	await_release(&read.link);
}

static void only_the_next_version_is_an_edit(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read = read_link(f, &t);
	Shortloop__Link after = *read.link;
	int64_t expires;

	must_fail(f,
		  await_edit(f->await, &t, read.link, &after, NULL, &expires,
			     &f->err),
		  ERROR_INPUT);
	await_release(&read.link);
}

static void versions_are_told_apart_beyond_one_byte(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read;
	int64_t expires;

	for (int i = 0; i < 300; i++)
		edit_link(f, &t,
			  i % 2 ? "https://odd.example/" : "https://e.example/",
			  NULL);
	read = read_link(f, &t);
	assert_int_equal(read.link->version, 301);
	edit_link(f, &t, "https://last.example/", NULL);
	must_fail(f,
		  try_edit(f, &t, &read, "https://l.example/", NULL, &expires),
		  ERROR_CONFLICT);
	await_release(&read.link);
}

/* --- new owners ----------------------------------------------------------- */

/* The block of a 1s link ends and is issued again; returns the answer with the
 * former owner's link. */
static struct link_answer reissue_block(struct fixture *f,
					struct link_target *ret_t)
{
	struct link_block block = open_block(f, f->brief);
	struct link_answer former;

	*ret_t = store_link(f, &block, 0);
	former = read_link(f, ret_t);
	sleep_ms(1000 + HOLD + 50);
	reclaim_first(f, 1, 1);
	sleep_ms(QUARANTINE + 20);
	block = open_block(f, f->day);
	assert_int_equal(block.number, 0);
	assert_int_equal(block.generation, 2);
	assert_string_equal(store_link(f, &block, 0).code, ret_t->code);
	return former;
}

static void an_edit_never_meets_a_new_owner(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	struct link_answer former = reissue_block(f, &t);
	char text[64];
	int64_t expires;

	must_fail(f,
		  try_edit(f, &t, &former, "https://mine.example/", f->never,
			   &expires),
		  ERROR_NOTFOUND);
	assert_string_equal(url_at(f, &t, text), "https://example.org/");
	assert_in_range(read_link_pttl(f, &t), CLOCK_DAY - 5000, CLOCK_DAY);
	assert_true(read_marker(f, 0).end != DURATION_NEVER);
	await_release(&former.link);
}

static void a_deletion_never_meets_a_new_owner(void **state)
{
	struct fixture *f = *state;
	struct link_target t;
	struct link_answer former = reissue_block(f, &t), now;

	must_fail(f, try_delete(f, &t, &former), ERROR_NOTFOUND);
	now = read_link(f, &t);
	assert_int_equal(now.outcome, LINK_OUTCOME_REDIRECT);
	assert_int_equal(now.link->generation, 2);
	await_release(&now.link);
	await_release(&former.link);
}

static void a_new_owner_of_an_alias_is_not_met(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer former = read_link(f, &t), now;
	int64_t expires;

	redis_server_number(&f->server, "DEL l:{sale-26} q:{sale-26}");
	must_fail(f, try_delete(f, &t, &former), ERROR_NOTFOUND);
	store_alias(f, 8);
	must_fail(
		f,
		try_edit(f, &t, &former, "https://x.example/", NULL, &expires),
		ERROR_NOTFOUND);
	must_fail(f, try_delete(f, &t, &former), ERROR_NOTFOUND);
	now = read_link(f, &t);
	assert_int_equal(now.outcome, LINK_OUTCOME_REDIRECT);
	await_release(&now.link);
	await_release(&former.link);
}

static void nothing_is_edited_in_a_closed_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_answer read = read_link(f, &t);
	int64_t expires;

	set_marker(f, "1 c 1d 1 2 test");
	must_fail(f,
		  try_edit(f, &t, &read, "https://x.example/", NULL, &expires),
		  ERROR_NOTFOUND);
	await_release(&read.link);
}

/* --- life ----------------------------------------------------------------- */

static void a_longer_life_lifts_the_blocks_end(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target t = store_link(f, &block, 0);
	int64_t expires = edit_link(f, &t, "https://new.example/", f->day);
	struct link_answer answer = read_link(f, &t);

	assert_true(read_marker(f, 0).end >= expires);
	assert_in_range(read_link_pttl(f, &t), CLOCK_DAY - 5000, CLOCK_DAY);
	assert_string_equal(answer.link->ttl_class, "1d");
	assert_int_equal(answer.link->ttl_ms, CLOCK_DAY);
	await_release(&answer.link);
}

static void a_shorter_life_leaves_the_blocks_end(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	int64_t end = read_marker(f, 0).end;

	edit_link(f, &t, "https://new.example/", f->brief);
	assert_true(read_marker(f, 0).end == end);
	assert_in_range(read_link_pttl(f, &t), 1, 1000);
}

static void a_link_for_ever_keeps_its_block(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target t = store_link(f, &block, 0);

	assert_true(edit_link(f, &t, "https://e.example/", f->never) ==
		    DURATION_NEVER);
	assert_true(read_marker(f, 0).end == DURATION_NEVER);
	assert_int_equal(read_link_pttl(f, &t), -1);
	edit_link(f, &t, "https://e.example/", f->day);
	assert_in_range(read_link_pttl(f, &t), 1, CLOCK_DAY);
}

static void a_visit_renews_only_the_version_it_saw(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target t = store_link(f, &block, 0);
	struct link_answer read = read_link(f, &t);
	int64_t left;

	edit_link(f, &t, "https://new.example/", f->brief);
	must(f, await_renew(f->await, &t, read.link, &left, &f->err));
	assert_in_range(left, 1, 1000);
	assert_in_range(read_link_pttl(f, &t), 1, 1000);
	await_release(&read.link);
}

/* --- lives of blocked links ----------------------------------------------- */

static uint64_t life_kept(Shortloop__LinkState before_is,
			  Shortloop__LinkState after_is,
			  const struct link_class *ttl, int64_t left)
{
	Shortloop__Link before = empty_link(), after = empty_link();

	before.state = before_is;
	before.life_left_ms = 5;
	after.state = after_is;
	after.life_left_ms = 9;
	link_edit_keep_life(&before, ttl, left, &after);
	return after.life_left_ms;
}

static void what_is_left_of_a_life_is_kept_while_a_link_is_blocked(void **state)
{
	const Shortloop__LinkState live = SHORTLOOP__LINK_STATE__LINK_LIVE,
				   blocked =
					   SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	struct fixture *f = *state;

	assert_int_equal(life_kept(live, blocked, NULL, 77), 77);
	assert_int_equal(life_kept(live, blocked, NULL, 1), 1);
	assert_int_equal(life_kept(live, blocked, NULL, 0), 0);
	assert_int_equal(life_kept(live, blocked, NULL, DURATION_NEVER), 0);
	assert_int_equal(life_kept(blocked, blocked, NULL, 77), 5);
	/* The link gets a life of its own, or it has none to keep. */
	assert_int_equal(life_kept(blocked, blocked, f->day, 77), 0);
	assert_int_equal(life_kept(blocked, live, NULL, 77), 0);
	assert_int_equal(life_kept(live, live, NULL, 77), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_left_of_a_life_is_kept_while_a_link_is_blocked),
		TEST_ALL(an_edit_replaces_the_version_that_was_read),
		TEST_ALL(of_two_edits_of_one_version_the_second_fails),
		TEST_ALL(the_very_same_edit_again_is_a_success),
		TEST_ALL(only_the_next_version_is_an_edit),
		TEST_ALL(versions_are_told_apart_beyond_one_byte),
		TEST(an_edit_never_meets_a_new_owner),
		TEST(a_deletion_never_meets_a_new_owner),
		TEST_ALL(a_new_owner_of_an_alias_is_not_met),
		TEST(nothing_is_edited_in_a_closed_block),
		TEST(a_longer_life_lifts_the_blocks_end),
		TEST(a_shorter_life_leaves_the_blocks_end),
		TEST(a_link_for_ever_keeps_its_block),
		TEST(a_visit_renews_only_the_version_it_saw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
