#include <math.h>

#include "allocator/ledger/outlook.h"
#include "common/clock.h"
#include "tests/unit/unit.h"

/* Noon of some day. */
#define NOON (INT64_C(20000) * CLOCK_DAY + 12 * CLOCK_HOUR)

static struct space_ledger ledger_of(int64_t age)
{
	return (struct space_ledger){
		.now = NOON,
		.created = NOON - age,
		.capacity = 10000,
		.cursor = 4000,
		.pooled = 300,
		.quarantined = 700,
	};
}

static struct outlook outlook_of(const struct space_ledger *ledger)
{
	struct outlook o;

	outlook_compute(ledger, &o);
	return o;
}

static void rates_are_over_seven_days_and_today(void **state)
{
	struct space_ledger l = ledger_of(100 * CLOCK_DAY);
	struct outlook o;

	(void)state;
	for (int i = 0; i < LEDGER_DAYS; i++)
		l.days[i] = (struct space_day){.granted = 150,
					       .handed_back = 75,
					       .reclaimed = 30,
					       .links_created = 7500};
	o = outlook_of(&l);
	assert_true(fabs(o.days - 7.5) < 1e-9);
	assert_true(fabs(o.issued_per_day - 80) < 1e-9);
	assert_true(fabs(o.reclaimed_per_day - 32) < 1e-9);
	assert_true(fabs(o.created_per_day - 8000) < 1e-9);
}

static void a_young_space_has_rates_since_it_was_made(void **state)
{
	struct space_ledger l = ledger_of(2 * CLOCK_DAY);

	(void)state;
	l.days[0].granted = 40;
	l.days[1].granted = 60;
	assert_true(fabs(outlook_of(&l).issued_per_day - 50) < 1e-9);
}

static void rates_of_less_than_a_day_are_extrapolated(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_DAY - CLOCK_MINUTE);
	struct outlook o = outlook_of(&l);

	(void)state;
	assert_true(outlook_is_extrapolated(&o));
	l = ledger_of(CLOCK_DAY);
	o = outlook_of(&l);
	assert_false(outlook_is_extrapolated(&o));
}

static void a_newborn_space_is_judged_by_an_hour(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_SECOND);

	(void)state;
	l.days[0].granted = 2;
	assert_true(fabs(outlook_of(&l).issued_per_day - 48) < 1e-9);
}

static void what_waits_in_the_pool_is_free(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_DAY);

	(void)state;
	assert_int_equal(outlook_of(&l).free, 7000);
}

static void exhaustion_is_free_blocks_by_rate(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_DAY);
	struct outlook o;

	(void)state;
	l.days[0].granted = 100;
	l.days[0].reclaimed = 30;
	o = outlook_of(&l);
	assert_true(fabs(o.days_left - 70) < 1e-9);
	assert_true(fabs(o.days_left_reclaim - 100) < 1e-9);
}

static void a_space_that_reclaims_as_much_as_it_issues_lasts(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_DAY);
	struct outlook o;

	(void)state;
	l.days[0].granted = 100;
	l.days[0].reclaimed = 100;
	o = outlook_of(&l);
	assert_true(isfinite(o.days_left));
	assert_true(isinf(o.days_left_reclaim));
}

static void a_space_nobody_uses_lasts(void **state)
{
	struct space_ledger l = ledger_of(CLOCK_DAY);

	(void)state;
	assert_true(isinf(outlook_of(&l).days_left));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_over_seven_days_and_today),
		cmocka_unit_test(a_young_space_has_rates_since_it_was_made),
		cmocka_unit_test(rates_of_less_than_a_day_are_extrapolated),
		cmocka_unit_test(a_newborn_space_is_judged_by_an_hour),
		cmocka_unit_test(what_waits_in_the_pool_is_free),
		cmocka_unit_test(exhaustion_is_free_blocks_by_rate),
		cmocka_unit_test(
			a_space_that_reclaims_as_much_as_it_issues_lasts),
		cmocka_unit_test(a_space_nobody_uses_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
