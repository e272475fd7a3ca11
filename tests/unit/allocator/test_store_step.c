/* The next step after Redis' answer to an attempt to store a link. */
#include "tests/unit/unit.h"

#include "allocator/create/store_step.h"

static const struct error lost = {.code = ERROR_REMOTE, .retriable = true};
static const struct error refused = {.code = ERROR_NOT_OWNER};

static void an_answer_is_lost_when_redis_may_have_stored_the_link(void **state)
{
	const struct error says_no = {.code = ERROR_REMOTE};
	const struct error taken = {.code = ERROR_UNSAFE, .retriable = true};

	(void)state;
	assert_true(store_answer_is_lost(&lost));
	assert_false(store_answer_is_lost(NULL));
	assert_false(store_answer_is_lost(&says_no));
	assert_false(store_answer_is_lost(&taken));
}

static void what_was_stored_is_done(void **state)
{
	(void)state;
	assert_int_equal(store_next_step(NULL, true, false, false), STORE_DONE);
	assert_int_equal(store_next_step(NULL, false, true, true), STORE_DONE);
}

static void a_lost_answer_is_asked_for_again_while_redis_is_up(void **state)
{
	(void)state;
	for (int key = 0; key < 2; key++)
		for (int unsure = 0; unsure < 2; unsure++) {
			assert_int_equal(
				store_next_step(&lost, true, unsure, key),
				STORE_AGAIN);
			assert_int_equal(
				store_next_step(&lost, false, unsure, key),
				STORE_FAILED);
		}
}

static void a_key_gets_no_other_code_while_its_first_try_is_unsure(void **state)
{
	(void)state;
	assert_int_equal(store_next_step(&refused, true, true, true),
			 STORE_FAILED);
	assert_int_equal(store_next_step(&refused, true, false, true),
			 STORE_ELSEWHERE);
	assert_int_equal(store_next_step(&refused, true, true, false),
			 STORE_ELSEWHERE);
	assert_int_equal(store_next_step(&refused, true, false, false),
			 STORE_ELSEWHERE);
	assert_int_equal(store_next_step(&refused, false, false, true),
			 STORE_ELSEWHERE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_answer_is_lost_when_redis_may_have_stored_the_link),
		cmocka_unit_test(what_was_stored_is_done),
		cmocka_unit_test(
			a_lost_answer_is_asked_for_again_while_redis_is_up),
		cmocka_unit_test(
			a_key_gets_no_other_code_while_its_first_try_is_unsure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
