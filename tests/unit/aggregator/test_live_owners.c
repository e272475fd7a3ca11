/* Clicks whose links are queried: known owners, and clicks that wait. */
#include "tests/unit/aggregator/live_owners_world.h"

/* --- known owners --------------------------------------------------------- */

static void a_click_is_handed_out_with_its_owner(void **state)
{
	struct world *w = *state;
	struct live_event *e = live_click_make(7, "");

	archive_has(1, 9);
	live_owners_find(w->owners, e);
	assert_told(w, 0, 0);
	assert_int_equal(ask_archive(w), 1);
	assert_int_equal(archive.asked[0], 7);
	assert_told(w, 1, 0);
	assert_int_equal(w->last_found, 7);
	/* The click does not wait any more. */
	assert_int_equal(atomic_load(&e->refs), 1);
	live_event_release(e);
}

static void nothing_is_asked_when_nothing_waits(void **state)
{
	struct world *w = *state;

	assert_int_equal(ask_archive(w), 0);
	archive_has(7, 7);
	find_owner(w, 7);
	assert_int_equal(ask_archive(w), 1);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 0);
}

static void an_owner_is_good_for_some_seconds(void **state)
{
	struct world *w = *state;

	archive_has(7, 7);
	find_owner(w, 7);
	ask_archive(w);
	now_ms += KNOWN_MS;
	find_owner(w, 7);
	assert_told(w, 2, 0);
	now_ms += 1;
	find_owner(w, 7);
	assert_told(w, 2, 0);
	/* The link has another owner now. */
	archive.version++;
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, 3, 0);
}

/* The memory for known owners is smaller than these links need. */
static void no_click_gets_the_owner_of_another_link(void **state)
{
	const uint64_t links = 20000;
	struct world *w = *state;
	size_t before;

	archive_has(1, links);
	for (uint64_t first = 1; first <= links; first += ASKED_MAX) {
		find_owners(w, first, first + ASKED_MAX - 1);
		assert_int_equal(ask_archive(w), ASKED_MAX);
		now_ms += PAUSE_MS;
	}
	assert_told(w, links, 0);
	before = w->found;
	find_owners(w, 1, links);
	assert_int_equal(w->wrong, 0);
	/* Most of the links are still known. */
	assert_in_range(w->found - before, links / 2, links - 1);
}

/* --- waiting clicks ------------------------------------------------------- */

static void a_link_that_is_in_no_archive_yet_is_asked_for_again(void **state)
{
	struct world *w = *state;

	find_owner(w, 7);
	assert_int_equal(ask_archive(w), 1);
	now_ms += PAUSE_MS - 1;
	assert_int_equal(ask_archive(w), 0);
	archive_has(7, 7);
	now_ms += 1;
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, 1, 0);
}

/* A click waits for a link that no archive has until this long after it came.
 */
static struct live_event *wait_for_nothing(struct world *w, int64_t wait)
{
	struct live_event *e = live_click_make(7, "");

	live_owners_find(w->owners, e);
	now_ms += wait;
	assert_int_equal(ask_archive(w), 1);
	return e;
}

static void a_click_whose_link_is_in_no_archive_is_given_up(void **state)
{
	struct world *w = *state;
	struct live_event *e = wait_for_nothing(w, WAIT_MS - 1);

	assert_int_equal(atomic_load(&e->refs), 2);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 1);
	assert_int_equal(atomic_load(&e->refs), 1);
	live_event_release(e);
	e = wait_for_nothing(w, WAIT_MS);
	assert_int_equal(atomic_load(&e->refs), 1);
	live_event_release(e);
	/* Nobody may see the click, so it does not count as lost either. */
	assert_told(w, 0, 0);
}

static void a_click_is_lost_when_the_archive_does_not_answer(void **state)
{
	struct world *w = *state;
	struct live_event *e;

	archive.fails = true;
	e = wait_for_nothing(w, WAIT_MS - 1);
	assert_told(w, 0, 0);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, 0, 1);
	assert_int_equal(atomic_load(&e->refs), 1);
	live_event_release(e);
}

static void an_archive_that_answers_again_is_believed(void **state)
{
	struct world *w = *state;

	archive_has(7, 7);
	archive.fails = true;
	live_event_release(wait_for_nothing(w, 0));
	archive.fails = false;
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, 1, 0);
}

static void no_more_clicks_wait_than_there_is_room_for(void **state)
{
	struct world *w = *state;

	for (int i = 0; i < WAITING_MAX; i++)
		find_owner(w, 7);
	assert_told(w, 0, 0);
	find_owner(w, 7);
	assert_told(w, 0, 1);
	/* All clicks are of one link, which is queried once. */
	archive_has(7, 7);
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, WAITING_MAX, 1);
}

static void what_waits_ends_with_its_owners(void **state)
{
	struct world *w = *state;
	struct live_event *e = live_click_make(7, "");

	live_owners_find(w->owners, e);
	live_owners_free(w->owners);
	w->owners = NULL;
	assert_int_equal(atomic_load(&e->refs), 1);
	live_event_release(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWNERS_TEST(a_click_is_handed_out_with_its_owner),
		OWNERS_TEST(nothing_is_asked_when_nothing_waits),
		OWNERS_TEST(an_owner_is_good_for_some_seconds),
		OWNERS_TEST(no_click_gets_the_owner_of_another_link),
		OWNERS_TEST(
			a_link_that_is_in_no_archive_yet_is_asked_for_again),
		OWNERS_TEST(a_click_whose_link_is_in_no_archive_is_given_up),
		OWNERS_TEST(a_click_is_lost_when_the_archive_does_not_answer),
		OWNERS_TEST(an_archive_that_answers_again_is_believed),
		OWNERS_TEST(no_more_clicks_wait_than_there_is_room_for),
		OWNERS_TEST(what_waits_ends_with_its_owners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
