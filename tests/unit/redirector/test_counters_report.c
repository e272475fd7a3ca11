#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/counters_report.h"
#include "schemas/counters.pb-c.h"

static const struct counters_origin origin = {"here:8080", "edge-1", 7, 1000};

static Shortloop__RedirectorCounters *
record_of(const struct counters_state *state, const struct hour_counts *counts)
{
	struct buf out = {0};
	Shortloop__RedirectorCounters *m;

	counters_record_put(&out, &origin, state, counts);
	assert_false(out.failed);
	m = shortloop__redirector_counters__unpack(NULL, out.len,
						   (const uint8_t *)out.data);
	assert_non_null(m);
	buf_free(&out);
	return m;
}

static void a_record_says_whose_it_is_and_of_when(void **state)
{
	const struct counters_state last = {12, 1800000000000, true, false};
	const struct hour_counts counts = {.hour = 500000};
	Shortloop__RedirectorCounters *m = record_of(&last, &counts);

	(void)state;
	assert_string_equal(m->instance, "here:8080");
	assert_string_equal(m->edge, "edge-1");
	assert_int_equal(m->boot, 7);
	assert_int_equal(m->started_ms, 1000);
	assert_int_equal(m->sequence, 12);
	assert_int_equal(m->hour_ms, UINT64_C(500000) * 3600000);
	assert_int_equal(m->until_ms, UINT64_C(1800000000000));
	assert_true(m->ended);
	assert_false(m->inexact);
	shortloop__redirector_counters__free_unpacked(m, NULL);
}

static void each_counter_has_a_field_of_its_own(void **state)
{
	const struct counters_state any = {1, 1, false, true};
	struct hour_counts counts = {.hour = 1};
	Shortloop__RedirectorCounters *m;

	(void)state;
	for (uint64_t i = 0; i < HOUR_COUNTERS; i++)
		counts.n[i] = i + 1;
	m = record_of(&any, &counts);
	assert_int_equal(m->redirected, HOUR_REDIRECTED + 1);
	assert_int_equal(m->not_found, HOUR_NOT_FOUND + 1);
	assert_int_equal(m->expired, HOUR_EXPIRED + 1);
	assert_int_equal(m->blocked, HOUR_BLOCKED + 1);
	assert_int_equal(m->head, HOUR_HEAD + 1);
	assert_int_equal(m->silent, HOUR_SILENT + 1);
	assert_int_equal(m->produced, HOUR_PRODUCED + 1);
	assert_int_equal(m->refused, HOUR_REFUSED + 1);
	assert_int_equal(m->acknowledged, HOUR_ACKNOWLEDGED + 1);
	assert_int_equal(m->undelivered, HOUR_UNDELIVERED + 1);
	assert_int_equal(m->spooled, HOUR_SPOOLED + 1);
	assert_int_equal(m->replayed, HOUR_REPLAYED + 1);
	assert_int_equal(m->withheld, HOUR_WITHHELD + 1);
	assert_true(m->inexact);
	shortloop__redirector_counters__free_unpacked(m, NULL);
}

static void a_report_is_due_right_after_each_whole_minute(void **state)
{
	(void)state;
	assert_int_equal(counters_report_wait(120000, 60000), 60001);
	assert_int_equal(counters_report_wait(120001, 60000), 60000);
	assert_int_equal(counters_report_wait(179999, 60000), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_says_whose_it_is_and_of_when),
		cmocka_unit_test(each_counter_has_a_field_of_its_own),
		cmocka_unit_test(a_report_is_due_right_after_each_whole_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
