/* Reads of the collectors' reports, and the state that is kept of them, with a
 * real engine. */
#include "tests/unit/aggregator/settled.h"

#include "aggregator/settle/watermark_reader.h"

enum {
	MINUTES = 60 * 1000, /* ms */
	HOURS = 60 * MINUTES,
	DAYS = 24 * HOURS,
	EPOCH = 7,
	MANY = 40, /* partitions */
};

static const char topic[] = "clicks";

struct world {
	struct clickhouse_server server;
	struct aggregator_settings settings;
	struct watermark_reader *reader;
	int64_t now; /* ms; the server's clock at the start of the test */
};

static int open_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	clickhouse_server_start(&w->server);
	settled_make_tables(&w->server);
	*state = w;
	return 0;
}

static int close_world(void **state)
{
	struct world *w = *state;

	clickhouse_server_stop(&w->server);
	free(w);
	return 0;
}

static void renew_reader(struct world *w)
{
	struct error err = {0};

	watermark_reader_free(w->reader);
	w->reader = watermark_reader_new(&w->settings, &err);
	assert_non_null(w->reader);
}

static int set_up_reader(void **state)
{
	struct world *w = *state;
	struct error err = {0};

	clickhouse_server_do(&w->server, "TRUNCATE TABLE ingest_progress");
	w->settings = (struct aggregator_settings){
		.recheck_every = CLOCK_HOUR,
	};
	w->reader = NULL;
	renew_reader(w);
	return clickhouse_now(w->server.ch, &w->now, &err);
}

static int tear_down_reader(void **state)
{
	struct world *w = *state;

	watermark_reader_free(w->reader);
	return 0;
}

/* A collector's report; its times are in ms after the test began, most of them
 * before it. */
struct report {
	uint32_t partition, epoch, partitions;
	int64_t appended, stored;
	const char *topic;
};

static void store_report(struct world *w, struct report r)
{
	clickhouse_server_do(
		&w->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, "
		"partitions, first, last, append_time, inserted_at) VALUES "
		"(%u, '%s', %u, %u, 1, 0, "
		"fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC'), fromUnixTimestamp64Milli(toInt64(%" PRId64
		"), 'UTC'))",
		r.epoch ? r.epoch : EPOCH, r.topic ? r.topic : topic,
		r.partition, r.partitions ? r.partitions : 1,
		w->now + r.appended, w->now + r.stored);
}

static void delete_reports(struct world *w, const char *where)
{
	clickhouse_server_do(&w->server, "DELETE FROM ingest_progress WHERE %s",
			     where);
}

static struct watermark read_watermark(struct world *w, uint64_t mended)
{
	struct watermark read;
	struct error err = {0};

	if (watermark_read(w->reader, w->server.ch, mended, &read, &err) < 0)
		fail_msg("%s", err.text);
	return read;
}

/* Returns the mark of a partition, which must exist. */
static const struct partition_mark *
find_mark(const struct world *w, const char *of, uint32_t partition)
{
	size_t count;
	const struct partition_mark *marks =
		watermark_reader_marks(w->reader, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(marks[i].topic, of) &&
		    marks[i].partition == partition)
			return &marks[i];
	fail_msg("there is no mark of %s %u", of, partition);
	return NULL;
}

static size_t count_marks(const struct world *w)
{
	size_t count;

	(void)watermark_reader_marks(w->reader, &count);
	return count;
}

static void assert_in_order(const struct world *w)
{
	size_t count;
	const struct partition_mark *marks =
		watermark_reader_marks(w->reader, &count);

	for (size_t i = 1; i < count; i++) {
		int order = strcmp(marks[i - 1].topic, marks[i].topic);

		assert_true(order < 0 ||
			    (order == 0 &&
			     marks[i - 1].partition < marks[i].partition));
	}
}

/* --- marks of partitions -------------------------------------------------- */

static void an_empty_table_promises_nothing(void **state)
{
	struct world *w = *state;
	struct watermark read = read_watermark(w, 0);

	assert_int_equal(read.complete_until, 0);
	assert_string_equal(read.topic, "");
	assert_true(read.server_ms >= w->now);
	assert_int_equal(count_marks(w), 0);
}

