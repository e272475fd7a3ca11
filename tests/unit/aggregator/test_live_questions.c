/* Queries for the owners of links: when they are sent, and for which links. */
#include "tests/unit/aggregator/live_owners_world.h"

/* --- links of a query ----------------------------------------------------- */

static void a_question_has_so_many_links_and_the_next_one_the_rest(void **state)
{
	struct world *w = *state;

	archive_has(1, ASKED_MAX + 2);
	find_owners(w, 1, ASKED_MAX + 2);
	assert_int_equal(ask_archive(w), ASKED_MAX);
	assert_told(w, ASKED_MAX, 0);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 2);
	assert_told(w, ASKED_MAX + 2, 0);
}

static void no_click_is_given_up_before_its_link_was_asked_for(void **state)
{
	struct world *w = *state;

	archive_has(ASKED_MAX + 1, ASKED_MAX + 1);
	find_owners(w, 1, ASKED_MAX + 1);
	now_ms += WAIT_MS;
	assert_int_equal(ask_archive(w), ASKED_MAX);
	assert_told(w, 0, 0);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 1);
	assert_told(w, 1, 0);
	assert_int_equal(w->last_found, ASKED_MAX + 1);
}

static void links_that_the_archive_lacks_keep_no_other_waiting(void **state)
{
	struct world *w = *state;

	find_owners(w, 1, ASKED_MAX);
	assert_int_equal(ask_archive(w), ASKED_MAX);
	find_owners(w, ASKED_MAX + 1, ASKED_MAX + 2);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), ASKED_MAX);
	assert_int_equal(archive.asked[0], ASKED_MAX + 1);
	assert_int_equal(archive.asked[1], ASKED_MAX + 2);
	assert_int_equal(archive.asked[2], 1);
}

static void a_question_has_no_link_twice_in_two_rounds(void **state)
{
	struct world *w = *state;

	find_owners(w, 1, 2);
	assert_int_equal(ask_archive(w), 2);
	find_owners(w, 3, 4);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 4);
}

/* --- the worker ----------------------------------------------------------- */

static void one_question_is_under_way_at_a_time(void **state)
{
	struct world *w = *state;

	archive.is_slow = true;
	find_owner(w, 7);
	live_owners_ask(w->owners);
	sem_wait(&archive.begun);
	find_owner(w, 8);
	now_ms += PAUSE_MS;
	live_owners_ask(w->owners);
	archive.is_slow = false;
	sem_post(&archive.may_end);
	await_worker(w);
	assert_int_equal(archive.questions, 1);
	now_ms += PAUSE_MS;
	assert_int_equal(ask_archive(w), 2);
}

static void run_nothing(struct work *work, unsigned index)
{
	(void)work;
	(void)index;
}

static void what_finds_no_worker_is_asked_with_the_next_call(void **state)
{
	struct work other = {.run = run_nothing};
	struct world *w = *state;

	find_owner(w, 7);
	stop_worker(w);
	assert_true(workers_push(w->workers, &other));
	live_owners_ask(w->owners);
	let_worker_go_on(w);
	await_worker(w);
	assert_int_equal(archive.questions, 0);
	assert_int_equal(ask_archive(w), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWNERS_TEST(
			a_question_has_so_many_links_and_the_next_one_the_rest),
		OWNERS_TEST(no_click_is_given_up_before_its_link_was_asked_for),
		OWNERS_TEST(links_that_the_archive_lacks_keep_no_other_waiting),
		OWNERS_TEST(a_question_has_no_link_twice_in_two_rounds),
		OWNERS_TEST(one_question_is_under_way_at_a_time),
		OWNERS_TEST(what_finds_no_worker_is_asked_with_the_next_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
