/* A moderator's decision outlives the link's own end, and the link's block of
 * codes waits for the decision. */
#include "linkstore/block/renew.h"
#include "linkstore/link/visit_count.h"
#include "tests/unit/linkstore/edits.h"

static enum link_outcome read_outcome(struct fixture *f,
				      const struct link_target *t)
{
	struct link_answer answer = read_link(f, t);

	await_release(&answer.link);
	return answer.outcome;
}

static enum block_state close_first(struct fixture *f, int64_t *ret_end)
{
	const uint64_t block = 0;
	struct block_scan look;

	must(f, block_scan_close(f->server.redis, f->space, &block, 1, 1, &look,
				 &f->err));
	*ret_end = look.end;
	return look.state;
}

static struct block_scan look_at_first(struct fixture *f)
{
	const uint64_t block = 0;
	struct block_scan look;

	must(f, block_scan_read(f->server.redis, f->space, &block, 1,
				clock_real_ms(), &look, &f->err));
	return look;
}

/* Waits until a link of 1s and its block would have ended. */
static void let_it_end(void)
{
	sleep_ms(1000 + HOLD + 50);
}

static struct link_target store_brief(struct fixture *f, uint32_t offset)
{
	struct link_block block = open_block(f, f->brief);

	return store_link(f, &block, offset);
}

/* --- the link ------------------------------------------------------------- */

static void check_end(struct fixture *f, const struct link_target *t)
{
	edit_link(f, t, "https://bad.example/", f->brief);
	assert_true(moderate_link(f, t, true) == DURATION_NEVER);
	assert_int_equal(read_link_pttl(f, t), -1);
	/* A change of the link gives it no end, and a new life does not either.
	 */
	edit_link(f, t, "https://bad.example/2", NULL);
	edit_link(f, t, "https://bad.example/2", f->brief);
	assert_int_equal(read_link_pttl(f, t), -1);
	let_it_end();
	assert_int_equal(read_outcome(f, t), LINK_OUTCOME_BLOCKED);
}

static void a_blocked_link_does_not_end(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target in_block = store_link(f, &block, 0),
			   alone = store_alias(f, 7);

	check_end(f, &in_block);
	check_end(f, &alone);
}

static void nobody_else_gets_the_alias_of_a_blocked_link(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	Shortloop__Link other = empty_link();
	struct standalone_result result;

	edit_link(f, &t, "https://bad.example/", f->brief);
	moderate_link(f, &t, true);
	assert_int_equal(redis_server_number(&f->server, "EXISTS q:{sale-26}"),
			 0);
	sleep_ms(1000 + QUARANTINE + 50);
	standalone_prepare(f->day, link_id_blockless(8), &other);
	must(f, await_standalone(f->await, &t, &other, 0, &result, &f->err));
	assert_int_equal(result.outcome, STANDALONE_TAKEN);
	assert_int_equal(result.existing->state,
			 SHORTLOOP__LINK_STATE__LINK_BLOCKED);
	await_release(&result.existing);
}

static void check_life(struct fixture *f, const struct link_target *t)
{
	int64_t expires, now;

	moderate_link(f, t, true);
	sleep_ms(300);
	expires = moderate_link(f, t, false);
	now = clock_real_ms();
	assert_in_range(expires, now + CLOCK_DAY - 5000, now + CLOCK_DAY);
	/* The link gets its full life again, regardless of the time it was
	 * blocked. */
	assert_int_equal(read_outcome(f, t), LINK_OUTCOME_REDIRECT);
	edit_link(f, t, "https://brief.example/", f->brief);
	moderate_link(f, t, true);
	let_it_end();
	moderate_link(f, t, false);
	assert_in_range(read_link_pttl(f, t), 500, 1000);
	/* The link gets the new life if the call names one. */
	moderate_link(f, t, true);
	must(f, try_moderate(f, t, false, f->day, &expires));
	assert_in_range(read_link_pttl(f, t), CLOCK_DAY - 5000, CLOCK_DAY);
	must(f, try_moderate(f, t, true, f->brief, &expires));
	assert_int_equal(read_link_pttl(f, t), -1);
	moderate_link(f, t, false);
	assert_in_range(read_link_pttl(f, t), 500, 1000);
}

