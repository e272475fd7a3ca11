/* A day whose rows are dropped is settled in every table and does not change
 * during the drop. */
#include "tests/unit/aggregator/settled.h"
#include "tests/unit/unit.h"

#include "aggregator/dimension.h"
#include "aggregator/settle/drop.h"
#include "aggregator/settle/drop_check.h"
#include "aggregator/settle/repeats.h"

/* The day has this many events of link 1, and this many in all. */
#define OF_LINKS 8
#define ALL	 10
/* Each event has two tags. */
#define TAGS 2

/* A day in the tables: under the attempts k + 1 (its hour), k + 2 (its links),
 * and the attempts by which it is copied. */
struct day {
	int64_t start;
	uint64_t k;
	struct drop_attempts copied;
	/* One figure is greater by this. */
	const char *table, *dimension;
	int by;
};

static uint64_t adjust_figure(const struct day *d, const char *table,
			      const char *dimension, uint64_t right)
{
	bool is_odd = d->table && !strcmp(d->table, table) &&
		      !strcmp(d->dimension, dimension);

	return right + (uint64_t)(is_odd ? d->by : 0);
}

/* Puts rows (dimension, day, attempt, events) of the named kinds. */
static void put_values(struct buf *sql, const struct day *d, const char *table,
		       int64_t at, uint64_t attempt, const char *kinds,
		       uint64_t events)
{
	for (size_t i = 0; i < dimension_count; i++) {
		const char *name = dimensions[i].name;
		bool many = dimensions[i].kind == DIMENSION_MANY;

		if (!kinds[dimensions[i].kind] ||
		    kinds[dimensions[i].kind] == '.')
			continue;
		if (!i && strcmp(table, "stats_hourly") != 0)
			continue;
		buf_printf(sql, "('%s', %" PRId64 ", %" PRIu64 ", %" PRIu64 ")",
			   name, at, attempt,
			   adjust_figure(d, table, name,
					 many ? TAGS * events : events));
	}
}

static void run_statement(struct settled *t, struct buf *sql)
{
	struct error err = {0};

	if (clickhouse_query(t->server.ch, buf_cstr(sql), NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	buf_free(sql);
}

/* The letters stand for the kinds of dimensions, in their order; x: the kind is
 * there. */
static void fill_values(struct settled *t, const struct day *d)
{
	struct buf sql = {0};

	buf_puts(&sql, "INSERT INTO stats_hourly (dimension, hour, attempt, "
		       "events) VALUES ");
	put_values(&sql, d, "stats_hourly", d->start, d->k + 1, "xxxxx..", ALL);
	run_statement(t, &sql);
	buf_puts(&sql, "INSERT INTO owner_values (dimension, day, attempt, "
		       "events) VALUES ");
	put_values(&sql, d, "owner_values", d->start / DAY,
		   d->copied.of[COPIED_OWNERS], "xxxxx.x", OF_LINKS);
	put_values(&sql, d, "owner_values", d->start / DAY,
		   d->copied.of[COPIED_VALUES], ".....x.", OF_LINKS);
	run_statement(t, &sql);
	buf_puts(&sql, "INSERT INTO day_values (dimension, day, attempt, "
		       "events) VALUES ");
	put_values(&sql, d, "day_values", d->start / DAY,
		   d->copied.of[COPIED_VALUES], ".....x.", ALL);
	run_statement(t, &sql);
	buf_puts(&sql, "INSERT INTO link_values (dimension, day, attempt, "
		       "events) VALUES ");
	put_values(&sql, d, "link_values", d->start / DAY,
		   d->copied.of[COPIED_LINK_VALUES], "xxxxxxx", OF_LINKS);
	run_statement(t, &sql);
}

static void fill_links(struct settled *t, const struct day *d)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO link_slots (link_id, slot, attempt, effective, "
		"ineffective) VALUES (1, %" PRId64 ", %" PRIu64 ", 3, %" PRIu64
		")",
		d->start, d->k + 2,
		adjust_figure(d, "link_slots", "", OF_LINKS - 3));
	clickhouse_server_do(
		&t->server,
		"INSERT INTO link_days (link_id, day, attempt, pv) VALUES "
		"(1, %" PRId64 ", %" PRIu64 ", %" PRIu64 ")",
		d->start / DAY, d->k + 2,
		adjust_figure(d, "link_days", "", OF_LINKS));
	clickhouse_server_do(
		&t->server,
		"INSERT INTO sealed_slots (link_id, slot, attempt, events) "
		"VALUES (1, %" PRId64 ", %" PRIu64 ", %" PRIu64 ")",
		d->start, d->copied.of[COPIED_LINKS],
		adjust_figure(d, "sealed_slots", "", OF_LINKS));
	clickhouse_server_do(
		&t->server,
		"INSERT INTO sampled_clicks (rarity, slot, attempt, events) "
		"VALUES (0, %" PRId64 ", %" PRIu64 ", %" PRIu64 ")",
		d->start, d->copied.of[COPIED_SAMPLE],
		adjust_figure(d, "sampled_clicks", "", OF_LINKS));
	clickhouse_server_do(&t->server,
			     "INSERT INTO owner_slots (account, owner, slot, "
			     "attempt, events) "
			     "VALUES ('acme', 'ann', %" PRId64 ", %" PRIu64
			     ", %" PRIu64 ")",
			     d->start, d->copied.of[COPIED_OWNERS],
			     adjust_figure(d, "owner_slots", "", OF_LINKS));
}

/* Publishes the rows of the tables. */
static void publish_attempt(struct settled *t, const struct day *d,
			    const char *kind, uint64_t attempt)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO settled (kind, unit, attempt, "
			     "blocks, rows) VALUES ('%s', %" PRId64 ", %" PRIu64
			     ", 1, %d)",
			     kind, d->start, attempt, ALL);
}

