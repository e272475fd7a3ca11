/* Sets of offsets, windows and findings of `collector verify`. */
#include "tests/unit/unit.h"

#include "collector/tools/offset_set.h"
#include "collector/tools/verify/event_findings.h"
#include "collector/tools/verify/window.h"

/* --- sets ------------------------------------------------------------------
 */

static void add_all(struct offset_set *s, const uint64_t *offsets, size_t count)
{
	struct error err;

	for (size_t i = 0; i < count; i++)
		assert_int_equal(offset_set_add(s, offsets[i], &err), 1);
}

static const uint64_t some[] = {0, 63, 64, 65535, 65536, 5, UINT64_MAX};
#define SOME (sizeof(some) / sizeof(some[0]))

static void a_set_has_what_was_added_in_any_order(void **state)
{
	struct offset_set s = {0};

	(void)state;
	add_all(&s, some, SOME);
	for (size_t i = 0; i < SOME; i++)
		assert_true(offset_set_has(&s, some[i]));
	assert_false(offset_set_has(&s, 1));
	assert_false(offset_set_has(&s, 65537));
	assert_int_equal(s.total, SOME);
	offset_set_free(&s);
}

static void what_is_added_again_is_told(void **state)
{
	struct offset_set s = {0};
	struct error err;

	(void)state;
	add_all(&s, some, SOME);
	assert_int_equal(offset_set_add(&s, 64, &err), 0);
	assert_int_equal(s.total, SOME);
	offset_set_free(&s);
}

static void a_count_includes_both_ends(void **state)
{
	struct offset_set s = {0};

	(void)state;
	add_all(&s, some, SOME);
	assert_int_equal(offset_set_count(&s, 0, UINT64_MAX), SOME);
	assert_int_equal(offset_set_count(&s, 63, 64), 2);
	assert_int_equal(offset_set_count(&s, 64, 65535), 2);
	assert_int_equal(offset_set_count(&s, 6, 62), 0);
	assert_int_equal(offset_set_count(&s, 9, 8), 0);
	offset_set_free(&s);
}

static void an_empty_set_has_nothing(void **state)
{
	const struct offset_set s = {0};

	(void)state;
	assert_false(offset_set_has(&s, 0));
	assert_int_equal(offset_set_count(&s, 0, UINT64_MAX), 0);
}

/* --- windows ---------------------------------------------------------------
 */

static int open_window(void **state)
{
	static struct window w;
	struct error err;

	*state = &w;
	return window_init(&w, &err);
}

static int close_window(void **state)
{
	window_release(*state);
	return 0;
}

static void a_window_takes_no_more_than_its_offsets(void **state)
{
	struct window *w = *state;

	window_begin(w, 100, 200);
	window_add_range(w, IN_KAFKA, 0, UINT64_MAX);
	window_add(w, IN_ROWS, 99);
	window_add(w, IN_ROWS, 200);
	window_add_word(w, IN_DEAD_LETTERS, 0, ~UINT64_C(0));
	assert_int_equal(window_count(w, IN_KAFKA), 100);
	assert_int_equal(window_count(w, IN_ROWS), 0);
	/* The word is 64 to 127; the window begins at 100. */
	assert_int_equal(window_count(w, IN_DEAD_LETTERS), 28);
}

static void a_window_begins_empty_each_time(void **state)
{
	struct window *w = *state;

	window_begin(w, 0, WINDOW_OFFSETS);
	window_add_range(w, IN_KAFKA, 0, WINDOW_OFFSETS);
	assert_int_equal(window_count(w, IN_KAFKA), WINDOW_OFFSETS);
	window_begin(w, 1000, 1000 + WINDOW_OFFSETS - 64);
	assert_int_equal(window_count(w, IN_KAFKA), 0);
}

static void runs_end_where_a_neighbour_is_missing(void **state)
{
	struct window *w = *state;
	uint64_t at = 60, first, last;

	window_begin(w, 60, 1000);
	window_add_range(w, IN_KAFKA, 60, 64);
	window_add(w, IN_KAFKA, 66);
	window_add_range(w, IN_KAFKA, 900, 999);
	assert_true(window_next_run(w, IN_KAFKA, &at, &first, &last));
	assert_true(first == 60 && last == 64);
	assert_true(window_next_run(w, IN_KAFKA, &at, &first, &last));
	assert_true(first == 66 && last == 66);
	assert_true(window_next_run(w, IN_KAFKA, &at, &first, &last));
	assert_true(first == 900 && last == 999);
	assert_false(window_next_run(w, IN_KAFKA, &at, &first, &last));
}

