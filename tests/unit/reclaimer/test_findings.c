/* Which findings remain, and how many. */
#include "tests/unit/unit.h"

#include "reclaimer/verify/block_findings.h"

static void add_block_finding(struct block_findings *f, enum trouble trouble,
			      uint64_t block, bool repaired)
{
	const struct block_finding finding = {.trouble = trouble,
					      .has_blocks = true,
					      .first = block,
					      .last = block,
					      .repaired = repaired};
	struct error err;

	assert_int_equal(block_findings_add(f, &finding, &err), 0);
}

static void a_finding_is_counted_once(void **state)
{
	struct block_findings f = {0};

	(void)state;
	add_block_finding(&f, TROUBLE_MISSING, 7, false);
	add_block_finding(&f, TROUBLE_MISSING, 7, false);
	add_block_finding(&f, TROUBLE_TWICE, 7, false);
	assert_int_equal(f.total, 2);
	assert_int_equal(block_findings_left(&f), 2);
	block_findings_free(&f);
}

/* Each range of lost blocks that a repair pools is one finding. */
static void what_was_put_right_does_not_remain_however_much_it_is(void **state)
{
	const uint64_t more = FINDINGS_MAX + 200;
	struct block_findings f = {0};

	(void)state;
	for (uint64_t block = 0; block < more; block++)
		add_block_finding(&f, TROUBLE_LOST, block, true);
	assert_int_equal(f.count, FINDINGS_MAX);
	assert_int_equal(f.total, more);
	assert_int_equal(block_findings_left(&f), 0);
	add_block_finding(&f, TROUBLE_LOST, more, false);
	assert_int_equal(block_findings_left(&f), 1);
	block_findings_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finding_is_counted_once),
		cmocka_unit_test(
			what_was_put_right_does_not_remain_however_much_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
