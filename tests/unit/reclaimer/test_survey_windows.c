/* A survey of more blocks than one window holds, and of a space that does not
 * begin with block 0. */
#include "tests/unit/reclaimer/watch.h"

#define WINDOW ((int)BLOCK_MAP_WINDOW)

static void begin_with(struct fixture *f, int block)
{
	char words[64];

	snprintf(words, sizeof(words), "HSET space:{s5} first %d", block);
	run_command(f, words);
}

static void a_space_that_begins_late_is_surveyed_to_its_end_only(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, WINDOW - 3);

	put_live(f, WINDOW - 9, WINDOW - 6);
	put_live(f, WINDOW - 5, WINDOW - 4);
	begin_with(f, WINDOW - 10);
	must(f, survey_space(&w));
	expect_findings(&w, 1);
	is_finding(&w, 0, TROUBLE_MISSING, WINDOW - 10, WINDOW - 10, "");
	assert_int_equal(count_in_state(&w, STATE_LIVE), 6);
	assert_int_equal(w.survey.census.missing, 1);
	assert_true(w.survey.proven);
	survey_free(&w.survey);
}

/* The second window begins where the first one ends, within a member. */
static void each_block_of_two_windows_is_looked_at_once(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, WINDOW + 9);

	begin_with(f, 3);
	put_live(f, 3, 4);
	put_live(f, WINDOW + 1, WINDOW + 6);
	put_live(f, WINDOW + 8, WINDOW + 8);
	put_marker(f, WINDOW + 2, "nonsense");
	put_marker(f, WINDOW + 3, "nonsense");
	issue_member(f, "what");
	must(f, survey_space(&w));
	expect_findings(&w, 5);
	assert_string_equal(w.survey.findings.list[0].detail,
			    "'what' in issued");
	is_finding(&w, 1, TROUBLE_MISSING, 5, (uint64_t)WINDOW, "");
	is_finding(&w, 2, TROUBLE_DAMAGED, (uint64_t)WINDOW + 2,
		   (uint64_t)WINDOW + 2, "issued 33554433-33554438:1");
	is_finding(&w, 3, TROUBLE_DAMAGED, (uint64_t)WINDOW + 3,
		   (uint64_t)WINDOW + 3, "issued 33554433-33554438:1");
	is_finding(&w, 4, TROUBLE_MISSING, (uint64_t)WINDOW + 7,
		   (uint64_t)WINDOW + 7, "");
	assert_int_equal(count_in_state(&w, STATE_LIVE), 7);
	assert_int_equal(w.survey.census.missing, BLOCK_MAP_WINDOW - 3);
	assert_int_equal(w.survey.census.unclear, 2);
	survey_free(&w.survey);
}

/* Acts on the first check, when the space is in use: the third check uses the
 * list again. */
static bool leave_seven_out_of_the_first_check(struct watch *w)
{
	if (w->pauses == 2)
		w->survey.window.suspects.left_out = 7;
	if (w->pauses < 4)
		run_command(w->f, "HINCRBY space:{s5} moves 1");
	return false;
}

static void what_an_earlier_check_left_out_is_not_counted_again(void **state)
{
	struct fixture *f = *state;
	struct watch w = watch_of(f, 5);

	put_live(f, 0, 4);
	put_marker(f, 2, "nonsense");
	w.on_pause = leave_seven_out_of_the_first_check;
	must(f, survey_space(&w));
	assert_int_equal(w.pauses, 4);
	expect_findings(&w, 1);
	is_finding(&w, 0, TROUBLE_DAMAGED, 2, 2, "issued 0-4:1");
	assert_int_equal(w.survey.census.unclear, 1);
	survey_free(&w.survey);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_space_that_begins_late_is_surveyed_to_its_end_only),
		TEST(each_block_of_two_windows_is_looked_at_once),
		TEST(what_an_earlier_check_left_out_is_not_counted_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
