/* The response to a second request with a key if the link of the first does not
 * exist. */
#include "tests/unit/unit.h"

#include "allocator/create/earlier_request.h"
#include "common/clock.h"

#define NOW INT64_C(1790000000000)

/* The request is planned at NOW, so it stores by NOW + IDEM_WINDOW at the
 * latest. */
static enum earlier_request evaluate_request(bool done, int64_t now,
					     int64_t ttl, bool is_repeatable)
{
	const struct idem_record record = {.done = done,
					   .deadline = NOW + IDEM_WINDOW};

	return earlier_request_judge(&record, now, ttl, is_repeatable);
}

static void it_is_under_way_until_its_deadline_has_passed(void **state)
{
	(void)state;
	assert_int_equal(evaluate_request(false, NOW, DURATION_NEVER, false),
			 EARLIER_UNDER_WAY);
	assert_int_equal(evaluate_request(false, NOW + IDEM_WINDOW,
					  DURATION_NEVER, false),
			 EARLIER_UNDER_WAY);
	assert_int_equal(evaluate_request(false, NOW + IDEM_WINDOW + 1,
					  DURATION_NEVER, false),
			 EARLIER_FAILED);
}

static void it_is_under_way_however_soon_its_link_would_end(void **state)
{
	(void)state;
	assert_int_equal(
		evaluate_request(false, NOW + IDEM_WINDOW, 1000, false),
		EARLIER_UNDER_WAY);
}

static void a_link_that_may_have_ended_leaves_doubt(void **state)
{
	const int64_t ttl = 2 * IDEM_WINDOW;

	(void)state;
	assert_int_equal(evaluate_request(false, NOW + ttl - 1, ttl, false),
			 EARLIER_FAILED);
	assert_int_equal(evaluate_request(false, NOW + ttl, ttl, false),
			 EARLIER_DOUBTFUL);
}

static void a_link_that_was_stored_has_ended(void **state)
{
	(void)state;
	for (int repeatable = 0; repeatable < 2; repeatable++) {
		assert_int_equal(
			evaluate_request(true, NOW, DURATION_NEVER, repeatable),
			EARLIER_ENDED);
		assert_int_equal(evaluate_request(true, NOW + 2 * IDEM_WINDOW,
						  1000, repeatable),
				 EARLIER_ENDED);
	}
}

/* Both requests get the same code, and only one of them stores a link. */
static void what_gets_the_same_code_waits_for_nothing(void **state)
{
	(void)state;
	assert_int_equal(evaluate_request(false, NOW, DURATION_NEVER, true),
			 EARLIER_FAILED);
	assert_int_equal(
		evaluate_request(false, NOW + IDEM_WINDOW + 1, 1000, true),
		EARLIER_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_under_way_until_its_deadline_has_passed),
		cmocka_unit_test(
			it_is_under_way_however_soon_its_link_would_end),
		cmocka_unit_test(a_link_that_may_have_ended_leaves_doubt),
		cmocka_unit_test(a_link_that_was_stored_has_ended),
		cmocka_unit_test(what_gets_the_same_code_waits_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