static void a_mark_is_the_greatest_of_a_partitions_reports(void **state)
{
	struct world *w = *state;
	const struct partition_mark *m;

	store_report(w, (struct report){.partitions = 2,
					.appended = -9000,
					.stored = -3000});
	store_report(w, (struct report){.appended = -8000, .stored = -4000});
	assert_int_equal(read_watermark(w, 0).complete_until, 0);
	m = find_mark(w, topic, 0);
	assert_int_equal(m->epoch, EPOCH);
	assert_int_equal(m->partitions, 2);
	assert_int_equal(m->reported_ms, w->now - 8000);
	assert_int_equal(m->heard_ms, w->now - 3000);

	store_report(w, (struct report){.partition = 1,
					.partitions = 2,
					.appended = -7000,
					.stored = -2000});
	assert_int_equal(read_watermark(w, 0).complete_until, w->now - 8000);
}

/* The partition's former report is older than what is read again. */
static void a_later_report_takes_nothing_back(void **state)
{
	struct world *w = *state;
	const struct partition_mark *m;

	store_report(w, (struct report){.partitions = 3,
					.appended = -2 * HOURS,
					.stored = -2 * HOURS + 5});
	read_watermark(w, 0);
	/* Reports of the last half hour are read again from here on. */
	store_report(w,
		     (struct report){.partition = 1, .stored = -20 * MINUTES});
	read_watermark(w, 0);
	store_report(
		w, (struct report){.appended = -5 * HOURS, .stored = -MINUTES});
	read_watermark(w, 0);
	m = find_mark(w, topic, 0);
	assert_int_equal(m->partitions, 3);
	assert_int_equal(m->reported_ms, w->now - 2 * HOURS);
	assert_int_equal(m->heard_ms, w->now - MINUTES);
}

static void no_report_vouches_for_more_than_when_it_was_stored(void **state)
{
	struct world *w = *state;

	store_report(w,
		     (struct report){.appended = -MINUTES, .stored = -HOURS});
	assert_int_equal(read_watermark(w, 0).complete_until, w->now - HOURS);
}

/* This holds however late the former epoch's reports are, and when they are
 * read again. */
static void what_a_former_epoch_reported_counts_no_more(void **state)
{
	struct world *w = *state;
	const struct partition_mark *m;

	store_report(w, (struct report){.partitions = 9,
					.appended = -1000,
					.stored = -900});
	read_watermark(w, 0);
	assert_int_equal(find_mark(w, topic, 0)->reported_ms, w->now - 1000);
	store_report(w, (struct report){.epoch = EPOCH + 1,
					.partitions = 2,
					.appended = -5000,
					.stored = -4000});
	for (int i = 0; i < 2; i++) {
		read_watermark(w, 0);
		m = find_mark(w, topic, 0);
		assert_int_equal(m->epoch, EPOCH + 1);
		assert_int_equal(m->partitions, 2);
		assert_int_equal(m->reported_ms, w->now - 5000);
		assert_int_equal(m->heard_ms, w->now - 4000);
	}
}

static void marks_are_in_order_wherever_new_ones_belong(void **state)
{
	struct world *w = *state;

	store_report(w, (struct report){.partition = 1, .stored = -3000});
	store_report(w, (struct report){.partition = 4, .stored = -3000});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 2);
	store_report(w, (struct report){.topic = "a", .stored = -2000});
	store_report(w, (struct report){.topic = "d", .stored = -2000});
	for (uint32_t i = 0; i < MANY; i++)
		store_report(w,
			     (struct report){.partition = i, .stored = -2000});
	for (int i = 0; i < 2; i++) {
		read_watermark(w, 0);
		assert_int_equal(count_marks(w), MANY + 2);
		assert_in_order(w);
		for (uint32_t k = 0; k < MANY; k++)
			assert_int_equal(find_mark(w, topic, k)->heard_ms,
					 w->now - 2000);
	}
}

/* A rescore and an import make hours stale, but the watermark waits for
 * neither. */
static void no_partition_is_of_what_is_no_topic(void **state)
{
	struct world *w = *state;

	store_report(w, (struct report){.topic = "rescore", .stored = -9});
	store_report(w, (struct report){.topic = "import:a", .stored = -9});
	assert_int_equal(read_watermark(w, 0).complete_until, 0);
	assert_int_equal(count_marks(w), 0);
}

/* --- clocks --------------------------------------------------------------- */

