/* An insert is in its table exactly once, with a real ClickHouse. */
#include "tests/unit/collector/sink_world.h"
#include "tests/unit/collector/slow_insert.h"

#include "collector/enrich/row.h"
#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/sink.h"
#include "common/clickhouse/columns.h"
#include "common/clock.h"

enum {
	KEPT_MS = 600000,
	APPEND_MS = 7200000 /* the time of all events here; their hour is the
			       first */
};

/* --- rows ----------------------------------------------------------------- */

/* Stores a row of clicks for each offset, as another collector would; the days
 * are the first two of 1970 in turn. */
static void store_clicks(struct sink_world *w, const char *topic,
			 uint64_t first, uint64_t last)
{
	clickhouse_server_do(
		&w->server,
		"INSERT INTO clicks (epoch, topic, partition, offset, "
		"append_time, ts) SELECT 1, '%s', 0, number + %llu, "
		"fromUnixTimestamp64Milli(%d + 0, 'UTC'), "
		"fromUnixTimestamp64Milli(toInt64(number %% 2) * 86400000, "
		"'UTC') FROM numbers(%llu)",
		topic, (unsigned long long)first, APPEND_MS,
		(unsigned long long)(last - first + 1));
}

/* Builds the bytes that a collector sends for these rows. */
static void build_click_rows(struct sink_world *w, const char *topic,
			     uint64_t first, uint64_t last, struct buf *ret)
{
	struct error err = {0};
	struct columns *columns = columns_new(row_click_columns, &err);
	struct buf sql = {0};
	char template[64];

	assert_non_null(columns);
	snprintf(template, sizeof(template), "of %s %llu", topic,
		 (unsigned long long)first);
	store_clicks(w, template, first, last);
	buf_printf(&sql,
		   "SELECT %s FROM (SELECT * REPLACE ('%s' AS topic) FROM "
		   "(SELECT * FROM clicks WHERE topic = '%s')) ORDER BY "
		   "offset FORMAT RowBinary",
		   columns_names(columns), topic, template);
	assert_non_null(buf_cstr(&sql));
	if (clickhouse_query(w->server.ch, sql.data, NULL, ret, &err) < 0)
		fail_msg("%s", err.text);
	buf_free(&sql);
	columns_free(columns);
}

struct insert {
	struct insertion_part part;
	struct insertion in;
	struct ranges ranges;
	struct buf rows;
	char name[BATCH_NAME_MAX];
	struct insertion_state state;
};

static void describe_insert(struct insert *i, enum sink_table table,
			    const char *topic, uint64_t first, uint64_t last)
{
	*i = (struct insert){0};
	insert_name(1, topic, 0, "", first, last, i->name);
	i->part = (struct insertion_part){
		.key = {sink_table_name(table), topic, 0, 1},
		.first = first,
		.last = last,
		.since_ms = APPEND_MS,
	};
	i->state.known_ms = clock_boottime_ms();
	i->state.kept_ms = KEPT_MS;
}

static void make_clicks(struct sink_world *w, struct insert *i,
			const char *topic, uint64_t first, uint64_t last)
{
	struct error err = {0};

	describe_insert(i, SINK_CLICKS, topic, first, last);
	assert_int_equal(ranges_add(&i->ranges, first, last, &err), 0);
	build_click_rows(w, topic, first, last, &i->rows);
}

static void make_report(struct insert *i, const char *topic, uint64_t first,
			uint64_t last)
{
	const struct progress_origin origin = {
		.epoch = 1, .topic = topic, .partitions = 1, .collector = "a"};
	const struct batch b = {.first = first,
				.last = last,
				.row_count = last - first + 1,
				.append_ms = APPEND_MS};

	describe_insert(i, SINK_PROGRESS, topic, first, last);
	batch_progress_row(&b, &origin, &i->rows);
}

static int run_as(struct sink_world *w, struct insert *i, enum sink_table table,
		  struct error *err)
{
	i->part.rows = &i->ranges;
	i->in = (struct insertion){
		.table = table,
		.name = i->name,
		.parts = &i->part,
		.part_count = 1,
		.rows = i->rows.data,
		.len = i->rows.len,
		.count = i->part.last - i->part.first + 1,
	};
	*err = (struct error){0};
	return insertion_run(w->sink, &i->in, &i->state, err);
}

static void run_insertion(struct sink_world *w, struct insert *i,
			  enum sink_table table)
{
	struct error err;

