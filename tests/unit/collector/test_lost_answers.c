/* Each answer of a real ClickHouse is lost once, while a partition is recovered
 * and while an insert that is in doubt is settled: both fail, and the next try
 * has the result that one without a fault has. */
#include "tests/unit/collector/sink_world.h"
#include "tests/unit/lost_answers.h"

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/insertion.h"
#include "collector/ingest/recovery.h"
#include "common/clock.h"

enum {
	APPEND_MS = 7200000,
	RECOVERY_REQUESTS = 6,
	INSERTION_REQUESTS = 5, /* of an insert that is in doubt */
};

/* --- a recovery ------------------------------------------------------------
 */

static int recover_partition(struct sink_world *w, const char *topic,
			     struct error *err)
{
	const struct recovery_setup setup = {
		.epoch = 2, .start = PLAN_ASK, .collector = "me"};
	struct recovery *r = recovery_new(&setup, topic, 4, SINK_CLICKS);
	struct stored_report report = {0};
	int status;

	assert_non_null(r);
	status = recovery_ask_clickhouse(r, w->sink, &report, err);
	if (status == 0) {
		assert_int_equal(report.next, 5);
		assert_int_equal(ranges_end(&r->stored), 7);
	}
	recovery_free(r);
	return status;
}

static void a_recovery_fails_without_any_one_of_its_answers(void **state)
{
	struct sink_world *w = *state;
	struct error err = {0};

	clickhouse_server_do(&w->server,
			     "INSERT INTO clicks (epoch, topic, partition, "
			     "offset, append_time) SELECT 2, 'r', 4, number, "
			     "now() FROM numbers(7)");
	clickhouse_server_do(&w->server,
			     "INSERT INTO ingest_progress (epoch, topic, "
			     "partition, first, last, rows, append_time) "
			     "SELECT 2, 'r', 4, 0, 4, 5, now()");
	assert_int_equal(recover_partition(w, "r", &err), 0);
	lost.how = NOT_SENT;
	for (int at = 1; at <= RECOVERY_REQUESTS; at++) {
		lost.in = at;
		if (recover_partition(w, "r", &err) == 0)
			fail_msg("without answer %d", at);
		assert_int_equal(lost.in, 0);
	}
	lost.in = RECOVERY_REQUESTS + 1;
	assert_int_equal(recover_partition(w, "r", &err), 0);
	assert_int_equal(lost.in, 1);
	lost.in = 0;
}

/* --- an insert that is in doubt --------------------------------------------
 */

struct insert {
	struct insertion_part part;
	struct insertion in;
	struct insertion_state state;
	struct buf rows;
	char name[BATCH_NAME_MAX];
};

/* A report of ten events. */
static void make_report(struct insert *i, const char *topic)
{
	const struct progress_origin origin = {
		.epoch = 1, .topic = topic, .partitions = 1, .collector = "a"};
	const struct batch b = {
		.last = 9, .row_count = 10, .append_ms = APPEND_MS};

	*i = (struct insert){.part = {.key = {"ingest_progress", topic, 0, 1},
				      .last = 9,
				      .since_ms = APPEND_MS}};
	insert_name(1, topic, 0, "", 0, 9, i->name);
	batch_progress_row(&b, &origin, &i->rows);
	i->state = (struct insertion_state){.doubt = true,
					    .known_ms = clock_boottime_ms(),
					    .kept_ms = INT64_MAX};
	i->in = (struct insertion){
		.table = SINK_PROGRESS,
		.name = i->name,
		.parts = &i->part,
		.part_count = 1,
		.rows = i->rows.data,
		.len = i->rows.len,
		.count = 10,
	};
}

static uint64_t reports_of(struct sink_world *w, const char *topic)
{
	return clickhouse_server_number(
		&w->server,
		"SELECT count() FROM ingest_progress WHERE topic = '%s'",
		topic);
}

static void lose_one(struct sink_world *w, enum fault how, int at)
{
	struct error err = {0};
	struct insert i;
	char topic[32];
	int status;

	snprintf(topic, sizeof(topic), "i%d-%d", (int)how, at);
	make_report(&i, topic);
	i.in.parts = &i.part;
	lost.how = how;
	lost.in = at;
	status = insertion_run(w->sink, &i.in, &i.state, &err);
	if (at <= INSERTION_REQUESTS) {
		if (status == 0)
			fail_msg("fault %d, answer %d", (int)how, at);
		assert_int_equal(lost.in, 0);
		assert_true(i.state.doubt);
		status = insertion_run(w->sink, &i.in, &i.state, &err);
	}
	if (status < 0)
		fail_msg("%s", err.text);
	assert_false(i.state.doubt);
	lost.in = 0;
	assert_int_equal(reports_of(w, topic), 1);
	buf_free(&i.rows);
}

static void an_insert_that_fails_is_stored_once_by_the_next_try(void **state)
{
	struct sink_world *w = *state;

	for (int at = 1; at <= INSERTION_REQUESTS + 1; at++) {
		lose_one(w, NOT_SENT, at);
		lose_one(w, LOST, at);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_recovery_fails_without_any_one_of_its_answers),
		cmocka_unit_test(
			an_insert_that_fails_is_stored_once_by_the_next_try),
	};

	return cmocka_run_group_tests_name(
		"lost answers", tests, sink_world_set_up, sink_world_tear_down);
}
