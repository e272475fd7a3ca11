/* A survey reads a space's accounting, which the tests write directly, with a
 * real Redis. */
#include "tests/unit/reclaimer/watch.h"

#define EVER "99999999000000"

/* --- correct accounting --------------------------------------------------- */

static void each_block_is_counted_in_its_state(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 12);
	char text[96];

	put_live(f, 0, 1);
	issue_until(f, "2-2:1", 99999999000000);
	put_marker(f, 2, "1 o 1s 1000 2000 holder");
	put_block(f, 3);
	run_command(f, "ZADD pool:{s5} 1000 4-4:2 " EVER " 5-5:2");
	put_marker(f, 4, "1 c 1s 1000 2000 holder");
	put_marker(f, 5, "1 c 1s 1000 2000 holder");
	run_command(f, "ZADD out:{s5} 1000 6-6:1");
	issue_until(f, "7-7:3", 0);
	issue_until(f, "8-8:1", 99999999000000);
	snprintf(text, sizeof(text), "1 o 1s %lld " EVER " holder",
		 (long long)clock_real_ms());
	put_marker(f, 8, text);
	issue_until(f, "9-9:1", 99999999000000);
	run_command_argv(
		f, 4, (const char *[]){"HSET", "space:{s5}", "gaps", "9-9 "});
	put_marker(f, 10, "32767 c 1s 1000 2000 holder");
	run_command(f, "HSET space:{s5} retired 1");
	issue_until(f, "11-11:1", 99999999000000);
	run_command(f, "ZADD unopened:{s5} 11 11:1");
	w.survey.wants_lost = true;
	must(f, survey_space(&w));
	expect_findings(&w, 0);
	assert_true(w.survey.proven);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 2);
	assert_int_equal(count_in_state(&w, STATE_LATER), 2);
	assert_int_equal(count_in_state(&w, STATE_DUE), 1);
	assert_int_equal(count_in_state(&w, STATE_POOLED), 1);
	assert_int_equal(count_in_state(&w, STATE_QUARANTINED), 1);
	assert_int_equal(count_in_state(&w, STATE_OUT), 1);
	assert_int_equal(count_in_state(&w, STATE_LOST), 1);
	assert_int_equal(count_in_state(&w, STATE_HELD), 1);
	assert_int_equal(count_in_state(&w, STATE_GAP), 1);
	assert_int_equal(count_in_state(&w, STATE_RETIRED), 1);
	assert_int_equal(w.survey.lost.count, 1);
	assert_int_equal(w.survey.lost.list[0].first, 7);
	assert_int_equal(w.survey.lost.list[0].generation, 3);
	survey_free(&w.survey);
}

/* These are more than one query takes. */
static void each_of_many_blocks_is_counted_once(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 1200);

	put_live(f, 0, 1023);
	put_live(f, 1024, 1199);
	/* The marks of other blocks are looked up among them. */
	run_command(f, "DEL m:{s5:511} m:{s5:512} m:{s5:1199}");
	run_command(f, "ZADD unopened:{s5} 511 511:1 512 512:1");
	must(f, survey_space(&w));
	assert_int_equal(count_in_state(&w, STATE_LIVE), 1197);
	/* These blocks will never be checked again, and one has lost its
	 * marker. */
	assert_int_equal(w.survey.census.unclear, 1);
	assert_int_equal(count_in_state(&w, STATE_LATER), 2);
	expect_findings(&w, 1);
	is_finding(&w, 0, TROUBLE_UNMARKED, 1199, 1199, "issued 1024-1199:1");
	survey_free(&w.survey);
}

static void blocks_before_the_spaces_first_are_none(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 8);

	put_live(f, 5, 7);
	run_command(f, "HSET space:{s5} first 5");
	must(f, survey_space(&w));
	expect_findings(&w, 0);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 3);
	survey_free(&w.survey);
}

static void a_space_without_blocks_is_in_order(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 0);

	run_command(f, "HSET space:{s5} first 5");
	must(f, survey_space(&w));
	expect_findings(&w, 0);
	survey_free(&w.survey);
}

