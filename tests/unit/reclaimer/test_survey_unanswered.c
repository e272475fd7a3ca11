/* One command of a survey gets no answer, each in turn: the survey ends there
 * and returns the reason. */
#include "tests/unit/linkstore/sent.h"
#include "tests/unit/reclaimer/watch.h"

/* One of six blocks has no sound marker, one is retired, and two are not
 * opened. */
static void put_suspects(struct fixture *f)
{
	put_live(f, 0, 2);
	put_marker(f, 1, "nonsense");
	run_command(f, "ZADD issued:{s5} +inf 4-5:1");
	run_command(f, "ZADD unopened:{s5} 4 4:1 5 5:1");
	run_command(f, "HSET space:{s5} retired 1");
	put_marker(f, 3, "32767 c 1s 1000 2000 holder");
}

static void a_survey_fails_when_a_command_is_refused(void **state)
{
	struct fixture *f = *state;
	bool all_answered = false;
	int n;

	put_suspects(f);
	for (n = 0; !all_answered; n++) {
		struct watch w = watch_of(f, 6);
		int status;

		answer_with("{s5", n, "{err = 'ERR no'}");
		status = survey_space(&w);
		all_answered = end_waiting();
		assert_int_equal(status, all_answered ? 0 : -1);
		if (!all_answered)
			assert_int_equal(f->err.code, ERROR_REMOTE);
		survey_free(&w.survey);
	}
	/* Only the markers are queried twice. */
	assert_true(n > 12);
}

static void a_survey_fails_with_its_connection(void **state)
{
	struct fixture *f = *state;
	bool all_answered = false;

	put_suspects(f);
	for (int n = 0; !all_answered; n++) {
		struct watch w = watch_of(f, 6);
		int status;

		lose_at("{s5", n, LOST_AFTER);
		status = survey_space(&w);
		all_answered = end_waiting();
		assert_int_equal(status, all_answered ? 0 : -1);
		if (!all_answered)
			assert_true(f->err.retriable);
		survey_free(&w.survey);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_survey_fails_when_a_command_is_refused),
		TEST(a_survey_fails_with_its_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
