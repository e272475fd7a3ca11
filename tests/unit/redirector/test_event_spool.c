/* The queue, and the counts of events that it accepts or refuses. */
#include "tests/unit/redirector/event_spool_world.h"

#include "common/spool/segment.h"
#include "common/spool/spool.h"

static void what_is_taken_is_spooled_before_it_ends(void **state)
{
	struct world *w = *state;
	const struct spool_options options = {w->dir, 1 << 20, 0};
	struct spool_usage u;
	struct spool *files;
	struct error err;

	start_spool(w);
	assert_int_equal(offer_events(w, 100, 300), 100);
	event_spool_put(w->spool, &(struct spool_event){
					  .time_ms = TIME,
					  .maybe_sent = true,
					  .data = "last",
					  .len = 4,
				  });
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 101);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
	assert_int_equal(metric_of(w, COUNTER_SPOOLED), 101);
	assert_int_equal(metric_value(w->metrics.spool_events), 101);
	assert_int_equal(metric_value(w->metrics.spool_bytes),
			 SEGMENT_HEADER_SIZE + 100 * (SPOOL_HEADER_SIZE + 300) +
				 SPOOL_HEADER_SIZE + 4);
	assert_true(is_said(w, ", 0 lost"));
	event_spool_free(w->spool);
	w->spool = NULL;
	files = spool_open(&options, &err);
	assert_non_null(files);
	spool_usage(files, &u);
	assert_int_equal(u.records, 101);
	assert_int_equal(u.next_ms, TIME);
	spool_free(files);
}

static void its_queue_takes_so_much_and_nobody_waits(void **state)
{
	struct world *w = *state;
	size_t taken;

	/* Nothing is written: the thread has not begun. */
	taken = offer_events(w, 1000, 64 << 10);
	assert_true(taken > 100 && taken < 128);
	/* The caller counts refused events; they are not lost here. */
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 0);
}

static void what_is_beyond_the_spools_bound_is_undelivered(void **state)
{
	struct world *w = *state;
	size_t taken, spooled;

	taken = offer_events(w, 40, 64 << 10);
	assert_int_equal(taken, 40);
	start_spool(w);
	event_spool_end(w->spool);
	spooled = count_in_hour(w, HOUR_SPOOLED);
	assert_int_equal(spooled, 15);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), taken - spooled);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_SPOOL_FULL),
			 taken - spooled);
	assert_true(is_said(w, " 25 lost"));
	assert_int_equal(log_file_count(&w->log, " events=25 "), 1);
}

static void a_former_ones_events_are_told_at_once(void **state)
{
	struct world *w = *state;
	struct buf said = {0};

	start_spool(w);
	offer_events(w, 7, 100);
	event_spool_free(w->spool);
	open_spool(w);
	assert_int_equal(metric_value(w->metrics.spool_events), 7);
	assert_true(metric_value(w->metrics.spool_oldest) >=
		    (uint64_t)(clock_real_ms() - TIME) / 1000 - 60);
	assert_true(health_report(w->health, &said));
	assert_non_null(strstr(buf_cstr(&said), " 7 events, "));
	buf_free(&said);
}

static void an_idle_spool_says_nothing(void **state)
{
	struct world *w = *state;

	start_spool(w);
	event_spool_end(w->spool);
	assert_false(is_said(w, "spool"));
	assert_int_equal(log_file_count(&w->log, "dropped"), 0);
}

/* The caller counts the events; the spool reports them. */
static void what_is_refused_is_told_as_lost(void **state)
{
	struct world *w = *state;
	const struct spool_event put = {
		.time_ms = TIME, .data = "event", .len = 5};
	size_t refused;
	char lost[32], events[32];

	w->settings.spool_max_bytes = 64 << 20;
	start_again(w);
	event_spool_put(w->spool, &put);
	event_spool_put(w->spool, &put);
	refused = 2 + 300 - offer_events(w, 300, 64 << 10);
	assert_true(refused > 2);
	snprintf(lost, sizeof(lost), " %zu lost", refused);
	snprintf(events, sizeof(events), " events=%zu ", refused);
	start_spool(w);
	event_spool_end(w->spool);
	assert_true(is_said(w, lost));
	assert_int_equal(log_file_count(&w->log, "click events dropped"), 1);
	assert_int_equal(log_file_count(&w->log, events), 1);
}

/* Before the thread runs, no event would leave the queue. */
static void what_is_put_before_the_start_is_given_up(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);

	event_spool_put(w->spool,
			&(struct spool_event){
				.time_ms = TIME,
				.entry = event_journal_put(j, 0, TIME, "e", 1),
				.data = "e",
				.len = 1,
			});
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	assert_int_equal(metric_of(w, COUNTER_DROPPED_EXPIRED), 1);
	/* The event is lost, so no other process may send it. */
	event_journal_free(j);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
}

static void what_is_longer_than_a_record_is_not_taken(void **state)
{
	struct world *w = *state;
	struct event_journal *j = make_journal(w);
	char *bytes = calloc(1, SPOOL_PAYLOAD_MAX + 1);
	struct spool_event event = {.time_ms = TIME, .data = bytes};

	w->settings.spool_max_bytes = 64 << 20;
	start_again(w);
	start_spool(w);
	event.len = SPOOL_PAYLOAD_MAX;
	assert_true(event_spool_offer(w->spool, &event));
	event_spool_put(w->spool, &event);
	event.len = SPOOL_PAYLOAD_MAX + 1;
	assert_false(event_spool_offer(w->spool, &event));
	event.entry = event_journal_put(j, 0, TIME, "e", 1);
	event_spool_put(w->spool, &event);
	event_spool_end(w->spool);
	assert_int_equal(count_in_hour(w, HOUR_SPOOLED), 2);
	assert_int_equal(count_in_hour(w, HOUR_UNDELIVERED), 1);
	event_journal_free(j);
	event_spool_recover(w->spool);
	assert_int_equal(metric_of(w, COUNTER_RECOVERED), 0);
	free(bytes);
}

/* The clock may have been set back since. */
static void an_event_of_the_future_is_of_no_age(void **state)
{
	struct world *w = *state;
	const struct spool_event event = {
		.time_ms = clock_real_ms() + CLOCK_HOUR,
		.data = "event",
		.len = 5,
	};

	start_spool(w);
	assert_true(event_spool_offer(w->spool, &event));
	event_spool_end(w->spool);
	assert_int_equal(metric_value(w->metrics.spool_events), 1);
	assert_int_equal(metric_value(w->metrics.spool_oldest), 0);
	assert_true(is_said(w, " oldest 0s;"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		EVENT_SPOOL_TEST(what_is_taken_is_spooled_before_it_ends),
		EVENT_SPOOL_TEST(its_queue_takes_so_much_and_nobody_waits),
		EVENT_SPOOL_TEST(
			what_is_beyond_the_spools_bound_is_undelivered),
		EVENT_SPOOL_TEST(a_former_ones_events_are_told_at_once),
		EVENT_SPOOL_TEST(an_idle_spool_says_nothing),
		EVENT_SPOOL_TEST(what_is_refused_is_told_as_lost),
		EVENT_SPOOL_TEST(what_is_put_before_the_start_is_given_up),
		EVENT_SPOOL_TEST(what_is_longer_than_a_record_is_not_taken),
		EVENT_SPOOL_TEST(an_event_of_the_future_is_of_no_age),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
