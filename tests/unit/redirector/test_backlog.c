#include "redirector/events/backlog.h"
#include "tests/unit/unit.h"

/* Asks `times` times; returns how often a connection was gone. */
static unsigned count_gone(struct backlog *b, size_t waiting, unsigned times)
{
	unsigned gone = 0;

	for (unsigned i = 0; i < times; i++)
		gone += backlog_has_gone(b, waiting);
	return gone;
}

static void a_backlog_is_gone_once(void **state)
{
	struct backlog b = {0};

	(void)state;
	assert_int_equal(count_gone(&b, 100000, 60), 0);
	assert_int_equal(count_gone(&b, 25001, 60), 0);
	assert_int_equal(count_gone(&b, 25000, BACKLOG_LOW - 1), 0);
	assert_int_equal(count_gone(&b, 25000, 1), 1);
	assert_int_equal(count_gone(&b, 25000, 60), 0);
	assert_int_equal(count_gone(&b, 600, BACKLOG_LOW), 1);
	assert_int_equal(count_gone(&b, 600, 60), 0);
	assert_int_equal(count_gone(&b, BACKLOG_MIN, 1), 0);
	assert_int_equal(count_gone(&b, BACKLOG_LEFT + 1, 60), 0);
	assert_int_equal(count_gone(&b, BACKLOG_LEFT, 60), 1);
}

static void what_is_on_its_way_is_no_backlog(void **state)
{
	struct backlog b = {0};

	(void)state;
	assert_int_equal(count_gone(&b, BACKLOG_MIN - 1, 60), 0);
	assert_int_equal(count_gone(&b, 0, 60), 0);
}

static void a_valley_between_batches_is_not_its_end(void **state)
{
	struct backlog b = {0};

	(void)state;
	for (int i = 0; i < 100; i++) {
		assert_int_equal(count_gone(&b, 20000, 1), 0);
		assert_int_equal(count_gone(&b, 100, BACKLOG_LOW - 1), 0);
	}
	assert_int_equal(count_gone(&b, 100, BACKLOG_LOW), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_backlog_is_gone_once),
		cmocka_unit_test(what_is_on_its_way_is_no_backlog),
		cmocka_unit_test(a_valley_between_batches_is_not_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