	if (run_as(w, i, table, &err) < 0)
		fail_msg("%s: %s", i->name, err.text);
	assert_false(i->state.doubt);
	assert_false(i->state.answered);
}

static void release_insert(struct insert *i)
{
	ranges_release(&i->ranges);
	buf_free(&i->rows);
}

static uint64_t rows_of(struct sink_world *w, const char *topic)
{
	return clickhouse_server_number(
		&w->server,
		"SELECT count() FROM clicks WHERE topic = '%s' AND "
		"epoch = 1",
		topic);
}

static uint64_t reports_of(struct sink_world *w, const char *topic)
{
	return clickhouse_server_number(
		&w->server,
		"SELECT count() FROM ingest_progress WHERE topic = '%s'",
		topic);
}

/* --- doubt ---------------------------------------------------------------- */

static void what_is_not_in_doubt_is_sent(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_clicks(w, &i, "sent", 0, 9);
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(rows_of(w, "sent"), 10);
	release_insert(&i);
}

static void what_is_in_doubt_and_not_stored_is_sent(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_clicks(w, &i, "missing", 0, 9);
	i.state.doubt = true;
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(rows_of(w, "missing"), 10);
	assert_int_equal(i.state.number, 0);
	release_insert(&i);
}

/* The rows came under another token, or a forgotten one: only the rows prove
 * the insert. */
static void what_is_stored_is_not_sent_again(void **state)
{
	static const struct {
		const char *topic;
		uint64_t first, last;
	} cases[] = {
		{"one there", 5, 5}, {"two there", 5, 6}, {"ten there", 0, 9}};
	struct sink_world *w = *state;
	struct insert i;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		make_clicks(w, &i, cases[n].topic, cases[n].first,
			    cases[n].last);
		store_clicks(w, cases[n].topic, cases[n].first, cases[n].last);
		i.state.doubt = true;
		run_insertion(w, &i, SINK_CLICKS);
		assert_int_equal(rows_of(w, cases[n].topic),
				 cases[n].last - cases[n].first + 1);
		release_insert(&i);
	}
}

/* A server stores a block day by day. */
static void one_that_is_stored_in_part_is_made_anew_by_its_owner(void **state)
{
	static const struct {
		const char *topic;
		uint64_t first, last;
	} cases[] = {{"its first", 10, 10},
		     {"its last", 19, 19},
		     {"all but its first", 11, 19},
		     {"all but its last", 10, 18},
		     {"its middle", 13, 15}};
	struct sink_world *w = *state;
	struct error err;
	struct insert i;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		make_clicks(w, &i, cases[n].topic, 10, 19);
		store_clicks(w, cases[n].topic, cases[n].first, cases[n].last);
		i.state.doubt = true;
		assert_int_equal(run_as(w, &i, SINK_CLICKS, &err), -1);
		assert_int_equal(err.code, ERROR_LATE);
		assert_int_equal(rows_of(w, cases[n].topic),
				 cases[n].last - cases[n].first + 1);
		release_insert(&i);
	}
}

/* Rows of other offsets, partitions, epochs and topics belong to other inserts.
 */
static void only_its_own_rows_are_counted(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_clicks(w, &i, "own", 10, 19);
	store_clicks(w, "own", 0, 9);
	store_clicks(w, "own", 20, 29);
	clickhouse_server_do(&w->server,
			     "INSERT INTO clicks SELECT * REPLACE (2 AS epoch, "
			     "offset - 10 AS offset) FROM (SELECT * FROM "
			     "clicks WHERE topic = 'own' AND offset >= 20)");
	clickhouse_server_do(&w->server,
			     "INSERT INTO clicks SELECT * REPLACE (1 AS "
			     "partition, offset - 10 AS offset) FROM (SELECT * "
			     "FROM clicks WHERE topic = 'own' AND offset >= "
			     "20)");
	i.state.doubt = true;
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(clickhouse_server_number(
				 &w->server,
				 "SELECT count() FROM clicks WHERE topic = "
				 "'own' AND partition = 0 AND epoch = 1"),
			 30);
	release_insert(&i);
}