static void store_settled_day(struct settled *t, const struct day *d)
{
	fill_values(t, d);
	fill_links(t, d);
	publish_attempt(t, d, "hour", d->k + 1);
	publish_attempt(t, d, "link_day", d->k + 2);
	publish_attempt(t, d, "sealed_day", d->copied.of[COPIED_LINKS]);
	publish_attempt(t, d, "owner_day", d->copied.of[COPIED_OWNERS]);
	publish_attempt(t, d, "value_day", d->copied.of[COPIED_VALUES]);
	publish_attempt(t, d, "sampled_day", d->copied.of[COPIED_SAMPLE]);
	publish_attempt(t, d, "link_value_day",
			d->copied.of[COPIED_LINK_VALUES]);
}

static struct day day_under(struct settled *t, uint64_t k)
{
	const int64_t today = t->s.clock.server_ms / 1000 / DAY * DAY;

	return (struct day){.start = today - 10 * DAY,
			    .k = k,
			    .copied = {{k + 3, k + 4, k + 5, k + 6, k + 7}}};
}

/* Inserts rows of the day, which a collector reported. */
static void insert_rows(struct settled *t, const struct day *d)
{
	clickhouse_server_do(
		&t->server,
		"INSERT INTO clicks (epoch, topic, partition, offset, event_id,"
		" ts, original_ts, link_id, outcome, verdict, tags) SELECT 1, "
		"'clicks', 0, number, generateUUIDv4(), %" PRId64
		" AS t, t, number < %d, 'redirected', 'human', ['a', 'b'] "
		"FROM numbers(%d)",
		d->start, OF_LINKS, ALL);
	t->next_offset = ALL;
	clickhouse_server_do(
		&t->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, first, "
		"last, inserted_at, append_time, hours) VALUES (1, 'clicks', "
		"0, 0, %d, %" PRId64 ", %" PRId64 ", map(%" PRId64 ", %d))",
		ALL - 1, d->start + HOUR, d->start + HOUR, d->start, ALL);
}

/* --- figures in tables ---------------------------------------------------- */

static struct drop_lack check_settled_day(struct settled *t,
					  const struct day *d)
{
	struct drop_lack lack = {0};
	struct error err = {0};

	if (drop_check_settled(&t->s, d->start, 0, &d->copied, &lack, &err) < 0)
		fail_msg("%s", err.text);
	return lack;
}

static void a_day_that_every_table_has_lacks_nothing(void **state)
{
	struct settled *t = *state;
	const struct day d = day_under(t, 100);

	insert_rows(t, &d);
	store_settled_day(t, &d);
	assert_null(check_settled_day(t, &d).table);
}