static void what_lies_beyond_the_servers_clock_does_not_count(void **state)
{
	struct world *w = *state;
	struct watermark read;

	store_report(w, (struct report){.appended = -2000, .stored = -2000});
	store_report(
		w, (struct report){.appended = 9 * HOURS, .stored = 9 * HOURS});
	for (int i = 0; i < 2; i++) {
		read = read_watermark(w, 0);
		assert_int_equal(read.complete_until, w->now - 2000);
		assert_true(read.ahead_ms > 8 * HOURS);
		assert_true(read.ahead_ms <= 9 * HOURS);
	}
}

/* The partition counts as soon as that time has come. */
static void a_partition_of_the_future_alone_is_silent(void **state)
{
	struct world *w = *state;
	struct watermark read;

	store_report(w, (struct report){.stored = 9 * HOURS});
	read = read_watermark(w, 0);
	assert_int_equal(read.complete_until, 0);
	assert_string_equal(read.topic, topic);
	assert_int_equal(find_mark(w, topic, 0)->heard_ms, 0);
	delete_reports(w, "1");
	read = read_watermark(w, 0);
	assert_string_equal(read.topic, "");
	assert_int_equal(count_marks(w), 0);
}

/* Only reports that were stored within the last ten minutes count. */
static void what_was_ahead_long_ago_is_not_reported_as_ahead(void **state)
{
	struct world *w = *state;

	store_report(
		w, (struct report){.appended = HOURS, .stored = -12 * MINUTES});
	assert_int_equal(read_watermark(w, 0).ahead_ms, 0);
	store_report(
		w, (struct report){.appended = HOURS, .stored = -5 * MINUTES});
	assert_int_equal(read_watermark(w, 0).ahead_ms, HOURS + 5 * MINUTES);
}

/* --- reading again -------------------------------------------------------- */

static void what_was_read_stays_until_all_is_read_again(void **state)
{
	struct world *w = *state;

	store_report(w, (struct report){.stored = -12 * HOURS});
	store_report(w, (struct report){.partition = 1, .stored = -1000});
	read_watermark(w, 0);
	delete_reports(w, "partition = 0");
	assert_true(read_watermark(w, 0).server_ms >= w->now);
	assert_int_equal(count_marks(w), 2);
	/* A mark was mended, so reports may be wrong. */
	read_watermark(w, 1);
	assert_int_equal(count_marks(w), 1);
}

static void all_is_read_again_every_so_often(void **state)
{
	struct world *w = *state;

	w->settings.recheck_every = 0;
	renew_reader(w);
	store_report(w, (struct report){.stored = -12 * HOURS});
	store_report(w, (struct report){.partition = 1, .stored = -1000});
	read_watermark(w, 0);
	delete_reports(w, "partition = 0");
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 1);
}

/* Another replica answers, or one that was restored from a backup. */
static void all_is_read_again_when_the_newest_report_is_gone(void **state)
{
	struct world *w = *state;

	store_report(w, (struct report){.stored = -12 * HOURS});
	store_report(w, (struct report){.partition = 1, .stored = -2 * HOURS});
	store_report(w, (struct report){.partition = 2, .stored = -1000});
	read_watermark(w, 0);
	delete_reports(w, "partition != 1");
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 1);
	assert_int_equal(find_mark(w, topic, 1)->heard_ms, w->now - 2 * HOURS);
}

/* An insert becomes visible that much later than its time; ten minutes are
 * always allowed. */
static void reports_that_are_seen_late_are_read(void **state)
{
	struct world *w = *state;

	w->settings.progress_overlap = CLOCK_HOUR;
	renew_reader(w);
	store_report(w, (struct report){.stored = -1000});
	read_watermark(w, 0);
	store_report(w,
		     (struct report){.partition = 1, .stored = -50 * MINUTES});
	store_report(w,
		     (struct report){.partition = 2, .stored = -70 * MINUTES});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 2);

	w->settings.progress_overlap = 0;
	renew_reader(w);
	read_watermark(w, 0);
	store_report(w,
		     (struct report){.partition = 3, .stored = -9 * MINUTES});
	store_report(w,
		     (struct report){.partition = 4, .stored = -11 * MINUTES});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 4);
	assert_non_null(find_mark(w, topic, 3));
}

/* --- topics, and partitions that they left behind ------------------------- */

