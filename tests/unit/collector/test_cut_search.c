/* The search finds where a log was cut, whichever events are missing. */
#include "tests/unit/unit.h"

#include <stdbool.h>
#include <stdint.h>

#include "collector/exactly_once/cut_search.h"

enum {
	FEW = 10,
	MANY = 100000,
	NEVER = -1,
};

/* Events before `cut` are the same; events with a bit in `holes` are missing.
 */
struct log {
	size_t count, cut;
	uint32_t holes;
	size_t looks;
	long fails_at; /* reading that event fails; or NEVER */
};

static enum cut_found found_at(const struct log *log, size_t at)
{
	if (at < FEW && log->holes >> at & 1)
		return CUT_FOUND_HOLE;
	return at < log->cut ? CUT_FOUND_SAME : CUT_FOUND_OTHER;
}

static int inspect_event(void *arg, size_t at, enum cut_found *ret,
			 struct error *err)
{
	struct log *log = arg;

	assert_true(at < log->count);
	log->looks++;
	if (log->fails_at == (long)at)
		return error_set(err, ERROR_REMOTE, "no answer");
	*ret = found_at(log, at);
	return 0;
}

static void find_cut(struct log *log, size_t *there, size_t *other)
{
	struct error err = {0};

	log->looks = 0;
	assert_int_equal(
		cut_search(log->count, inspect_event, log, there, other, &err),
		0);
}

/* Computes the place after the last event that is the same, and the first one
 * that differs. */
static void compute_expected_cut(const struct log *log, size_t *there,
				 size_t *other)
{
	*there = 0;
	*other = log->count;
	for (size_t at = 0; at < log->count; at++) {
		enum cut_found found = found_at(log, at);

		if (found == CUT_FOUND_SAME)
			*there = at + 1;
		if (found == CUT_FOUND_OTHER && *other == log->count)
			*other = at;
	}
}

static void every_cut_is_found_among_all_holes(void **state)
{
	struct log log = {.fails_at = NEVER};
	size_t there, other, expected_there, expected_other;

	(void)state;
	for (log.count = 0; log.count <= FEW; log.count++)
		for (log.cut = 0; log.cut <= log.count; log.cut++)
			for (log.holes = 0; log.holes < 1U << log.count;
			     log.holes++) {
				find_cut(&log, &there, &other);
				compute_expected_cut(&log, &expected_there,
						     &expected_other);
				assert_int_equal(there, expected_there);
				assert_int_equal(other, expected_other);
			}
}

/* Each event that is read costs a query to Kafka. */
static void few_of_many_events_are_looked_at(void **state)
{
	static const size_t cuts[] = {0, 1, MANY / 3, MANY / 2, MANY - 1, MANY};
	struct log log = {.count = MANY, .fails_at = NEVER};
	size_t there, other;

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		log.cut = cuts[i];
		find_cut(&log, &there, &other);
		assert_int_equal(there, cuts[i]);
		assert_int_equal(other, cuts[i]);
		assert_true(log.looks <= 17);
	}
}

/* Around a hole, no event is read twice. */
static void all_holes_are_looked_at_once(void **state)
{
	struct log log = {
		.count = FEW, .holes = (1U << FEW) - 1, .fails_at = NEVER};
	size_t there, other;

	(void)state;
	find_cut(&log, &there, &other);
	assert_int_equal(log.looks, FEW);
	assert_int_equal(there, 0);
	assert_int_equal(other, FEW);
}

static void a_look_that_fails_ends_the_search(void **state)
{
	struct log log = {.count = FEW, .cut = 2};
	size_t there, other;
	struct error err = {0};

	(void)state;
	log.fails_at = FEW / 2;
	assert_int_equal(
		cut_search(FEW, inspect_event, &log, &there, &other, &err), -1);
	assert_int_equal(err.code, ERROR_REMOTE);
	/* The event before a hole, and the event after all holes. */
	log.holes = 1U << FEW / 2;
	log.fails_at = FEW / 2 - 1;
	assert_int_equal(
		cut_search(FEW, inspect_event, &log, &there, &other, &err), -1);
	log.holes = (2U << FEW / 2) - 1;
	log.fails_at = FEW / 2 + 1;
	assert_int_equal(
		cut_search(FEW, inspect_event, &log, &there, &other, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_cut_is_found_among_all_holes),
		cmocka_unit_test(few_of_many_events_are_looked_at),
		cmocka_unit_test(all_holes_are_looked_at_once),
		cmocka_unit_test(a_look_that_fails_ends_the_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
