/* Reading a space's sets, and repairing them under the lock. */
#include "tests/unit/linkstore/fixture.h"

#include "linkstore/space/manual_hold.h"
#include "linkstore/space/space_gaps.h"
#include "linkstore/space/space_repair.h"

static const struct repair_note note = {"ann@here", "a test"};

static bool has_member(struct fixture *f, const char *key, const char *member)
{
	char words[128], text[512];

	snprintf(words, sizeof(words), "ZSCORE %s %s", key, member);
	return *redis_server_text(&f->server, words, text);
}

static struct reclaim_lock take_lock(struct fixture *f)
{
	struct reclaim_lock lock;

	must(f, reclaim_lock_take(f->server.redis, f->space, 10000, &lock,
				  &f->err));
	return lock;
}

/* --- the plan ------------------------------------------------------------- */

static void of_overlapping_claims_the_stricter_wins(void **state)
{
	const struct found_member members[] = {
		{SET_ISSUED, {0, 9, 1}, 500},
		{SET_POOL, {4, 12, 3}, 100},
		{SET_OUT, {8, 8, 2}, 50},
	};
	const struct found_member expected[] = {
		{SET_ISSUED, {0, 3, 1}, 500}, {SET_ISSUED, {4, 7, 3}, 500},
		{SET_OUT, {8, 8, 3}, 50},     {SET_ISSUED, {9, 9, 3}, 500},
		{SET_POOL, {10, 12, 3}, 100},
	};
	struct found_member parts[6];

	(void)state;
	assert_int_equal(repair_plan(members, 3, parts), 5);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(parts[i].set, expected[i].set);
		assert_int_equal(parts[i].range.first, expected[i].range.first);
		assert_int_equal(parts[i].range.last, expected[i].range.last);
		assert_int_equal(parts[i].range.generation,
				 expected[i].range.generation);
		assert_int_equal(parts[i].score, expected[i].score);
	}
}

static void the_latest_claim_of_a_set_counts(void **state)
{
	const struct found_member members[] = {
		{SET_ISSUED, {0, 1, 1}, 0},
		{SET_ISSUED, {0, 1, 2}, 700},
		{SET_ISSUED, {5, 5, 2}, 700},
	};
	struct found_member parts[6];

	(void)state;
	assert_int_equal(repair_plan(members, 3, parts), 2);
	assert_int_equal(parts[0].score, 700);
	assert_int_equal(parts[0].range.generation, 2);
	assert_int_equal(parts[1].range.first, 5);
}

/* --- mending -------------------------------------------------------------- */

static void members_become_parts(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	const struct found_member members[] = {{SET_ISSUED, {0, 9, 1}, 0},
					       {SET_POOL, {5, 5, 2}, 0}};
	const struct found_member parts[] = {{SET_ISSUED, {0, 9, 2}, 777}};

	make_grant(f, f->day, 10);
	redis_server_number(&f->server, "ZADD pool:{s5} 1 5-5:2");
	must(f, space_repair(f->server.redis, &lock, &note, members, 2, parts,
			     1, &f->err));
	assert_true(has_member(f, "issued:{s5}", "0-9:2"));
	assert_false(has_member(f, "issued:{s5}", "0-9:1"));
	assert_int_equal(redis_server_number(&f->server, "ZCARD pool:{s5}"), 0);
}

static void what_does_not_cover_the_same_blocks_is_refused(void **state)
{
	static const struct found_member wrong[][2] = {
		{{SET_ISSUED, {0, 8, 1}, 0}, {SET_POOL, {10, 10, 2}, 0}},
		{{SET_ISSUED, {0, 9, 1}, 0}, {SET_POOL, {9, 9, 2}, 0}},
		{{SET_ISSUED, {0, 5, 1}, 0}, {SET_POOL, {7, 9, 2}, 0}},
	};
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	const struct found_member member = {SET_ISSUED, {0, 9, 1}, 0};

	make_grant(f, f->day, 10);
	for (int i = 0; i < 3; i++)
		must_fail(f,
			  space_repair(f->server.redis, &lock, &note, &member,
				       1, wrong[i], 2, &f->err),
			  ERROR_REMOTE);
	assert_true(has_member(f, "issued:{s5}", "0-9:1"));
}

static void blocks_of_no_set_become_issued_below_the_cursor_only(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	const struct found_member below = {SET_ISSUED, {0, 3, 1}, 999},
				  above = {SET_ISSUED, {4, 4, 1}, 999};
	struct space_gaps *gaps;

	make_grant(f, f->day, 4);
	redis_server_number(&f->server, "DEL issued:{s5}");
	must(f, space_repair(f->server.redis, &lock, &note, NULL, 0, &below, 1,
			     &f->err));
	assert_true(has_member(f, "issued:{s5}", "0-3:1"));
	must_fail(f,
		  space_repair(f->server.redis, &lock, &note, NULL, 0, &above,
			       1, &f->err),
		  ERROR_INPUT);
	/* Redis has forgotten the caller of the grant. */
	must(f, space_gaps_read(f->server.redis, f->space, &gaps, &f->err));
	assert_true(space_gaps_has(gaps, 3, 1));
	assert_false(space_gaps_has(gaps, 4, 1));
	space_gaps_free(gaps);
}