/* A figure of each table and kind of dimension, and the value it must have. */
static const struct {
	const char *table, *dimension, *told;
	uint64_t want;
} figures[] = {
	{"stats_hourly", "total", "total", ALL},
	{"stats_hourly", "country", "country", ALL},
	{"stats_hourly", "city", "city", ALL},
	{"stats_hourly", "tag", "tag", TAGS *ALL},
	{"link_slots", "", "total", OF_LINKS},
	{"link_days", "", "total", OF_LINKS},
	{"sealed_slots", "", "total", OF_LINKS},
	{"owner_slots", "", "total", OF_LINKS},
	{"owner_values", "country", "country", OF_LINKS},
	{"owner_values", "tag", "tag", TAGS *OF_LINKS},
	{"owner_values", "region", "region", OF_LINKS},
	{"day_values", "region", "region", ALL},
	{"sampled_clicks", "", "total", OF_LINKS},
	{"link_values", "country", "country", OF_LINKS},
	{"link_values", "owner", "owner", OF_LINKS},
	{"link_values", "tag", "tag", TAGS *OF_LINKS},
	{"link_values", "region", "region", OF_LINKS},
};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static void one_figure_that_is_not_right_is_told(void **state)
{
	struct settled *t = *state;
	struct day d = day_under(t, 0);

	insert_rows(t, &d);
	for (size_t i = 0; i < 2 * FIGURES; i++) {
		struct drop_lack lack;

		d = day_under(t, 100 * (i + 1));
		d.table = figures[i / 2].table;
		d.dimension = figures[i / 2].dimension;
		d.by = i % 2 ? 1 : -1;
		store_settled_day(t, &d);
		lack = check_settled_day(t, &d);
		if (!lack.table)
			fail_msg("%s by '%s', %d", d.table, d.dimension, d.by);
		assert_string_equal(lack.table, d.table);
		assert_string_equal(lack.dimension, figures[i / 2].told);
		assert_int_equal(lack.want, figures[i / 2].want);
		assert_int_equal(lack.have,
				 figures[i / 2].want + (uint64_t)d.by);
	}
}

/* --- dropping ------------------------------------------------------------- */

static struct day begin_day(struct settled *t)
{
	struct day d = day_under(t, 100);

	t->settings.raw_days = 1;
	t->last.complete_until = (d.start + 2 * DAY) * CLOCK_SECOND;
	t->last.read_until = t->last.complete_until;
	insert_rows(t, &d);
	return d;
}

static struct drop_outcome drop_first(struct settled *t)
{
	struct repeats_removed removed = {0};
	struct drop_outcome found;
	struct error err = {0};

	if (drop_next(&t->s, -1, &t->last, &found, &removed, &err) < 0)
		fail_msg("%s", err.text);
	return found;
}

static void assert_kept(struct settled *t, enum drop_why why)
{
	struct drop_outcome found = drop_first(t);

	assert_false(found.dropped);
	assert_int_equal(found.why, why);
	assert_int_equal(clickhouse_server_number(
				 &t->server, "SELECT count() FROM settled "
					     "WHERE kind IN ('dropped_day', "
					     "'base_hour')"),
			 0);
}

static void a_day_that_is_whole_is_dropped_once(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);
	struct drop_outcome found;

	store_settled_day(t, &d);
	found = drop_first(t);
	assert_true(found.dropped);
	assert_int_equal(found.start, d.start);
	assert_string_equal(
		clickhouse_server_ask(
			&t->server,
			"SELECT kind, toUnixTimestamp(unit) - %" PRId64
			", if(kind = 'dropped_day', rows, attempt) FROM "
			"settled WHERE kind = 'dropped_day' OR "
			"toString(kind) LIKE 'base%%' ORDER BY toString(kind) "
			" FORMAT TabSeparated",
			d.start),
		"base_hour\t0\t101\nbase_link_value\t0\t107\nbase_"
		"owner\t0\t104\nbase_sample\t0\t106\n"
		"base_sealed\t0\t103\n"
		"base_value\t0\t105\ndropped_day\t0\t10");
	assert_string_equal(clickhouse_server_ask(
				    &t->server,
				    "SELECT epoch, topic, partition, last FROM "
				    "dropped_sources FORMAT TabSeparated"),
			    "1\tclicks\t0\t9");
	assert_int_equal(drop_first(t).start, -1);
}

static void a_day_is_dropped_when_it_is_old(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);

	store_settled_day(t, &d);
	t->last.complete_until--;
	assert_int_equal(drop_first(t).start, -1);
	t->last.complete_until++;
	t->settings.raw_days = 0;
	assert_int_equal(drop_first(t).start, -1);
	t->settings.raw_days = 2;
	assert_int_equal(drop_first(t).start, -1);
	t->settings.raw_days = 1;
	assert_true(drop_first(t).dropped);
}

