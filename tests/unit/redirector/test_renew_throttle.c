#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "redirector/visit/renew_throttle.h"

static struct renew_throttle *make_throttle(void)
{
	struct error err;
	struct renew_throttle *g = renew_throttle_new(&err);

	assert_non_null(g);
	return g;
}

static void a_link_passes_once_per_interval(void **state)
{
	struct renew_throttle *g = make_throttle();

	(void)state;
	assert_true(renew_throttle_admit(g, 7, 5000, 1000));
	assert_false(renew_throttle_admit(g, 7, 5999, 1000));
	assert_true(renew_throttle_admit(g, 7, 6000, 1000));
	renew_throttle_free(g);
}

/* The owner has given the link a shorter life, or one without an end. */
static void the_interval_is_that_of_the_link_as_it_is_now(void **state)
{
	struct renew_throttle *g = make_throttle();

	(void)state;
	assert_true(renew_throttle_admit(g, 7, 5000, 21600000));
	assert_false(renew_throttle_admit(g, 7, 454999, 450000));
	assert_true(renew_throttle_admit(g, 7, 455000, 450000));
	assert_false(renew_throttle_admit(g, 7, 905000, 21600000));
	assert_false(renew_throttle_admit(g, 7, 905000, INT64_MAX));
	assert_true(renew_throttle_admit(g, 7, 905000, 450000));
	renew_throttle_free(g);
}

static void other_links_pass_meanwhile(void **state)
{
	struct renew_throttle *g = make_throttle();

	(void)state;
	for (uint64_t id = 1; id < 100; id++)
		assert_true(renew_throttle_admit(g, id, 0, 1000));
	renew_throttle_free(g);
}

static void neighbours_do_not_crowd_each_other_out(void **state)
{
	struct renew_throttle *g = make_throttle();
	int refused = 0;

	(void)state;
	for (uint64_t id = 1; id <= 1000; id++)
		renew_throttle_admit(g, UINT64_C(1) << 57 | id, 0, 1000);
	for (uint64_t id = 1; id <= 1000; id++)
		refused += !renew_throttle_admit(g, UINT64_C(1) << 57 | id, 1,
						 1000);
	assert_true(refused > 900);
	renew_throttle_free(g);
}

static void a_failed_renewal_may_be_tried_again(void **state)
{
	struct renew_throttle *g = make_throttle();

	(void)state;
	assert_true(renew_throttle_admit(g, 7, 0, 1000));
	renew_throttle_reset(g, 7);
	assert_true(renew_throttle_admit(g, 7, 1, 1000));
	renew_throttle_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_passes_once_per_interval),
		cmocka_unit_test(the_interval_is_that_of_the_link_as_it_is_now),
		cmocka_unit_test(other_links_pass_meanwhile),
		cmocka_unit_test(neighbours_do_not_crowd_each_other_out),
		cmocka_unit_test(a_failed_renewal_may_be_tried_again),
	};

	return cmocka_run_group_tests_name("renew_throttle", tests, NULL, NULL);
}
