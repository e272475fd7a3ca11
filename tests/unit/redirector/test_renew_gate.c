#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "redirector/renew_gate.h"

static struct renew_gate *gate(void)
{
	struct error err;
	struct renew_gate *g = renew_gate_new(&err);

	assert_non_null(g);
	return g;
}

static void a_link_passes_once_per_interval(void **state)
{
	struct renew_gate *g = gate();

	(void)state;
	assert_true(renew_gate_pass(g, 7, 5000, 1000));
	assert_false(renew_gate_pass(g, 7, 5999, 1000));
	assert_true(renew_gate_pass(g, 7, 6000, 1000));
	renew_gate_free(g);
}

static void other_links_pass_meanwhile(void **state)
{
	struct renew_gate *g = gate();

	(void)state;
	for (uint64_t id = 1; id < 100; id++)
		assert_true(renew_gate_pass(g, id, 0, 1000));
	renew_gate_free(g);
}

static void neighbours_do_not_crowd_each_other_out(void **state)
{
	struct renew_gate *g = gate();
	int refused = 0;

	(void)state;
	for (uint64_t id = 1; id <= 1000; id++)
		renew_gate_pass(g, UINT64_C(1) << 57 | id, 0, 1000);
	for (uint64_t id = 1; id <= 1000; id++)
		refused += !renew_gate_pass(g, UINT64_C(1) << 57 | id, 1, 1000);
	assert_true(refused > 900);
	renew_gate_free(g);
}

static void a_failed_renewal_may_be_tried_again(void **state)
{
	struct renew_gate *g = gate();

	(void)state;
	assert_true(renew_gate_pass(g, 7, 0, 1000));
	renew_gate_forget(g, 7);
	assert_true(renew_gate_pass(g, 7, 1, 1000));
	renew_gate_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_passes_once_per_interval),
		cmocka_unit_test(other_links_pass_meanwhile),
		cmocka_unit_test(neighbours_do_not_crowd_each_other_out),
		cmocka_unit_test(a_failed_renewal_may_be_tried_again),
	};

	return cmocka_run_group_tests_name("renew_gate", tests, NULL, NULL);
}