static void a_day_is_dropped_when_all_of_it_is_copied(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);
	const struct {
		const char *kind;
		uint64_t attempt;
	} copies[] = {{"sealed_day", d.copied.of[COPIED_LINKS]},
		      {"owner_day", d.copied.of[COPIED_OWNERS]},
		      {"value_day", d.copied.of[COPIED_VALUES]},
		      {"sampled_day", d.copied.of[COPIED_SAMPLE]}};

	store_settled_day(t, &d);
	for (size_t i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		clickhouse_server_do(&t->server,
				     "ALTER TABLE settled DELETE WHERE "
				     "kind = '%s' SETTINGS mutations_sync = 1",
				     copies[i].kind);
		assert_int_equal(drop_first(t).start, -1);
		publish_attempt(t, &d, copies[i].kind, copies[i].attempt);
	}
	publish_attempt(t, &d, "hour", 200);
	assert_int_equal(drop_first(t).start, -1);
}

static void note_run(struct settled *t, const struct day *d, const char *state)
{
	clickhouse_server_do(&t->server,
			     "INSERT INTO rescored (day, run, state) VALUES "
			     "(%" PRId64 ", 1, '%s')",
			     d->start / DAY, state);
}

static void a_run_that_has_not_ended_keeps_its_day(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);

	store_settled_day(t, &d);
	note_run(t, &d, "begun");
	assert_kept(t, DROP_BEHIND_RUN);
	note_run(t, &d, "done");
	assert_true(drop_first(t).dropped);
}

static void hours_that_are_to_be_settled_keep_a_day(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);

	store_settled_day(t, &d);
	clickhouse_server_do(
		&t->server,
		"INSERT INTO ingest_progress (epoch, topic, partition, first, "
		"last, inserted_at, append_time, hours) VALUES (1, 'clicks', "
		"0, 10, 10, %" PRId64 ", %" PRId64 ", map(%" PRId64 ", 1))",
		d.start + HOUR, d.start + HOUR, d.start + 23 * HOUR);
	assert_kept(t, DROP_STALE);
}

static void a_day_of_other_rows_than_are_settled_is_kept(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);
	struct drop_outcome found;

	store_settled_day(t, &d);
	settled_insert_some(t, d.start + DAY - 1, 1);
	found = drop_first(t);
	assert_int_equal(found.why, DROP_DIFFERS);
	assert_int_equal(found.rows, ALL + 1);
	assert_int_equal(found.settled, ALL);
	assert_kept(t, DROP_DIFFERS);
}

static void a_day_that_a_table_lacks_is_settled_again(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);
	struct drop_outcome found;

	d.table = "owner_slots";
	d.dimension = "";
	d.by = -1;
	store_settled_day(t, &d);
	found = drop_first(t);
	assert_int_equal(found.why, DROP_LACKS);
	assert_string_equal(found.lack.table, "owner_slots");
	assert_true(found.again);
	/* All hours of the day have to be settled. */
	assert_kept(t, DROP_STALE);
}

/* --- changes before the drop is published --------------------------------- */

static void one_more_comes(struct settled *t)
{
	settled_insert_some(t, day_under(t, 0).start, 1);
}

/* The number of rows is the same, but one row is not staged. */
static void another_comes(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE clicks DELETE WHERE offset = 0 "
			     "SETTINGS mutations_sync = 1");
	one_more_comes(t);
}

static void an_hour_is_published(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "hour", 200);
	clickhouse_server_do(&t->server,
			     "INSERT INTO stats_hourly (dimension, hour, "
			     "attempt, events) VALUES ('total', %" PRId64
			     ", 200, %d)",
			     d.start, ALL);
}

static void it_is_sealed_anew(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "sealed_day", 200);
}

static void owners_are_copied_anew(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "owner_day", 200);
}

static void values_are_copied_anew(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "value_day", 200);
}

static void a_sample_is_copied_anew(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "sampled_day", 200);
}

static void values_of_links_are_copied_anew(struct settled *t)
{
	const struct day d = day_under(t, 100);

	publish_attempt(t, &d, "link_value_day", 200);
}

static void a_run_begins(struct settled *t)
{
	const struct day d = day_under(t, 100);

	note_run(t, &d, "begun");
}