static void a_link_that_is_let_go_has_the_life_it_had(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->day);
	struct link_target in_block = store_link(f, &block, 0),
			   alone = store_alias(f, 7);

	check_life(f, &in_block);
	check_life(f, &alone);
}

static void a_link_for_ever_stays_for_ever(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);

	edit_link(f, &t, "https://example.org/", f->never);
	moderate_link(f, &t, true);
	assert_true(moderate_link(f, &t, false) == DURATION_NEVER);
	assert_int_equal(read_link_pttl(f, &t), -1);
}

static void an_alias_that_was_let_go_leaves_a_trace_again(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);

	moderate_link(f, &t, true);
	moderate_link(f, &t, false);
	assert_true(redis_server_number(&f->server, "PTTL q:{sale-26}") >
		    CLOCK_DAY - 5000);
}

static void a_visit_does_not_give_a_blocked_link_an_end(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read = read_link(f, &t);
	int64_t left;

	moderate_link(f, &t, true);
	must(f, await_renew(f->await, &t, read.link, &left, &f->err));
	assert_int_equal(read_link_pttl(f, &t), -1);
	await_release(&read.link);
}

static void used_up_stays_used_up(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_alias(f, 7);
	struct link_answer read = read_link(f, &t);
	enum visit_count result;
	uint64_t used;

	must(f, await_count_visit(f->await, &t, read.link->link_id, 1, &result,
				  &used, &f->err));
	moderate_link(f, &t, true);
	moderate_link(f, &t, false);
	must(f, await_count_visit(f->await, &t, read.link->link_id, 1, &result,
				  &used, &f->err));
	assert_int_equal(result, VISIT_NONE_LEFT);
	await_release(&read.link);
}

static void the_same_block_twice_counts_once(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_brief(f, 0);
	struct link_answer read = read_link(f, &t);
	Shortloop__Link after = *read.link;
	int64_t expires;

	link_edit_prepare(read.link, NULL, &after);
	after.state = SHORTLOOP__LINK_STATE__LINK_BLOCKED;
	for (int i = 0; i < 3; i++)
		must(f, await_edit(f->await, &t, read.link, &after, NULL,
				   &expires, &f->err));
	assert_int_equal(read_marker(f, 0).blocked, 1);
	moderate_link(f, &t, true);
	assert_int_equal(read_marker(f, 0).blocked, 1);
	moderate_link(f, &t, false);
	assert_int_equal(read_marker(f, 0).blocked, 0);
	await_release(&read.link);
}

/* --- its block of codes --------------------------------------------------- */

static void a_block_waits_for_its_blocked_links(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target a = store_link(f, &block, 0),
			   b = store_link(f, &block, 1);
	int64_t end, now;

	moderate_link(f, &a, true);
	moderate_link(f, &b, true);
	assert_int_equal(read_marker(f, 0).blocked, 2);
	let_it_end();
	assert_int_equal(look_at_first(f).state, BLOCK_LIVE);
	assert_int_equal(close_first(f, &end), BLOCK_LIVE);
	/* The next check of the block is neither never nor at once. */
	now = clock_real_ms();
	assert_in_range(end, now - 5000, now + QUARANTINE);
	assert_in_range(look_at_first(f).end, now, now + 5000);
	moderate_link(f, &a, false);
	assert_int_equal(close_first(f, &end), BLOCK_LIVE);
	delete_link(f, &b);
	assert_int_equal(read_marker(f, 0).blocked, 0);
	let_it_end();
	assert_int_equal(close_first(f, &end), BLOCK_ENDED);
	assert_int_equal(read_link_pttl(f, &a), -2);
	assert_int_equal(read_link_pttl(f, &b), -2);
}