/* The topic is known after any time, and nothing has to search for it again. */
static void a_topic_is_known_however_long_it_has_been_silent(void **state)
{
	static const int64_t silent[] = {2, 29, 31, 45, 100};
	struct world *w = *state;
	struct watermark read;
	char name[8];

	w->settings.recheck_every = 0;
	renew_reader(w);
	store_report(w, (struct report){.stored = -1000});
	for (size_t i = 0; i < sizeof(silent) / sizeof(*silent); i++) {
		snprintf(name, sizeof(name), "t%d", (int)i);
		store_report(w, (struct report){.topic = name,
						.stored = -silent[i] * DAYS,
						.appended = -silent[i] * DAYS});
	}
	read = read_watermark(w, 0);
	assert_int_equal(count_marks(w), 6);
	assert_string_equal(read.topic, "t4");
	assert_int_equal(read.complete_until, w->now - 100 * (int64_t)DAYS);
	assert_int_equal(read.silent_since, w->now - 100 * (int64_t)DAYS);
	delete_reports(w, "topic = 't4'");
	assert_string_equal(read_watermark(w, 0).topic, "t4");
	assert_string_equal(read_watermark(w, 1).topic, "t3");
}

static void a_named_topic_is_retired_once_it_is_silent(void **state)
{
	struct world *w = *state;
	char name[] = "old";
	char *names[] = {name};
	struct watermark read;

	w->settings.retired_topics.items = names;
	w->settings.retired_topics.count = 1;
	renew_reader(w);
	store_report(w, (struct report){.stored = -1000, .appended = -1000});
	store_report(w, (struct report){.topic = "old",
					.stored = -1000 - HOURS + 1,
					.appended = -5 * HOURS});
	read = read_watermark(w, 0);
	assert_string_equal(read.topic, "old");
	assert_int_equal(read.complete_until, w->now - 5 * HOURS);
	assert_int_equal(read.silent_since, 0);

	store_report(w, (struct report){.stored = -999, .appended = -999});
	read = read_watermark(w, 0);
	assert_true(find_mark(w, "old", 0)->retired);
	assert_string_equal(read.topic, topic);
	assert_int_equal(read.complete_until, w->now - 999);
	/* The topic has reports again. */
	store_report(w, (struct report){.topic = "old",
					.stored = -998,
					.appended = -3 * HOURS});
	assert_int_equal(read_watermark(w, 0).complete_until,
			 w->now - 3 * HOURS);
	assert_false(find_mark(w, "old", 0)->retired);
}

/* The time counts from the topic's own newest report, not from another topic's.
 */
static void a_partition_that_is_silent_for_a_day_is_left_behind(void **state)
{
	struct world *w = *state;

	store_report(w, (struct report){.topic = "other", .stored = -1000});
	store_report(w, (struct report){.stored = -2 * HOURS});
	store_report(w, (struct report){.partition = 1,
					.stored = -2 * HOURS - DAYS + 1});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 3);
	store_report(w, (struct report){.stored = -2 * HOURS + 1});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 3);
	store_report(w, (struct report){.stored = -2000});
	read_watermark(w, 0);
	assert_int_equal(count_marks(w), 2);
}

int main(void)
{
#define TEST(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up_reader, tear_down_reader)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_table_promises_nothing),
		TEST(a_mark_is_the_greatest_of_a_partitions_reports),
		TEST(a_later_report_takes_nothing_back),
		TEST(no_report_vouches_for_more_than_when_it_was_stored),
		TEST(what_a_former_epoch_reported_counts_no_more),
		TEST(marks_are_in_order_wherever_new_ones_belong),
		TEST(no_partition_is_of_what_is_no_topic),
		TEST(what_lies_beyond_the_servers_clock_does_not_count),
		TEST(a_partition_of_the_future_alone_is_silent),
		TEST(what_was_ahead_long_ago_is_not_reported_as_ahead),
		TEST(what_was_read_stays_until_all_is_read_again),
		TEST(all_is_read_again_every_so_often),
		TEST(all_is_read_again_when_the_newest_report_is_gone),
		TEST(reports_that_are_seen_late_are_read),
		TEST(a_topic_is_known_however_long_it_has_been_silent),
		TEST(a_named_topic_is_retired_once_it_is_silent),
		TEST(a_partition_that_is_silent_for_a_day_is_left_behind),
	};

	return cmocka_run_group_tests(tests, open_world, close_world);
}