/* --- findings ------------------------------------------------------------- */

static void blocks_in_no_set_are_missing(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 12);

	put_live(f, 0, 3);
	put_live(f, 6, 10);
	must(f, survey_space(&w));
	expect_findings(&w, 2);
	is_finding(&w, 0, TROUBLE_MISSING, 4, 5, "");
	is_finding(&w, 1, TROUBLE_MISSING, 11, 11, "");
	assert_int_equal(w.survey.census.missing, 3);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 9);
	assert_true(w.survey.proven);
	survey_free(&w.survey);
}

/* A block in no set need not be a retired one. */
static void retired_blocks_are_told_from_missing_ones(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 6);

	put_live(f, 0, 1);
	put_marker(f, 2, "32766 c 1s 1000 2000 holder");
	put_marker(f, 3, "5 c 1s 1000 2000 holder");
	put_marker(f, 5, "32767 c 1s 1000 2000 holder");
	run_command(f, "HSET space:{s5} retired 3");
	must(f, survey_space(&w));
	assert_int_equal(count_in_state(&w, STATE_RETIRED), 2);
	assert_int_equal(w.survey.census.missing, 2);
	expect_findings(&w, 2);
	is_finding(&w, 0, TROUBLE_MISSING, 3, 4, "");
	assert_string_equal(w.survey.findings.list[1].detail,
			    "the record says 3, the markers say 2");
	survey_free(&w.survey);
}

static bool retire_another(struct watch *w)
{
	run_command(w->f, "HSET space:{s5} retired 2");
	return false;
}

/* It is unknown which of the two numbers the markers should agree with. */
static void a_number_of_retired_blocks_that_changes_is_no_finding(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);

	put_live(f, 0, 2);
	put_marker(f, 3, "32767 c 1s 1000 2000 holder");
	run_command(f, "HSET space:{s5} retired 3");
	w.on_pause = retire_another;
	must(f, survey_space(&w));
	assert_int_equal(count_in_state(&w, STATE_RETIRED), 1);
	expect_findings(&w, 0);
	survey_free(&w.survey);
}

static void a_block_in_two_members_is_found_with_both(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 8);

	put_live(f, 0, 7);
	run_command(f, "ZADD pool:{s5} 1000 3-4:2");
	run_command(f, "ZADD out:{s5} 1000 4-4:1");
	must(f, survey_space(&w));
	assert_int_equal(w.survey.census.unclear, 2);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 6);
	assert_int_equal(count_in_state(&w, STATE_POOLED), 0);
	expect_findings(&w, 2);
	is_finding(&w, 0, TROUBLE_TWICE, 3, 3, "issued 0-7:1 and pool 3-4:2");
	is_finding(&w, 1, TROUBLE_TWICE, 4, 4,
		   "issued 0-7:1 and pool 3-4:2 and more");
	survey_free(&w.survey);
}

/* Neighbours in one member with the same trouble are one finding. */
static void what_markers_say_against_members_is_found(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 8);

	run_command(f, "ZADD pool:{s5} 1000 0-3:2 1000 4-5:2");
	for (int block = 0; block < 6; block++)
		put_marker(f, block, "1 c 1s 1000 2000 holder");
	put_marker(f, 1, "1 o 1s 1000 2000 holder");
	put_marker(f, 2, "2 c 1s 1000 2000 holder");
	put_marker(f, 4, "1 o 1s 1000 2000 holder");
	put_live(f, 6, 7);
	put_marker(f, 7, "nonsense");
	must(f, survey_space(&w));
	expect_findings(&w, 3);
	is_finding(&w, 0, TROUBLE_POOL_OPEN, 1, 2, "pool 0-3:2");
	is_finding(&w, 1, TROUBLE_POOL_OPEN, 4, 4, "pool 4-5:2");
	is_finding(&w, 2, TROUBLE_DAMAGED, 7, 7, "issued 6-7:1");
	assert_int_equal(w.survey.census.unclear, 4);
	assert_int_equal(count_in_state(&w, STATE_POOLED), 3);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 1);
	survey_free(&w.survey);
}

