/* The folder is still in use by another process, or cannot be opened. */
#include "tests/unit/redirector/event_spool_world.h"

#include <pthread.h>
#include <stdatomic.h>

static void a_folder_in_use_is_refused(void **state)
{
	struct error err = {0};

	assert_null(new_spool(*state, false, &err));
	assert_int_equal(err.code, ERROR_BUSY);
}

/* This needs a change of the configuration. */
static void a_folder_that_cannot_be_had_is_refused(void **state)
{
	struct world *w = *state;
	char nowhere[] = "/proc/none/spool";
	struct error err = {0};

	w->settings.spool_dir = nowhere;
	assert_null(new_spool(w, true, &err));
	assert_int_equal(err.code, ERROR_SYSTEM);
	w->settings.spool_dir = w->dir;
}

static void put_entries(struct event_journal *j, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_non_null(event_journal_put(j, 0, TIME, "event", 5));
}

/* Starts a spool that waits for the folder, and offers it some events; with
 * entries in the journal, if there is one. */
static struct event_spool *start_successor(struct world *w, size_t count,
					   struct event_journal *j)
{
	struct error err = {0};
	struct event_spool *next = new_spool(w, true, &err);

	if (!next)
		fail_msg("%s", err.text);
	event_spool_kafka_changed(next, false);
	assert_int_equal(event_spool_start(next, NULL, &err), 0);
	for (size_t i = 0; i < count; i++)
		assert_true(event_spool_offer(
			next, &(struct spool_event){
				      .time_ms = TIME,
				      .entry = j ? event_journal_put(j, 0, TIME,
								     "event", 5)
						 : NULL,
				      .data = "event",
				      .len = 5,
			      }));
	return next;
}

static void one_that_is_about_to_be_left_is_awaited(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 9, NULL);
	struct buf said = {0};

	assert_false(event_spool_is_open(next));
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), "in use by process "));
	start_spool(w);
	assert_int_equal(offer_events(w, 4, 100), 4);
	event_spool_free(w->spool);
	w->spool = next;
	await_open(next);
	event_spool_end(next);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 9 + 4);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(metric_value(w->metrics.spool_events), 9 + 4);
	buf_free(&said);
}

static void one_that_is_never_left_costs_what_is_counted(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 9, NULL);

	event_spool_end(next);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 0);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 9);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FAILED), 9);
	event_spool_free(next);
}

/* Kafka's thread puts its remaining events at the end. */
static void nobody_waits_for_it_at_the_end(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 0, NULL);
	char *bytes = calloc(1, 64 << 10);
	const struct spool_event event = {
		.time_ms = TIME, .data = bytes, .len = 64 << 10};

	while (event_spool_offer(next, &event))
		;
	event_spool_stop_replay(next);
	alarm(60);
	event_spool_put(next, &event);
	alarm(0);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	event_spool_free(next);
	free(bytes);
}

/* The former process may be killed while it drains. */
static void what_a_former_one_left_is_recovered_with_the_folder(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 0, NULL);
	struct event_journal *former = make_journal(w),
			     *lives = make_journal(w);

	put_entries(former, 7);
	put_entries(lives, 5);
	event_journal_free(former);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
	event_spool_free(w->spool);
	w->spool = next;
	await_open(next);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 7);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 7);
	event_journal_free(lives);
}

/* A spool without the folder neither spools nor loses events that have an
 * entry: the next process sends them. */
static void
one_that_is_never_left_costs_nothing_that_is_in_a_journal(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	struct event_spool *next = start_successor(w, 9, j);

	event_spool_stop_replay(next);
	event_spool_free(next);
	event_journal_free(j);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 9);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 9);
}

/* The thread that ends Kafka's client must not wait for room here, since only
 * the folder would give it. */
static void nobody_waits_for_room_at_the_end_of_one_without_folder(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	struct event_spool *next = start_successor(w, 0, NULL);
	char *event = calloc(1, 64 << 10);

	event_spool_stop_replay(next);
	for (int i = 0; i < 200; i++)
		event_spool_put(next, &(struct spool_event){
					      .time_ms = TIME,
					      .entry = event_journal_put(
						      j, 0, TIME, "event", 5),
					      .data = event,
					      .len = 64 << 10,
				      });
	event_spool_free(next);
	event_journal_free(j);
	free(event);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	assert_true(is_said(w, "; 0 lost"));
}

struct putting {
	struct event_spool *spool;
	struct spool_event event;
	atomic_bool is_back;
};

static void *put_event(void *arg)
{
	struct putting *p = arg;

	event_spool_put(p->spool, &p->event);
	p->is_back = true;
	return NULL;
}

static void what_is_put_waits_until_the_folder_is_left(void **state)
{
	struct world *w = *state;
	char *bytes = calloc(1, 64 << 10);
	struct putting p = {
		.event = {.time_ms = TIME, .data = bytes, .len = 64 << 10}};
	pthread_t thread;
	size_t taken = 0;

	w->settings.spool_max_bytes = 64 << 20;
	p.spool = start_successor(w, 0, NULL);
	while (event_spool_offer(p.spool, &p.event))
		taken++;
	assert_int_equal(pthread_create(&thread, NULL, put_event, &p), 0);
	/* In this time the spool would drop the event, or the events that wait.
	 */
	usleep(400000);
	assert_false(p.is_back);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	event_spool_free(w->spool);
	w->spool = p.spool;
	pthread_join(thread, NULL);
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), taken + 1);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	free(bytes);
}

/* The former process no longer matters. */
static void one_that_was_taken_over_is_not_said_to_be_in_use(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 0, NULL);

	await_said(w, "in use by process");
	assert_int_equal(log_file_count(&w->log, "waiting for the spool"), 1);
	assert_int_equal(metric_value(w->metrics.spool_missing), 1);
	event_spool_free(w->spool);
	w->spool = next;
	await_open(next);
	assert_false(is_said(w, "in use by process"));
	assert_int_equal(log_file_count(&w->log, "spool taken over"), 1);
	assert_int_equal(metric_value(w->metrics.spool_missing), 0);
}

static void one_that_is_never_left_costs_what_is_in_no_journal(void **state)
{
	struct world *w = *state;
	struct event_spool *next = start_successor(w, 9, NULL);

	event_spool_stop_replay(next);
	event_spool_end(next);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 9);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FAILED), 9);
	assert_true(is_said(w, "; 9 lost"));
	event_spool_free(next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SPOOL_TEST(a_folder_in_use_is_refused),
		EVENT_SPOOL_TEST(a_folder_that_cannot_be_had_is_refused),
		EVENT_SPOOL_TEST(one_that_is_about_to_be_left_is_awaited),
		EVENT_SPOOL_TEST(one_that_is_never_left_costs_what_is_counted),
		EVENT_SPOOL_TEST(nobody_waits_for_it_at_the_end),
		EVENT_SPOOL_TEST(
			what_a_former_one_left_is_recovered_with_the_folder),
		EVENT_SPOOL_TEST(
			one_that_is_never_left_costs_nothing_that_is_in_a_journal),
		EVENT_SPOOL_TEST(
			nobody_waits_for_room_at_the_end_of_one_without_folder),
		EVENT_SPOOL_TEST(what_is_put_waits_until_the_folder_is_left),
		EVENT_SPOOL_TEST(
			one_that_was_taken_over_is_not_said_to_be_in_use),
		EVENT_SPOOL_TEST(
			one_that_is_never_left_costs_what_is_in_no_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