static void what_is_stored_and_renewed_beside_it_changes_nothing(void **state)
{
	struct fixture *f = *state;
	struct link_block block = open_block(f, f->brief);
	struct link_target a = store_link(f, &block, 0);
	struct link_answer read;
	int64_t left;

	moderate_link(f, &a, true);
	a = store_link(f, &block, 1);
	read = read_link(f, &a);
	edit_link(f, &a, "https://example.org/2", f->day);
	must(f, await_renew(f->await, &a, read.link, &left, &f->err));
	delete_link(f, &a);
	assert_int_equal(read_marker(f, 0).blocked, 1);
	await_release(&read.link);
}

/* A code comes to another link only after the blocked link was let go and
 * ended, and under the next generation. */
static void a_code_is_not_issued_again_while_its_link_is_blocked(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_brief(f, 0);
	struct link_block next;

	moderate_link(f, &t, true);
	let_it_end();
	assert_int_equal(read_outcome(f, &t), LINK_OUTCOME_BLOCKED);
	moderate_link(f, &t, false);
	let_it_end();
	reclaim_first(f, 1, 1);
	sleep_ms(QUARANTINE + 20);
	next = open_block(f, f->brief);
	assert_int_equal(next.number, 0);
	assert_int_equal(next.generation, 2);
	assert_string_equal(store_link(f, &next, 0).code, t.code);
	assert_int_equal(read_marker(f, 0).blocked, 0);
}

static void a_block_of_a_lost_marker_leaves_the_link_blocked(void **state)
{
	struct fixture *f = *state;
	struct link_target t = store_brief(f, 0);
	int64_t end;

	redis_server_number(&f->server, "DEL m:{s5:0}");
	moderate_link(f, &t, true);
	let_it_end();
	assert_int_equal(read_outcome(f, &t), LINK_OUTCOME_BLOCKED);
	/* The block is lost, not ended: a repair checks its links. */
	assert_int_equal(close_first(f, &end), BLOCK_LOST);
	delete_link(f, &t);
	assert_in_range(read_link_pttl(f, &t), 1, QUARANTINE);
}

static void a_marker_says_how_many_are_blocked(void **state)
{
	static const struct {
		const char *text;
		bool sound;
		uint32_t blocked;
	} cases[] = {
		{"1 o 1d 1 2 h", true, 0},
		{"1 o1 1d 1 2 h", true, 1},
		{"1 o4294967 1d 1 never h", true, 4294967},
		{"1 c 1d 1 2 h", true, 0},
		{"1 c1 1d 1 2 h", false, 0},
		{"1 o0 1d 1 2 h", false, 0},
		{"1 o-1 1d 1 2 h", false, 0},
		{"1 o9999999999 1d 1 2 h", false, 0},
		{"1 ox 1d 1 2 h", false, 0},
		{"1 x 1d 1 2 h", false, 0},
	};
	struct link_marker m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(marker_parse(cases[i].text, strlen(cases[i].text),
					 &m) == cases[i].sound);
		if (!cases[i].sound)
			continue;
		assert_int_equal(m.blocked, cases[i].blocked);
		assert_int_equal(
			marker_ended(&m, 5),
			!m.open || (!m.blocked && m.end != DURATION_NEVER));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_ALL(a_blocked_link_does_not_end),
		TEST_ALL(nobody_else_gets_the_alias_of_a_blocked_link),
		TEST_ALL(a_link_that_is_let_go_has_the_life_it_had),
		TEST_ALL(a_link_for_ever_stays_for_ever),
		TEST_ALL(an_alias_that_was_let_go_leaves_a_trace_again),
		TEST_ALL(a_visit_does_not_give_a_blocked_link_an_end),
		TEST_ALL(used_up_stays_used_up),
		TEST(the_same_block_twice_counts_once),
		TEST(a_block_waits_for_its_blocked_links),
		TEST_CLUSTER(a_block_waits_for_its_blocked_links),
		TEST(what_is_stored_and_renewed_beside_it_changes_nothing),
		TEST(a_code_is_not_issued_again_while_its_link_is_blocked),
		TEST(a_block_of_a_lost_marker_leaves_the_link_blocked),
		cmocka_unit_test(a_marker_says_how_many_are_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