static void members_that_are_none_or_beyond_are_found(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);

	put_live(f, 0, 3);
	issue_member(f, "4-4:1");
	must(f, survey_space(&w));
	expect_findings(&w, 1);
	is_finding(&w, 0, TROUBLE_BEYOND, 4, 4, "'4-4:1' in issued");
	survey_free(&w.survey);
	run_command(f, "DEL issued:{s5}");
	w = watch_of(f, 4);
	put_live(f, 0, 3);
	issue_member(f, "2-1:1");
	run_command(f, "ZADD pool:{s5} 1000 3-3:32768");
	must(f, survey_space(&w));
	expect_findings(&w, 2);
	is_finding(&w, 0, TROUBLE_MALFORMED, 3, 3, "'3-3:32768' in pool");
	assert_string_equal(w.survey.findings.list[1].detail,
			    "'2-1:1' in issued");
	assert_false(w.survey.findings.list[1].has_blocks);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 4);
	survey_free(&w.survey);
}

/* Unopened blocks that were granted for ever have their mark; a block that was
 * opened has lost its marker. */
static void each_blocks_own_mark_is_looked_for(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 6);

	put_live(f, 0, 1);
	run_command(f, "ZADD issued:{s5} +inf 2-5:1");
	run_command(f, "ZADD unopened:{s5} 2 2:1 3 3:1 5 5:1");
	must(f, survey_space(&w));
	expect_findings(&w, 3);
	is_finding(&w, 0, TROUBLE_UNOPENED, 2, 3, "issued 2-5:1");
	is_finding(&w, 1, TROUBLE_UNMARKED, 4, 4, "issued 2-5:1");
	is_finding(&w, 2, TROUBLE_UNOPENED, 5, 5, "issued 2-5:1");
	survey_free(&w.survey);
}

/* --- a space in use ------------------------------------------------------- */

/* For example, block 4 was moving from one set to another. */
static bool issue_four(struct watch *w)
{
	if (w->pauses == 1)
		put_live(w->f, 4, 4);
	return false;
}

static void what_had_moved_is_found_in_order(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 8);

	put_live(f, 0, 3);
	put_live(f, 5, 7);
	w.on_pause = issue_four;
	must(f, survey_space(&w));
	expect_findings(&w, 0);
	assert_int_equal(count_in_state(&w, STATE_LIVE), 8);
	assert_int_equal(w.survey.census.missing, 0);
	survey_free(&w.survey);
}

/* The number is that of a space with more suspects than are kept. */
static bool leave_seven_out(struct watch *w)
{
	if (w->pauses == 1)
		w->survey.window.suspects.left_out = 7;
	return false;
}

static void suspects_without_room_are_told_once(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 5);

	put_live(f, 0, 3);
	w.on_pause = leave_seven_out;
	must(f, survey_space(&w));
	expect_findings(&w, 2);
	is_finding(&w, 0, TROUBLE_MISSING, 4, 4, "");
	assert_string_equal(w.survey.findings.list[1].detail,
			    "or worse: 7 blocks more than can be looked at "
			    "again");
	assert_int_equal(w.survey.census.unclear, 7);
	assert_int_equal(w.survey.census.missing, 1);
	survey_free(&w.survey);
}

/* The suspect's marker is read between two reads of the moves. */
static bool move_on(struct watch *w)
{
	run_command(w->f, "HINCRBY space:{s5} moves 1");
	return false;
}

static void what_is_wrong_while_all_moves_is_not_proven(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);

	put_live(f, 0, 3);
	put_marker(f, 2, "nonsense");
	w.on_pause = move_on;
	must(f, survey_space(&w));
	expect_findings(&w, 1);
	is_finding(&w, 0, TROUBLE_DAMAGED, 2, 2, "issued 0-3:1");
	assert_false(w.survey.proven);
	/* The first at once, then five more. */
	assert_int_equal(w.pauses, 6);
	survey_free(&w.survey);
}