/* If one part is missing, the whole insert counts as partly stored. */
static void all_parts_of_an_insert_are_counted(void **state)
{
	struct sink_world *w = *state;
	struct insert one, other;
	struct error err = {0};
	struct insertion_part parts[2];

	make_clicks(w, &one, "part one", 0, 4);
	make_clicks(w, &other, "part two", 0, 4);
	one.part.rows = &one.ranges;
	other.part.rows = &other.ranges;
	parts[0] = one.part;
	parts[1] = other.part;
	store_clicks(w, "part one", 0, 4);
	const struct insertion in = {.table = SINK_CLICKS,
				     .name = one.name,
				     .parts = parts,
				     .part_count = 2,
				     .rows = one.rows.data,
				     .len = one.rows.len};
	one.state.doubt = true;
	assert_int_equal(insertion_run(w->sink, &in, &one.state, &err), -1);
	assert_int_equal(err.code, ERROR_LATE);
	release_insert(&one);
	release_insert(&other);
}

/* --- tokens --------------------------------------------------------------- */

/* A token is valid until kept_ms after the time at which it was known to be
 * unused. */
static void nothing_is_sent_once_its_token_may_be_forgotten(void **state)
{
	struct sink_world *w = *state;
	struct error err;
	struct insert i;

	make_clicks(w, &i, "late", 0, 9);
	i.state.known_ms -= KEPT_MS + 1;
	assert_int_equal(run_as(w, &i, SINK_CLICKS, &err), -1);
	assert_int_equal(err.code, ERROR_LATE);
	assert_int_equal(rows_of(w, "late"), 0);
	/* The token's state is still unknown: the next attempt counts first,
	 * and may send. */
	assert_true(i.state.doubt);
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(rows_of(w, "late"), 10);
	release_insert(&i);
}

static void a_count_makes_a_token_known_to_be_unused(void **state)
{
	struct sink_world *w = *state;
	int64_t before = clock_boottime_ms();
	struct insert i;

	make_clicks(w, &i, "counted", 0, 9);
	i.state.known_ms -= KEPT_MS + 1;
	i.state.doubt = true;
	run_insertion(w, &i, SINK_CLICKS);
	assert_true(i.state.known_ms >= before);
	assert_int_equal(rows_of(w, "counted"), 10);
	release_insert(&i);
}

/* ClickHouse keeps the token and not the rows, like a server that dies between
 * the two writes.  The rows get another epoch: an empty part would take its
 * token along. */
static void take_rows(struct sink_world *w, const char *topic)
{
	clickhouse_server_do(&w->server,
			     "ALTER TABLE clicks UPDATE epoch = 99 WHERE topic "
			     "= '%s' SETTINGS mutations_sync = 2",
			     topic);
	assert_int_equal(rows_of(w, topic), 0);
}

static void a_token_that_outlives_its_rows_is_not_used_again(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_clicks(w, &i, "outlived", 0, 9);
	run_insertion(w, &i, SINK_CLICKS);
	take_rows(w, "outlived");
	i.state.doubt = true;
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(rows_of(w, "outlived"), 10);
	assert_int_equal(i.state.number, 1);
	/* The next token was used, too. */
	take_rows(w, "outlived");
	i.state.doubt = true;
	i.state.number = 0;
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(rows_of(w, "outlived"), 10);
	assert_int_equal(i.state.number, 2);
	release_insert(&i);
}

static void one_that_is_answered_and_never_stored_fails(void **state)
{
	struct sink_world *w = *state;
	struct error err;
	struct insert i;

	make_clicks(w, &i, "never", 0, 9);
	for (unsigned n = 0; n < 4; n++) {
		i.state.number = n;
		i.state.doubt = false;
		run_insertion(w, &i, SINK_CLICKS);
		take_rows(w, "never");
	}
	i.state.number = 0;
	i.state.doubt = true;
	assert_int_equal(run_as(w, &i, SINK_CLICKS, &err), -1);
	if (err.code != ERROR_REMOTE)
		fail_msg("%s", err.text);
	assert_true(err.retriable);
	/* The next owner continues where this attempt ended. */
	assert_true(i.state.doubt);
	assert_true(i.state.answered);
	assert_int_equal(i.state.number, 3);
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(i.state.number, 4);
	assert_int_equal(rows_of(w, "never"), 10);
	release_insert(&i);
}

/* --- reports -------------------------------------------------------------- */

