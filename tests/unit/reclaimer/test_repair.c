/* A repair's reports of what it cannot do: the parts that need no Redis. */
#include "tests/unit/unit.h"

#include <string.h>

#include "reclaimer/verify/repair.h"

static void lost_blocks_that_were_not_gathered_remain(void **state)
{
	struct survey s = {.lost.left_out = 70000};
	struct repair r = {.survey = &s};
	struct error err;

	(void)state;
	assert_int_equal(repair_run(&r, &err), 0);
	assert_int_equal(block_findings_left(&s.findings), 1);
	assert_string_equal(block_finding_name(s.findings.list[0].trouble),
			    "lost");
	assert_non_null(strstr(s.findings.list[0].detail, "70000 blocks"));
	assert_string_equal(s.findings.list[0].repair, "run it again");
	survey_free(&s);
}

static void a_repair_of_nothing_finds_nothing(void **state)
{
	struct survey s = {0};
	struct repair r = {.survey = &s};
	struct error err;

	(void)state;
	assert_int_equal(repair_run(&r, &err), 0);
	assert_int_equal(block_findings_left(&s.findings), 0);
	survey_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lost_blocks_that_were_not_gathered_remain),
		cmocka_unit_test(a_repair_of_nothing_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