static bool rest_at_third(struct watch *w)
{
	return w->pauses < 4 ? move_on(w) : false;
}

static void one_look_at_rest_is_a_proof(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);

	put_live(f, 0, 3);
	put_marker(f, 2, "nonsense");
	w.on_pause = rest_at_third;
	must(f, survey_space(&w));
	expect_findings(&w, 1);
	assert_true(w.survey.proven);
	assert_int_equal(w.pauses, 4);
	survey_free(&w.survey);
}

static bool end_at_third(struct watch *w)
{
	return w->pauses == 3;
}

static void a_survey_keeps_its_rate_and_ends_when_told_to(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 200);

	put_live(f, 0, 199);
	w.survey.rate = 1;
	w.on_pause = end_at_third;
	must_fail(f, survey_space(&w), ERROR_STOPPED);
	assert_int_equal(w.pauses, 3);
	assert_int_equal(w.shortest, 1000);
	assert_int_equal(w.longest, 1000);
	survey_free(&w.survey);
}

static void nothing_is_surveyed_for_a_repair_without_its_lock(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);
	struct reclaim_lock lock;

	put_live(f, 0, 3);
	must(f, reclaim_lock_take(f->server.redis, f->space, 60000, &lock,
				  &f->err));
	w.survey.lock = &lock;
	must(f, survey_space(&w));
	survey_free(&w.survey);
	run_command(f, "SET lock:{s5} another's");
	w = watch_of(f, 4);
	w.survey.lock = &lock;
	must_fail(f, survey_space(&w), ERROR_NOT_OWNER);
	survey_free(&w.survey);
}

/* From this pause on, Redis refuses a command. */
struct refusal {
	int at;
	const char *command;
};

static void set_refusal(struct watch *w, const struct refusal *r, bool refused)
{
	char words[64];

	snprintf(words, sizeof(words), "ACL SETUSER default %c%s",
		 refused ? '-' : '+', r->command);
	run_command(w->f, words);
}

static const struct refusal refusals[] = {
	{1, "get"}, {2, "get"}, {2, "evalsha"}};

static bool refuse_some(struct watch *w)
{
	if (w->pauses == refusals[w->refusal].at)
		set_refusal(w, &refusals[w->refusal], true);
	return false;
}

static void what_redis_does_not_tell_ends_a_survey(void **state)
{
	struct fixture *f = *state;

	put_live(f, 0, 3);
	put_marker(f, 2, "nonsense");
	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		struct watch w = watch_of(f, 4);

		w.refusal = i;
		w.on_pause = refuse_some;
		must_fail(f, survey_space(&w), ERROR_REMOTE);
		set_refusal(&w, &refusals[i], false);
		survey_free(&w.survey);
	}
}

static void a_space_that_is_gone_is_none(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 4);

	run_command(f, "DEL cursor:{s5}");
	must_fail(f, survey_space(&w), ERROR_UNSAFE);
	survey_free(&w.survey);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_block_is_counted_in_its_state),
		TEST(each_of_many_blocks_is_counted_once),
		TEST(blocks_before_the_spaces_first_are_none),
		TEST(a_space_without_blocks_is_in_order),
		TEST(blocks_in_no_set_are_missing),
		TEST(retired_blocks_are_told_from_missing_ones),
		TEST(a_number_of_retired_blocks_that_changes_is_no_finding),
		TEST(a_block_in_two_members_is_found_with_both),
		TEST(what_markers_say_against_members_is_found),
		TEST(members_that_are_none_or_beyond_are_found),
		TEST(each_blocks_own_mark_is_looked_for),
		TEST(what_had_moved_is_found_in_order),
		TEST(suspects_without_room_are_told_once),
		TEST(what_is_wrong_while_all_moves_is_not_proven),
		TEST(one_look_at_rest_is_a_proof),
		TEST(a_survey_keeps_its_rate_and_ends_when_told_to),
		TEST(nothing_is_surveyed_for_a_repair_without_its_lock),
		TEST(what_redis_does_not_tell_ends_a_survey),
		TEST(a_space_that_is_gone_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