static void a_report_is_there_once(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_report(&i, "told", 0, 9);
	i.state.doubt = true;
	run_insertion(w, &i, SINK_PROGRESS);
	assert_int_equal(reports_of(w, "told"), 1);
	/* The insert has another name, so its token is unused. */
	strcpy(i.name, "told otherwise");
	i.state.doubt = true;
	run_insertion(w, &i, SINK_PROGRESS);
	assert_int_equal(reports_of(w, "told"), 1);
	release_insert(&i);
}

static void a_report_of_other_offsets_is_another(void **state)
{
	static const uint64_t others[][2] = {{0, 8}, {1, 9}, {0, 10}};
	struct sink_world *w = *state;
	struct insert i;

	for (size_t n = 0; n < 3; n++) {
		make_report(&i, "others", others[n][0], others[n][1]);
		i.state.doubt = true;
		run_insertion(w, &i, SINK_PROGRESS);
		release_insert(&i);
	}
	make_report(&i, "others", 0, 9);
	i.state.doubt = true;
	run_insertion(w, &i, SINK_PROGRESS);
	assert_int_equal(reports_of(w, "others"), 4);
	release_insert(&i);
}

/* --- links ---------------------------------------------------------------- */

/* Makes rows of links, one version each; `offset` is also the version. */
static void make_links(struct sink_world *w, struct insert *i,
		       const char *topic, uint64_t first, uint64_t last)
{
	const char *from = strchr(row_insert_links, '(') + 1;
	struct error err = {0};
	struct buf sql = {0};

	describe_insert(i, SINK_LINKS, topic, first, last);
	assert_int_equal(ranges_add(&i->ranges, first, last, &err), 0);
	clickhouse_server_do(
		&w->server,
		"INSERT INTO links (epoch, topic, partition, offset, code, "
		"link_id, version) SELECT 1, 'of %s', 0, number + %llu, '%s', "
		"7 + number * %d, 1 FROM numbers(%llu)",
		topic, (unsigned long long)first, topic, 1,
		(unsigned long long)(last - first + 1));
	buf_printf(&sql,
		   "SELECT %.*s FROM (SELECT * REPLACE ('%s' AS topic) FROM "
		   "(SELECT * FROM links WHERE topic = 'of %s')) ORDER BY "
		   "offset FORMAT RowBinary",
		   (int)(strrchr(row_insert_links, ')') - from), from, topic,
		   topic);
	assert_non_null(buf_cstr(&sql));
	if (clickhouse_query(w->server.ch, sql.data, NULL, &i->rows, &err) < 0)
		fail_msg("%s", err.text);
	buf_free(&sql);
	clickhouse_server_do(&w->server,
			     "ALTER TABLE links DELETE WHERE topic = 'of %s' "
			     "SETTINGS mutations_sync = 2",
			     topic);
}

static uint64_t links_of(struct sink_world *w, const char *topic)
{
	return clickhouse_server_number(
		&w->server,
		"SELECT count() FROM links FINAL WHERE topic = '%s' AND "
		"epoch = 1",
		topic);
}

static void take_links(struct sink_world *w, const char *topic)
{
	clickhouse_server_do(&w->server,
			     "ALTER TABLE links UPDATE epoch = 99 WHERE topic "
			     "= '%s' SETTINGS mutations_sync = 2",
			     topic);
	assert_int_equal(links_of(w, topic), 0);
}

/* A missing row of links may have been replaced: once ClickHouse answers an
 * unused token, this is accepted. */
static void links_are_sent_again_under_a_token_that_nobody_had(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_links(w, &i, "links", 0, 4);
	run_insertion(w, &i, SINK_LINKS);
	assert_int_equal(links_of(w, "links"), 5);
	take_links(w, "links");
	i.state.doubt = true;
	run_insertion(w, &i, SINK_LINKS);
	assert_int_equal(links_of(w, "links"), 5);
	assert_int_equal(i.state.number, 1);
	/* Another owner's first token with that number is a different one. */
	take_links(w, "links");
	i.state = (struct insertion_state){.doubt = true, .kept_ms = KEPT_MS};
	run_insertion(w, &i, SINK_LINKS);
	assert_int_equal(links_of(w, "links"), 5);
	assert_int_equal(i.state.number, 1);
	release_insert(&i);
}

