/* The last time at which a code was named. */
#include "tests/unit/unit.h"

#include <string.h>

#include "redirector/lookup/recent_changes.h"

static struct http_slice slice_of(const char *text)
{
	return (struct http_slice){text, strlen(text)};
}

static int make_changes(void **state)
{
	struct error err;

	*state = recent_changes_new(&err);
	return *state ? 0 : -1;
}

static int drop_changes(void **state)
{
	recent_changes_free(*state);
	return 0;
}

static void what_was_not_named_never_changed(void **state)
{
	assert_true(recent_changes_last(*state, slice_of("abc")) == INT64_MIN);
}

static void the_last_time_counts(void **state)
{
	recent_changes_note(*state, slice_of("abc"), 1000);
	recent_changes_note(*state, slice_of("abc"), 2000);
	assert_int_equal(recent_changes_last(*state, slice_of("abc")), 2000);
	recent_changes_note(*state, slice_of("abc"), 1500);
	assert_int_equal(recent_changes_last(*state, slice_of("abc")), 2000);
}

static void a_flood_of_others_hides_no_change(void **state)
{
	char other[16];

	recent_changes_note(*state, slice_of("abc"), 5000);
	for (int i = 0; i < 3 * RECENT_CHANGES; i++) {
		snprintf(other, sizeof(other), "x%d", i);
		recent_changes_note(*state, slice_of(other), i);
	}
	assert_true(recent_changes_last(*state, slice_of("abc")) >= 5000);
}

static void few_others_share_a_place(void **state)
{
	unsigned named = 0;
	char other[16];

	for (int i = 0; i < RECENT_CHANGES / 8; i++) {
		snprintf(other, sizeof(other), "x%d", i);
		recent_changes_note(*state, slice_of(other), 1000);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(other, sizeof(other), "y%d", i);
		named += recent_changes_last(*state, slice_of(other)) == 1000;
	}
	/* At most one in eight is expected. */
	assert_true(named < 300);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_changes, drop_changes)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_not_named_never_changed),
		TEST(the_last_time_counts),
		TEST(a_flood_of_others_hides_no_change),
		TEST(few_others_share_a_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
