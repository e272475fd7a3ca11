/* The queries about a partition, with a real ClickHouse: its stored and
 * reported rows, its epochs, and skipped offsets. */
#include "tests/unit/collector/stored_world.h"

#include "common/clock.h"

/* --- epochs --------------------------------------------------------------- */

static void assert_epoch(struct clickhouse_server *s, const char *topic,
			 uint32_t configured, struct stored_epoch expected)
{
	struct stored_key key = clicks_of(topic);
	struct error err = {0};
	struct stored_epoch got;

	if (stored_epoch(s->ch, &key, configured, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got.number, expected.number);
	assert_int_equal(got.resumes, expected.resumes);
	assert_int_equal(got.begin, expected.begin);
	assert_int_equal(got.gap, expected.gap);
}

static void a_partition_is_in_the_life_that_was_decided_last(void **state)
{
	struct clickhouse_server *s = *state;

	assert_epoch(s, "lives", 1, (struct stored_epoch){.number = 1});
	store_decision(s, "lives", "3, 5, 'renew', 0, 0");
	assert_epoch(s, "lives", 1, (struct stored_epoch){.number = 5});
	assert_epoch(s, "lives", 5, (struct stored_epoch){.number = 5});
	assert_epoch(s, "lives", 6, (struct stored_epoch){.number = 6});
	/* Decisions about other partitions do not count, nor do decisions that
	 * begin no epoch. */
	store_decision(s, "lives", "4, 9, 'renew', 0, 0");
	store_decision(s, "lives", "4, 9, 'resume', 70, 7");
	store_decision(s, "other lives", "3, 9, 'resume', 70, 7");
	store_decision(s, "lives", "3, 9, 'same', 70, 7");
	store_decision(s, "lives", "3, 9, 'pass', 70, 7");
	assert_epoch(s, "lives", 1, (struct stored_epoch){.number = 5});
}

static void one_that_resumes_says_where(void **state)
{
	struct clickhouse_server *s = *state;

	store_decision(s, "resumes", "3, 2, 'resume', 50, 20");
	assert_epoch(s, "resumes", 1, (struct stored_epoch){2, true, 50, 20});
	/* Two decisions have the same time: the one that reads more is valid.
	 */
	store_decision(s, "resumes", "3, 2, 'resume', 40, 30");
	assert_epoch(s, "resumes", 1, (struct stored_epoch){2, true, 40, 20});
	store_decision(s, "resumes", "3, 2, 'renew', 0, 0");
	assert_epoch(s, "resumes", 1, (struct stored_epoch){.number = 2});
	/* The configured epoch is not looked up. */
	store_decision(s, "configured", "3, 2, 'resume', 50, 20");
	assert_epoch(s, "configured", 2, (struct stored_epoch){.number = 2});
}

static void a_partition_is_the_same_up_to_what_was_reported(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("same");
	struct error err = {0};
	bool same = true;

	store_decision(s, "same", "4, 2, 'same', 10, 0");
	store_decision(s, "same", "3, 1, 'same', 10, 0");
	store_decision(s, "same", "3, 2, 'renew', 10, 0");
	store_decision(s, "other", "3, 2, 'same', 10, 0");
	assert_int_equal(stored_same(s->ch, &key, 10, &same, &err), 0);
	assert_false(same);
	store_decision(s, "same", "3, 2, 'same', 10, 0");
	assert_int_equal(stored_same(s->ch, &key, 11, &same, &err), 0);
	assert_false(same);
	assert_int_equal(stored_same(s->ch, &key, 9, &same, &err), 0);
	assert_false(same);
	assert_int_equal(stored_same(s->ch, &key, 10, &same, &err), 0);
	assert_true(same);
}

/* --- reports -------------------------------------------------------------- */

static struct stored_report report_of(struct clickhouse_server *s,
				      const char *topic)
{
	struct stored_key key = clicks_of(topic);
	struct stored_report ret;
	struct error err = {0};

	if (stored_report(s->ch, &key, &ret, &err) < 0)
		fail_msg("%s", err.text);
	return ret;
}

/* The time must be this many seconds ago, within a minute. */
static void assert_ago(int64_t real_ms, int64_t seconds)
{
	int64_t ago = (clock_real_ms() - real_ms) / 1000;

	assert_in_range(ago + 1000000, seconds + 1000000 - 60,
			seconds + 1000000 + 60);
}

static void the_greatest_offset_reported_counts(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_report r = report_of(s, "reports");

	assert_false(r.any);
	assert_false(r.batch);
	assert_int_equal(r.next, 0);
	store_report(s, "reports", (struct told){10, 19, 10, 0, 0, 100, 200});
	store_report(s, "reports", (struct told){0, 9, 10, 0, 0, 50, 300});
	/* Reports of other partitions do not count. */
	tell_of(s, "reports", 1, 3, 4, (struct told){0, 99, 1, 0, 0, 0, 0});
	tell_of(s, "reports", 2, 2, 4, (struct told){0, 99, 1, 0, 0, 0, 0});
	tell_of(s, "others", 2, 3, 4, (struct told){0, 99, 1, 0, 0, 0, 0});
	r = report_of(s, "reports");
	assert_true(r.any);
	assert_int_equal(r.next, 20);
	assert_true(r.batch);
	assert_int_equal(r.batch_last, 19);
	assert_ago(r.batch_ms, 200);
	/* Brokers' clocks may differ by ten minutes. */
	assert_ago(r.since_ms, 200 + 600);
}

static void dead_letters_and_gaps_are_reports_too(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_report r;

	store_report(s, "kinds", (struct told){0, 4, 5, 0, 0, 90, 90});
	store_report(s, "kinds", (struct told){5, 6, 0, 2, 0, 80, 80});
	r = report_of(s, "kinds");
	assert_int_equal(r.next, 7);
	assert_int_equal(r.batch_last, 6);
	/* The offsets of a gap were not read. */
	store_report(s, "kinds", (struct told){7, 9, 1, 0, 2, 70, 70});
	r = report_of(s, "kinds");
	assert_int_equal(r.next, 10);
	assert_int_equal(r.batch_last, 6);
	assert_ago(r.batch_ms, 80);
	store_report(s, "kinds", (struct told){10, 11, 0, 0, 2, 60, 60});
	r = report_of(s, "kinds");
	assert_int_equal(r.next, 12);
	assert_int_equal(r.batch_last, 6);
}

/* An empty report has last = first - 1; at offset 0 that is 2^64 - 1. */
static void an_empty_report_ends_where_it_begins(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_report r;

	store_report(s, "empty", (struct told){0, UINT64_MAX, 0, 0, 0, 90, 95});
	r = report_of(s, "empty");
	assert_true(r.any);
	assert_int_equal(r.next, 0);
	assert_false(r.batch);
	/* The time is from ClickHouse's clock, which may differ from Kafka's by
	 * an hour. */
	assert_ago(r.since_ms, 95 + 3600);
	/* A collector's own clock wrote both times, so they are not used. */
	store_report(s, "older", (struct told){7, 6, 0, 0, 0, 90, 90});
	r = report_of(s, "older");
	assert_int_equal(r.next, 7);
	assert_int_equal(r.since_ms, 0);
}

static void none_vouches_for_what_came_after_it(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_report r;

	/* Kafka's clock is ahead of ClickHouse's. */
	store_report(s, "ahead", (struct told){0, 9, 10, 0, 0, 300, -5000});
	r = report_of(s, "ahead");
	assert_ago(r.since_ms, 300 + 600);
	/* ClickHouse's clock went back since. */
	store_report(s, "back", (struct told){0, 9, 10, 0, 0, -5000, -5000});
	r = report_of(s, "back");
	assert_int_equal(r.next, 10);
	assert_ago(r.since_ms, 600);
}

static void reports_of_the_last_day_suffice(void **state)
{
	enum {
		DAY = 86400
	};
	struct clickhouse_server *s = *state;
	struct stored_report r;

	/* The newest day of the partition counts, however old it is. */
	store_report(s, "days",
		     (struct told){0, 9, 10, 0, 0, 3 * DAY, 3 * DAY});
	r = report_of(s, "days");
	assert_int_equal(r.next, 10);
	store_report(s, "days",
		     (struct told){10, 19, 10, 0, 0, 2 * DAY - 600, 0});
	store_report(s, "days", (struct told){20, 19, 0, 0, 0, 0, 60});
	r = report_of(s, "days");
	assert_true(r.any);
	assert_int_equal(r.next, 20);
	assert_false(r.batch);
	/* A report with a future time does not hide the last day. */
	store_report(s, "future", (struct told){0, 9, 10, 0, 0, 100, 100});
	store_report(s, "future", (struct told){0, 4, 5, 0, 0, -3 * DAY, 100});
	r = report_of(s, "future");
	assert_int_equal(r.next, 10);
}

static void an_added_partition_is_told_by_reports_of_others(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("added");
	struct error err = {0};
	bool added = true;

	/* The topic had four partitions, of which this is the last; then the
	 * number was unknown. */
	tell_of(s, "added", 2, 0, 4, (struct told){0, 9, 10, 0, 0, 0, 0});
	tell_of(s, "added", 2, 0, 0, (struct told){0, 9, 10, 0, 0, 0, 0});
	tell_of(s, "not added", 2, 0, 1, (struct told){0, 9, 10, 0, 0, 0, 0});
	assert_int_equal(stored_added(s->ch, &key, &added, &err), 0);
	assert_false(added);
	tell_of(s, "added", 1, 0, 3, (struct told){0, 9, 10, 0, 0, 0, 0});
	assert_int_equal(stored_added(s->ch, &key, &added, &err), 0);
	assert_true(added);
}

static void a_report_is_known_by_its_offsets_and_its_time(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("known");
	int64_t hour_ago = clock_real_ms() - HOUR_MS;
	struct error err = {0};
	bool known = true;

	store_report(s, "known", (struct told){5, 9, 5, 0, 0, 0, 1800});
	tell_of(s, "known", 1, 3, 4, (struct told){1, 2, 5, 0, 0, 0, 0});
	tell_of(s, "known", 2, 2, 4, (struct told){1, 2, 5, 0, 0, 0, 0});
	for (int i = 0; i < 4; i++) {
		static const uint64_t others[][2] = {
			{4, 9}, {5, 8}, {5, 10}, {1, 2}};

		assert_int_equal(stored_is_reported(s->ch, &key, others[i][0],
						    others[i][1], 0, &known,
						    &err),
				 0);
		assert_false(known);
	}
	assert_int_equal(
		stored_is_reported(s->ch, &key, 5, 9, hour_ago, &known, &err),
		0);
	assert_true(known);
	assert_int_equal(stored_is_reported(s->ch, &key, 5, 9,
					    hour_ago + HOUR_MS, &known, &err),
			 0);
	assert_false(known);
}

/* --- rows ----------------------------------------------------------------- */

static void store_links(struct clickhouse_server *s, const char *topic,
			unsigned epoch, unsigned partition, uint64_t first,
			uint64_t last)
{
	clickhouse_server_do(s,
			     "INSERT INTO links (epoch, topic, partition, "
			     "offset, code, link_id) SELECT %u, '%s', %u, "
			     "number, '%s', number FROM numbers(%llu, %llu)",
			     epoch, topic, partition, topic,
			     (unsigned long long)first,
			     (unsigned long long)(last - first + 1));
}

static void rows_stored_are_ranges(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("rows"),
			  links = {"links", "rows", 3, 2};
	struct ranges r = {0};
	struct error err = {0};

	store_clicks(s, "rows", 2, 3, 10, 19);
	store_clicks(s, "rows", 2, 3, 21, 21);
	store_clicks(s, "rows", 2, 3, 15, 20);
	store_clicks(s, "rows", 2, 3, 23, 30);
	store_clicks(s, "rows", 1, 3, 0, 99);
	store_clicks(s, "rows", 2, 4, 0, 99);
	store_clicks(s, "other rows", 2, 3, 0, 99);
	assert_int_equal(stored_ranges(s->ch, &key, 0, UINT64_MAX, 0, &r, &err),
			 0);
	assert_ranges(&r, "10-21 23-30 ");
	assert_int_equal(stored_ranges(s->ch, &key, 12, 24, 0, &r, &err), 0);
	assert_ranges(&r, "12-21 23-24 ");
	/* Rows that Kafka stored before that time do not count. */
	assert_int_equal(
		stored_ranges(s->ch, &key, 0, UINT64_MAX, 20000, &r, &err), 0);
	assert_ranges(&r, "20-21 23-30 ");
	assert_int_equal(
		stored_ranges(s->ch, &key, 0, UINT64_MAX, -5, &r, &err), 0);
	assert_ranges(&r, "10-21 23-30 ");
	/* Rows of links have no time of arrival. */
	store_links(s, "rows", 2, 3, 5, 7);
	store_links(s, "rows", 2, 4, 0, 99);
	assert_int_equal(
		stored_ranges(s->ch, &links, 6, UINT64_MAX, 20000, &r, &err),
		0);
	assert_ranges(&r, "6-7 ");
}

static void events_are_told_one_by_one(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("events");
	struct stored_batches events = {0};
	struct error err = {0};

	store_clicks(s, "events", 2, 3, 1, 3000);
	store_clicks(s, "events", 2, 4, 1, 3000);
	assert_int_equal(stored_events(s->ch, &key, 10, 2500, &events, &err),
			 0);
	assert_int_equal(events.count, 2490);
	assert_int_equal(events.items[0].last, 10);
	assert_int_equal(events.items[0].at_ms, 10000);
	assert_int_equal(events.items[2489].last, 2499);
	assert_int_equal(events.items[2489].at_ms, 2499000);
	stored_batches_release(&events);
	assert_int_equal(events.count, 0);
}

static void the_last_events_of_batches_are_told(void **state)
{
	struct clickhouse_server *s = *state;
	struct stored_key key = clicks_of("batches");
	struct stored_batches b = {0};
	struct error err = {0};

	store_report(s, "batches", (struct told){20, 29, 10, 0, 0, 0, 300});
	store_report(s, "batches", (struct told){10, 19, 10, 0, 0, 0, 400});
	/* The range was reported twice: the later time counts. */
	store_report(s, "batches", (struct told){15, 19, 5, 0, 0, 0, 350});
	store_report(s, "batches", (struct told){30, 39, 0, 10, 0, 0, 200});
	store_report(s, "batches", (struct told){40, 45, 0, 0, 6, 0, 150});
	store_report(s, "batches", (struct told){46, 48, 1, 0, 2, 0, 150});
	store_report(s, "batches", (struct told){49, 48, 0, 0, 0, 0, 150});
	store_report(s, "batches", (struct told){49, 59, 11, 0, 0, 0, 100});
	tell_of(s, "batches", 2, 2, 4, (struct told){0, 22, 9, 0, 0, 0, 0});
	assert_int_equal(stored_batches(s->ch, &key, 19, 59, &b, &err), 0);
	assert_int_equal(b.count, 3);
	assert_int_equal(b.items[0].last, 19);
	assert_ago(b.items[0].at_ms, 350);
	assert_int_equal(b.items[1].last, 29);
	assert_int_equal(b.items[2].last, 39);
	stored_batches_release(&b);
	assert_int_equal(stored_batches(s->ch, &key, 20, 60, &b, &err), 0);
	assert_int_equal(b.count, 3);
	assert_int_equal(b.items[0].last, 29);
	assert_int_equal(b.items[2].last, 59);
	stored_batches_release(&b);
}

/* --- gaps ----------------------------------------------------------------- */

static void of_a_gap_what_is_stored_is_not_lost(void **state)
{
	struct clickhouse_server *s = *state;
	struct gap_place place = {clicks_of("gap"), SINK_CLICKS, 0};
	struct batch gap = {.first = 10, .last = 29, .append_ms = 5};
	struct error err = {0};

	store_clicks(s, "gap", 2, 3, 8, 12);
	store_clicks(s, "gap", 2, 3, 28, 31);
	store_clicks(s, "gap", 2, 4, 0, 99);
	assert_int_equal(gap_count(&place, s->ch, &gap, &err), 0);
	assert_int_equal(gap.row_count, 5);
	assert_int_equal(gap.lost, 15);
	assert_int_equal(gap.hour_count, 2);
	assert_int_equal(gap.hours[0].start, 3600);
	assert_int_equal(gap.hours[0].rows, 3);
	assert_int_equal(gap.hours[1].start, 2 * 3600);
	assert_int_equal(gap.hours[1].rows, 2);
	/* The time is that of the last row. */
	assert_int_equal(gap.append_ms, 29000);
	batch_release(&gap);
	/* It is known from before that none of them is stored. */
	place.since_ms = 20000;
	gap = (struct batch){.first = 10, .last = 29, .append_ms = 99000};
	assert_int_equal(gap_count(&place, s->ch, &gap, &err), 0);
	assert_int_equal(gap.row_count, 2);
	assert_int_equal(gap.lost, 18);
	assert_int_equal(gap.append_ms, 99000);
	batch_release(&gap);
}

static void a_gap_may_be_all_stored(void **state)
{
	struct clickhouse_server *s = *state;
	struct gap_place place = {clicks_of("full"), SINK_CLICKS, 0};
	struct batch gap = {.first = 0, .last = 4};
	struct error err = {0};

	store_clicks(s, "full", 2, 3, 0, 4);
	assert_int_equal(gap_count(&place, s->ch, &gap, &err), 0);
	assert_int_equal(gap.row_count, 5);
	assert_int_equal(gap.lost, 0);
	batch_release(&gap);
	/* Some offsets are stored twice, by another collector. */
	store_clicks(s, "full", 2, 3, 0, 4);
	gap = (struct batch){.first = 0, .last = 4};
	assert_int_equal(gap_count(&place, s->ch, &gap, &err), 0);
	assert_int_equal(gap.row_count, 10);
	assert_int_equal(gap.lost, 0);
	batch_release(&gap);
}

static void a_gap_of_links_names_hours_and_counts_none(void **state)
{
	struct clickhouse_server *s = *state;
	struct gap_place place = {{"links", "gap", 3, 2}, SINK_LINKS, 20000};
	struct batch gap = {.first = 10, .last = 19};
	struct error err = {0};

	store_links(s, "gap", 2, 3, 5, 12);
	store_links(s, "gap", 2, 3, 19, 20);
	assert_int_equal(gap_count(&place, s->ch, &gap, &err), 0);
	assert_int_equal(gap.row_count, 4);
	assert_int_equal(gap.lost, 6);
	/* Links of these hours may have been created: they are settled again.
	 */
	assert_int_equal(gap.hour_count, 1);
	assert_int_equal(gap.hours[0].rows, 0);
	batch_release(&gap);
}

/* --- skipped offsets ------------------------------------------------------ */

static void what_is_to_be_passed_over_is_found_by_offset(void **state)
{
	struct clickhouse_server *s = *state;
	const struct pass noted[] = {{"to pass", 3, 2, 30, 39},
				     {"to pass", 3, 2, 10, 14},
				     {"to pass", 3, 1, 0, 99},
				     {"to pass", 4, 2, 0, 98},
				     {"it's \\ \t", 3, 2, 7, 7}};
	static const char why[] = "it's \\N broken";
	struct passes p;
	struct error err = {0};
	const struct pass *next;

	assert_int_equal(passes_note(s->ch, noted, 4, why, &err), 0);
	assert_int_equal(passes_note(s->ch, &noted[4], 1, why, &err), 0);
	assert_int_equal(passes_note(s->ch, noted, 0, why, &err), 0);
	store_decision(s, "to pass", "3, 2, 'resume', 60, 50");
	/* One of no offsets is none. */
	store_decision(s, "no offsets", "3, 2, 'pass', 5, 5");
	assert_int_equal(passes_load(s->ch, &p, &err), 0);
	next = passes_next(&p, "to pass", 3, 2, 0);
	assert_non_null(next);
	assert_int_equal(next->first, 10);
	assert_int_equal(next->last, 14);
	assert_int_equal(passes_next(&p, "to pass", 3, 2, 14)->first, 10);
	assert_int_equal(passes_next(&p, "to pass", 3, 2, 15)->first, 30);
	assert_int_equal(passes_next(&p, "to pass", 3, 2, 39)->first, 30);
	assert_null(passes_next(&p, "to pass", 3, 2, 40));
	assert_null(passes_next(&p, "to pass", 5, 2, 0));
	assert_null(passes_next(&p, "none", 3, 2, 0));
	assert_null(passes_next(&p, "no offsets", 3, 2, 0));
	assert_int_equal(passes_next(&p, "to pass", 3, 1, 0)->last, 99);
	assert_int_equal(passes_next(&p, "it's \\ \t", 3, 2, 7)->last, 7);
	passes_release(&p);
	assert_int_equal(
		clickhouse_server_number(
			s, "SELECT count() FROM ingest_epochs WHERE decision = "
			   "'pass' AND reason = 'it\\'s \\\\N broken' AND "
			   "decided_at > now() - INTERVAL 5 MINUTE"),
		5);
	/* One statement stores all ranges that are named together. */
	assert_int_equal(
		clickhouse_server_number(
			s, "SELECT uniqExact(decided_at) FROM ingest_epochs "
			   "WHERE decision = 'pass' AND topic = 'to pass'"),
		1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_partition_is_in_the_life_that_was_decided_last),
		cmocka_unit_test(one_that_resumes_says_where),
		cmocka_unit_test(
			a_partition_is_the_same_up_to_what_was_reported),
		cmocka_unit_test(the_greatest_offset_reported_counts),
		cmocka_unit_test(dead_letters_and_gaps_are_reports_too),
		cmocka_unit_test(an_empty_report_ends_where_it_begins),
		cmocka_unit_test(none_vouches_for_what_came_after_it),
		cmocka_unit_test(reports_of_the_last_day_suffice),
		cmocka_unit_test(
			an_added_partition_is_told_by_reports_of_others),
		cmocka_unit_test(a_report_is_known_by_its_offsets_and_its_time),
		cmocka_unit_test(rows_stored_are_ranges),
		cmocka_unit_test(events_are_told_one_by_one),
		cmocka_unit_test(the_last_events_of_batches_are_told),
		cmocka_unit_test(of_a_gap_what_is_stored_is_not_lost),
		cmocka_unit_test(a_gap_may_be_all_stored),
		cmocka_unit_test(a_gap_of_links_names_hours_and_counts_none),
		cmocka_unit_test(what_is_to_be_passed_over_is_found_by_offset),
	};

	return cmocka_run_group_tests_name("stored", tests, stored_world_set_up,
					   stored_world_tear_down);
}