static void what_is_answered_of_links_is_believed(void **state)
{
	struct sink_world *w = *state;
	struct insert i;

	make_links(w, &i, "gone", 0, 0);
	/* Each new row is replaced at once. */
	clickhouse_server_do(&w->server, "RENAME TABLE links TO kept");
	clickhouse_server_do(&w->server,
			     "CREATE TABLE links AS kept ENGINE = Null");
	i.state.doubt = true;
	run_insertion(w, &i, SINK_LINKS);
	assert_int_equal(i.state.number, 1);
	clickhouse_server_do(&w->server, "DROP TABLE links");
	clickhouse_server_do(&w->server, "RENAME TABLE kept TO links");
	release_insert(&i);
}

/* --- killing inserts ------------------------------------------------------ */

static void
an_insert_in_doubt_is_ended_before_its_rows_are_counted(void **state)
{
	struct sink_world *w = *state;
	struct slow_insert before;
	struct insert i;

	make_clicks(w, &i, "slow first", 0, 9);
	slow_insert_start(&w->server, &before, "clicks", i.name);
	i.state.doubt = true;
	run_insertion(w, &i, SINK_CLICKS);
	assert_int_equal(slow_inserts_running(&w->server), 0);
	slow_insert_end(&before);
	assert_int_equal(before.status, -1);
	assert_int_equal(rows_of(w, "slow first"), 10);
	release_insert(&i);
}

/* The former owner was replaced in the middle of both inserts. */
static void inserts_of_the_owner_before_are_ended(void **state)
{
	struct sink_world *w = *state;
	struct plan_facts f = {.committed = true,
			       .kind = INTENT_OURS,
			       .epoch = 3,
			       .intent = {2, true, 5, 9}};
	struct slow_insert rows, report, other;
	struct error err = {0};

	slow_insert_start(&w->server, &rows, "clicks", "2:former:4:5-9");
	slow_insert_start(&w->server, &report, "ingest_progress",
			  "2:former:4:5-9");
	slow_insert_start(&w->server, &other, "clicks", "2:former:4:5-99");
	/* An insert is not killed if Kafka does not name it, or if another
	 * program sent it. */
	f.intent.has_batch = false;
	assert_int_equal(insertion_end_former(w->sink, SINK_CLICKS, "former", 4,
					      &f, &err),
			 0);
	f.intent.has_batch = true;
	f.kind = INTENT_FOREIGN;
	assert_int_equal(insertion_end_former(w->sink, SINK_CLICKS, "former", 4,
					      &f, &err),
			 0);
	f.kind = INTENT_OURS;
	f.committed = false;
	assert_int_equal(insertion_end_former(w->sink, SINK_CLICKS, "former", 4,
					      &f, &err),
			 0);
	assert_int_equal(slow_inserts_running(&w->server), 3);
	f.committed = true;
	assert_int_equal(insertion_end_former(w->sink, SINK_CLICKS, "former", 4,
					      &f, &err),
			 0);
	assert_int_equal(slow_inserts_running(&w->server), 1);
	slow_insert_end(&rows);
	slow_insert_end(&report);
	assert_int_equal(rows.status, -1);
	assert_int_equal(report.status, -1);
	assert_int_equal(
		insertion_end(w->sink, SINK_CLICKS, "2:former:4:5-99", &err),
		0);
	slow_insert_end(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_in_doubt_is_sent),
		cmocka_unit_test(what_is_in_doubt_and_not_stored_is_sent),
		cmocka_unit_test(what_is_stored_is_not_sent_again),
		cmocka_unit_test(
			one_that_is_stored_in_part_is_made_anew_by_its_owner),
		cmocka_unit_test(only_its_own_rows_are_counted),
		cmocka_unit_test(all_parts_of_an_insert_are_counted),
		cmocka_unit_test(
			nothing_is_sent_once_its_token_may_be_forgotten),
		cmocka_unit_test(a_count_makes_a_token_known_to_be_unused),
		cmocka_unit_test(
			a_token_that_outlives_its_rows_is_not_used_again),
		cmocka_unit_test(one_that_is_answered_and_never_stored_fails),
		cmocka_unit_test(a_report_is_there_once),
		cmocka_unit_test(a_report_of_other_offsets_is_another),
		cmocka_unit_test(
			links_are_sent_again_under_a_token_that_nobody_had),
		cmocka_unit_test(what_is_answered_of_links_is_believed),
		cmocka_unit_test(
			an_insert_in_doubt_is_ended_before_its_rows_are_counted),
		cmocka_unit_test(inserts_of_the_owner_before_are_ended),
	};

	return cmocka_run_group_tests_name(
		"insertion", tests, sink_world_set_up, sink_world_tear_down);
}