static void nothing_is_mended_without_the_lock_or_the_member(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	const struct found_member gone = {SET_ISSUED, {0, 3, 7}, 0},
				  there = {SET_ISSUED, {0, 3, 1}, 0},
				  part = {SET_POOL, {0, 3, 2}, 1};

	make_grant(f, f->day, 4);
	must_fail(f,
		  space_repair(f->server.redis, &lock, &note, &gone, 1, &part,
			       1, &f->err),
		  ERROR_NOTFOUND);
	redis_server_number(&f->server, "DEL lock:{s5}");
	must_fail(f,
		  space_repair(f->server.redis, &lock, &note, &there, 1, &part,
			       1, &f->err),
		  ERROR_NOT_OWNER);
	assert_true(has_member(f, "issued:{s5}", "0-3:1"));
}

static void the_note_of_a_held_range_stays_with_its_parts(void **state)
{
	struct fixture *f = *state;
	struct reclaim_lock lock = take_lock(f);
	struct hold_request request = {0, 9, "bob@there", "mine"};
	const struct found_member member = {SET_OUT, {0, 9, 1}, 0};
	const struct found_member parts[] = {{SET_OUT, {0, 4, 1}, 1000},
					     {SET_OUT, {5, 9, 2}, 1000}};
	struct hold_result result;
	struct out_range out[2];
	uint64_t total;
	size_t count;

	make_grant(f, f->day, 10);
	must(f,
	     space_hold(f->server.redis, f->space, &request, &result, &f->err));
	must(f, space_repair(f->server.redis, &lock, &note, &member, 1, parts,
			     2, &f->err));
	must(f, space_read_out(f->server.redis, f->space, 2, out, &count,
			       &total, &f->err));
	assert_int_equal(count, 2);
	assert_string_equal(out[0].reason, "mine");
	assert_string_equal(out[1].who, "bob@there");
}

/* --- walking -------------------------------------------------------------- */

struct walked {
	uint64_t members, blocks, unsound;
};

static int on_member(void *arg, const struct set_member *m, struct error *err)
{
	struct walked *w = arg;

	(void)err;
	w->members++;
	if (m->sound)
		w->blocks += range_blocks(&m->range);
	else
		w->unsound++;
	return 0;
}

static void a_walk_tells_every_member(void **state)
{
	struct fixture *f = *state;
	struct walked w = {0};

	for (unsigned i = 0; i < 3000; i++)
		make_grant(f, f->day, 1 + i % 3);
	must(f, space_walk(f->server.redis, f->space, SET_ISSUED, on_member, &w,
			   &f->err));
	assert_int_equal(w.members, 3000);
	assert_int_equal(w.blocks, 6000);
}

static void what_is_no_member_is_told_as_such(void **state)
{
	static const char *const bad[] = {"what", "3-1:1", "01-2:1", "1-2:0",
					  "1-2:1x"};
	struct fixture *f = *state;
	struct walked w = {0};
	char words[64];

	for (int i = 0; i < 5; i++) {
		snprintf(words, sizeof(words), "ZADD pool:{s5} 1 %s", bad[i]);
		redis_server_number(&f->server, words);
	}
	must(f, space_walk(f->server.redis, f->space, SET_POOL, on_member, &w,
			   &f->err));
	assert_int_equal(w.unsound, 5);
}

static void every_movement_shows(void **state)
{
	struct fixture *f = *state;
	struct block_range whole = {0, 3, 1}, part = {2, 3, 1};
	struct space_movement a, b;
	struct hold_request request = {0, 0, "a", ""};
	struct hold_result result;

	must(f, space_read_movement(f->server.redis, f->space, &a, &f->err));
	must(f, space_read_movement(f->server.redis, f->space, &b, &f->err));
	assert_string_equal(a.text, b.text);
	make_grant(f, f->day, 4);
	must(f, space_read_movement(f->server.redis, f->space, &b, &f->err));
	assert_string_not_equal(a.text, b.text);
	assert_int_equal(b.cursor, 4);
	must(f, await_hand_back(f->await, f->space, &whole, &part, &f->err));
	must(f, space_read_movement(f->server.redis, f->space, &a, &f->err));
	assert_string_not_equal(a.text, b.text);
	must(f,
	     space_hold(f->server.redis, f->space, &request, &result, &f->err));
	must(f, space_read_movement(f->server.redis, f->space, &b, &f->err));
	assert_string_not_equal(a.text, b.text);
	must(f, space_release(f->server.redis, f->space, &request, &result,
			      &f->err));
	must(f, space_read_movement(f->server.redis, f->space, &a, &f->err));
	assert_string_not_equal(a.text, b.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_overlapping_claims_the_stricter_wins),
		cmocka_unit_test(the_latest_claim_of_a_set_counts),
		TEST(members_become_parts),
		TEST(what_does_not_cover_the_same_blocks_is_refused),
		TEST(blocks_of_no_set_become_issued_below_the_cursor_only),
		TEST(nothing_is_mended_without_the_lock_or_the_member),
		TEST(the_note_of_a_held_range_stays_with_its_parts),
		TEST(a_walk_tells_every_member),
		TEST(what_is_no_member_is_told_as_such),
		TEST(every_movement_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