static void events_are_lost(struct settled *t)
{
	clickhouse_server_do(&t->server,
			     "ALTER TABLE stats_hourly DELETE WHERE "
			     "dimension = 'total' SETTINGS mutations_sync = 1");
}

static void what_changes_before_it_is_published_keeps_a_day(void **state)
{
	static void (*const acts[])(struct settled * t) = {
		one_more_comes,
		another_comes,
		an_hour_is_published,
		it_is_sealed_anew,
		owners_are_copied_anew,
		values_are_copied_anew,
		a_sample_is_copied_anew,
		values_of_links_are_copied_anew,
		a_run_begins,
		events_are_lost,
	};
	struct settled *t = *state;

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		struct day d;

		settled_empty_tables(&t->server);
		t->next_offset = 0;
		d = begin_day(t);
		store_settled_day(t, &d);
		t->on_lease = acts[i];
		t->lease_at = 1;
		assert_kept(t, DROP_CHANGED);
	}
}

static void without_the_lease_nothing_is_dropped(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);
	struct repeats_removed removed = {0};
	struct drop_outcome found;
	struct error err = {0};

	store_settled_day(t, &d);
	t->lost = true;
	assert_int_equal(drop_next(&t->s, -1, &t->last, &found, &removed, &err),
			 -1);
	assert_int_equal(err.code, ERROR_STOPPED);
	t->lost = false;
	t->lease_at = 1;
	t->on_lease = settled_time_passes;
	assert_int_equal(drop_next(&t->s, -1, &t->last, &found, &removed, &err),
			 -1);
	assert_int_equal(clickhouse_server_number(&t->server,
						  "SELECT count() FROM settled "
						  "WHERE kind = 'dropped_day'"),
			 0);
}

/* --- deleting ------------------------------------------------------------- */

static void assert_deleted(struct settled *t, uint64_t rows, uint64_t kept_days,
			   uint64_t left)
{
	struct drop_deleted deleted;
	struct error err = {0};

	if (drop_delete_rows(&t->s, &deleted, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(deleted.rows, rows);
	assert_int_equal(deleted.kept_days, kept_days);
	assert_int_equal(clickhouse_server_number(&t->server,
						  "SELECT count() FROM clicks"),
			 left);
}

static void rows_that_were_dropped_are_deleted_later(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);

	store_settled_day(t, &d);
	assert_true(drop_first(t).dropped);
	/* One row came since, and one is of another partition. */
	settled_insert_some(t, d.start, 1);
	clickhouse_server_do(&t->server,
			     "INSERT INTO clicks (epoch, topic, partition, "
			     "offset, ts, link_id) VALUES (1, 'clicks', 1, 5, "
			     "%" PRId64 ", 1)",
			     d.start);
	assert_deleted(t, 0, 0, ALL + 2);
	t->s.clock.server_ms += KEEP + CLOCK_MINUTE;
	assert_deleted(t, ALL, 0, 2);
	assert_deleted(t, 0, 0, 2);
}

static void rows_whose_base_is_not_whole_stay(void **state)
{
	struct settled *t = *state;
	struct day d = begin_day(t);

	store_settled_day(t, &d);
	assert_true(drop_first(t).dropped);
	clickhouse_server_do(&t->server, "TRUNCATE TABLE owner_slots");
	t->s.clock.server_ms += KEEP + CLOCK_MINUTE;
	assert_deleted(t, 0, 1, ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SETTLED_TEST(a_day_that_every_table_has_lacks_nothing),
		SETTLED_TEST(one_figure_that_is_not_right_is_told),
		SETTLED_TEST(a_day_that_is_whole_is_dropped_once),
		SETTLED_TEST(a_day_is_dropped_when_it_is_old),
		SETTLED_TEST(a_day_is_dropped_when_all_of_it_is_copied),
		SETTLED_TEST(a_run_that_has_not_ended_keeps_its_day),
		SETTLED_TEST(hours_that_are_to_be_settled_keep_a_day),
		SETTLED_TEST(a_day_of_other_rows_than_are_settled_is_kept),
		SETTLED_TEST(a_day_that_a_table_lacks_is_settled_again),
		SETTLED_TEST(what_changes_before_it_is_published_keeps_a_day),
		SETTLED_TEST(without_the_lease_nothing_is_dropped),
		SETTLED_TEST(rows_that_were_dropped_are_deleted_later),
		SETTLED_TEST(rows_whose_base_is_not_whole_stay),
	};

	return cmocka_run_group_tests(tests, settled_open, settled_close);
}