static void what_is_left_is_in_no_other_set(void **state)
{
	struct window *w = *state;

	window_begin(w, 10, 310);
	window_add_range(w, IN_KAFKA, 10, 299);
	window_add_range(w, IN_ROWS, 10, 99);
	window_add_range(w, IN_DEAD_LETTERS, 90, 109);
	window_subtract_from(w, IN_KAFKA,
			     1U << IN_ROWS | 1U << IN_DEAD_LETTERS);
	assert_int_equal(window_count(w, LEFT), 190);
	assert_int_equal(window_count_in(w, LEFT, 0, 110), 1);
	window_subtract(w, 1U << IN_KAFKA);
	assert_int_equal(window_count(w, LEFT), 10);
	assert_int_equal(window_count_both(w, IN_ROWS, IN_DEAD_LETTERS), 10);
	window_clear_range(w, LEFT, 0, 304);
	assert_int_equal(window_count(w, LEFT), 5);
}

static void a_set_shows_through_a_window(void **state)
{
	struct window *w = *state;
	struct offset_set s = {0};

	add_all(&s, some, SOME);
	window_begin(w, 5, 65536);
	window_add_set(w, IN_DEAD_LETTERS, &s);
	assert_int_equal(window_count(w, IN_DEAD_LETTERS), 4);
	offset_set_free(&s);
}

static void windows_follow_each_other_without_a_hole(void **state)
{
	struct window *w = *state;
	uint64_t first = 100, end = 3 * WINDOW_OFFSETS + 5, reach;

	while (first < end) {
		reach = window_reach(first, end);
		assert_true(reach > first);
		window_begin(w, first, reach);
		window_add_range(w, IN_KAFKA, first, reach - 1);
		assert_int_equal(window_count(w, IN_KAFKA), reach - first);
		first = reach;
	}
	assert_int_equal(first, end);
}

/* --- findings --------------------------------------------------------------
 */

static void note_finding(struct event_findings *f, enum event_finding_kind kind,
			 uint64_t first, uint64_t last)
{
	const struct event_finding finding = {kind,  0,	   1,
					      first, last, last - first + 1};
	struct error err;

	assert_int_equal(event_findings_note(f, &finding, &err), 0);
}

static void findings_that_go_on_are_one(void **state)
{
	struct event_findings f = {.max = 10};

	(void)state;
	note_finding(&f, FINDING_MISSING, 5, 9);
	note_finding(&f, FINDING_MISSING, 10, 10);
	note_finding(&f, FINDING_TWICE, 11, 11);
	note_finding(&f, FINDING_MISSING, 13, 13);
	assert_int_equal(f.count, 3);
	assert_true(f.list[0].first == 5 && f.list[0].last == 10);
	assert_int_equal(f.list[0].events, 6);
	assert_int_equal(event_findings_events(&f), 8);
	event_findings_release(&f);
}

static void the_first_are_named_and_all_are_counted(void **state)
{
	struct event_findings f = {.max = 2};

	(void)state;
	for (uint64_t i = 0; i < 10; i++)
		note_finding(&f, FINDING_MISSING, i * 2, i * 2);
	assert_int_equal(f.count, 2);
	assert_int_equal(f.unnamed, 8);
	assert_int_equal(f.events[FINDING_MISSING], 10);
	event_findings_release(&f);
}

#define IN_WINDOW(test)                                                        \
	cmocka_unit_test_setup_teardown(test, open_window, close_window)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_has_what_was_added_in_any_order),
		cmocka_unit_test(what_is_added_again_is_told),
		cmocka_unit_test(a_count_includes_both_ends),
		cmocka_unit_test(an_empty_set_has_nothing),
		IN_WINDOW(a_window_takes_no_more_than_its_offsets),
		IN_WINDOW(a_window_begins_empty_each_time),
		IN_WINDOW(runs_end_where_a_neighbour_is_missing),
		IN_WINDOW(what_is_left_is_in_no_other_set),
		IN_WINDOW(a_set_shows_through_a_window),
		IN_WINDOW(windows_follow_each_other_without_a_hole),
		cmocka_unit_test(findings_that_go_on_are_one),
		cmocka_unit_test(the_first_are_named_and_all_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
