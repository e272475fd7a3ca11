/* An assigned partition is recovered before it is read; a contradiction between
 * Kafka and ClickHouse stops it. */
#include "tests/unit/clickhouse_server.h"
#include "tests/unit/collector/assignments_world.h"

enum {
	AGAIN_MS = 1000, /* time between two recoveries that fail */
	DECISION_MS =
		2000, /* time between two recoveries of a stopped partition */
};

/* --- assignment ----------------------------------------------------------- */

static void a_partition_is_recovered_before_it_is_read(void **state)
{
	struct world *w = *state;
	struct recovery *r;

	add_partition(w);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_true(w->p->paused);
	assert_int_equal(w->ingest->schedule.rates[SINK_CLICKS].held, 1);
	r = begin_recovery(w, w->p, 0);
	assert_ptr_equal(r->partition, w->p);
	assert_int_equal(r->assignment, w->p->assignment);
	assert_int_equal(r->table, SINK_CLICKS);
	assert_int_equal(insert_workers_pending(w->a.workers), 2);
	plan_to_read(r);
	assert_int_equal(kafka.commits + kafka.resumed + kafka.sought, 0);
}

static void one_recovery_is_under_way_at_a_time(void **state)
{
	struct world *w = *state;
	struct recovery *r;

	add_partition(w);
	r = begin_recovery(w, w->p, 100);
	plan_to_read(r);
	assert_int_equal(w->p->recovery.retry_at, 100 + AGAIN_MS);
	assignments_update(&w->a, 100 + AGAIN_MS);
	assert_ptr_equal(w->p->recovery.job, r);
	assert_int_equal(insert_workers_pending(w->a.workers), 2);
}

static void links_go_into_their_own_table(void **state)
{
	struct world *w = *state;
	struct partition *p;

	assignments_add(&w->a, "links", 3);
	p = partitions_find(&w->ingest->all, "links", 3);
	assert_non_null(p);
	assert_int_equal(p->table, SINK_LINKS);
	assert_true(p->paused);
	assert_int_equal(w->ingest->schedule.rates[SINK_LINKS].held, 1);
}

/* Any state of an earlier assignment is obsolete by now. */
static void a_partition_that_comes_back_begins_anew(void **state)
{
	struct world *w = *state;
	uint32_t assignment = w->p->assignment;

	ingest_fill(w->p, 0, 4);
	w->p->recovery.retry_at = INT64_MAX;
	add_partition(w);
	assert_int_equal(w->p->assignment, assignment + 1);
	assert_int_equal(w->p->filling.events, 0);
	assert_int_equal(w->p->next_offset, -1);
	plan_to_read(begin_recovery(w, w->p, 0));
}

/* --- results of a recovery ------------------------------------------------ */

static void what_was_recovered_is_claimed(void **state)
{
	struct world *w = *state;
	struct partition *p = w->p;
	struct error err = {0};
	struct recovery *r;

	add_partition(w);
	r = begin_recovery(w, p, 1);
	plan_to_read(r);
	r->plan.intent = (struct intent){EPOCH, true, POSITION, POSITION + 9};
	r->asked_ms = 12345;
	r->since_ms = 678;
	r->lost = 3;
	assert_int_equal(ranges_add(&r->stored, 701, 703, &err), 0);
	open_gate(w);
	assert_int_equal(p->state, PARTITION_CLAIMING);
	assert_int_equal(p->epoch, EPOCH);
	assert_true(p->position_known);
	assert_int_equal(p->position, POSITION);
	assert_int_equal(p->next_offset, POSITION);
	assert_int_equal(p->asked_ms, 12345);
	assert_int_equal(p->append_ms, 678);
	assert_true(p->repeat.has_batch);
	assert_int_equal(p->repeat.last, POSITION + 9);
	assert_int_equal(ranges_count(&p->stored, 0, UINT64_MAX - 1), 3);
	assert_int_equal(metric_value(w->ingest->metrics.lost_offsets), 3);
	assert_null(p->recovery.job);
	/* The partition is read once the claim is committed. */
	assert_int_equal(kafka.commits, 1);
	assert_int_equal(kafka.committed, POSITION);
	assignments_update(&w->a, 1);
	assert_int_equal(kafka.sought, 0);
}

static void the_log_says_where_a_partition_goes_on(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	struct recovery *r;

	add_partition(w);
	r = begin_recovery(w, w->p, 1);
	plan_to_read(r);
	r->plan.intent = (struct intent){EPOCH, true, POSITION, POSITION + 9};
	assert_int_equal(ranges_add(&r->stored, 701, 703, &err), 0);
	open_gate(w);
	assert_int_equal(lines_with(w, "topic=clicks partition=0 epoch=7 "
				       "from=700 to_repeat=10 stored=3"),
			 1);
	assert_int_equal(lines_with(w, "no longer holds"), 0);
}

static void the_log_says_what_kafka_no_longer_holds(void **state)
{
	struct world *w = *state;
	struct recovery *r;

	add_partition(w);
	r = begin_recovery(w, w->p, 1);
	plan_to_read(r);
	r->plan.gap = true;
	r->plan.gap_first = POSITION - 50;
	r->lost = 20;
	open_gate(w);
	assert_int_equal(lines_with(w, "no longer holds"), 1);
	assert_int_equal(lines_with(w, "first=650 last=699 lost=20"), 1);
}

/* Rows that are made from now on lack what is on the list. */
static void what_is_forgotten_is_known_before_one_is_read(void **state)
{
	const struct forgotten_state nothing = {0};
	struct world *w = *state;
	struct clickhouse_server server;
	struct forgotten_state known;
	struct error err = {0};
	struct recovery *r;

	clickhouse_server_start(&server);
	clickhouse_server_migrate(&server);
	clickhouse_server_do(&server, "INSERT INTO forgotten SELECT 7, "
				      "repeat('\\0', 20), 0, 'me'");
	add_partition(w);
	r = begin_recovery(w, w->p, 1);
	plan_to_read(r);
	assert_int_equal(
		forgotten_load(server.ch, &nothing, &r->forgotten, &err), 0);
	assert_non_null(r->forgotten);
	known = forgotten_state_of(r->forgotten);
	open_gate(w);
	close_gate(w);
	clickhouse_server_stop(&server);
	assert_int_equal(enricher_forgotten(w->a.enricher).rows, known.rows);
	assert_int_equal(enricher_forgotten(w->a.enricher).sum, known.sum);
	/* The next recovery queries only new entries. */
	partition_restart(w->p, 1);
	r = begin_recovery(w, w->p, 1);
	plan_to_read(r);
	assert_int_equal(r->forgotten_known.rows, known.rows);
	assert_int_equal(r->forgotten_known.sum, known.sum);
}

static void what_was_stored_before_is_not_kept_twice(void **state)
{
	struct world *w = *state;
	struct error err = {0};
	struct recovery *r;

	add_partition(w);
	assert_int_equal(ranges_add(&w->p->stored, 1, 2, &err), 0);
	r = begin_recovery(w, w->p, 1);
	plan_to_read(r);
	open_gate(w);
	assert_int_equal(w->p->stored.count, 0);
}

static void a_claim_that_is_committed_is_read_from(void **state)
{
	struct world *w = *state;

	read_partition(w);
	assert_false(w->p->paused);
	assert_int_equal(kafka.resumed, 1);
	assert_int_equal(kafka.sought, 1);
	assert_int_equal(kafka.resumed_at_seek, 1);
	assert_int_equal(kafka.sought_to, POSITION);
}

static void nothing_is_read_before_what_to_pass_over_is_known(void **state)
{
	struct world *w = *state;

	add_partition(w);
	w->p->state = PARTITION_SEEKING;
	w->ingest->passes.are_known = false;
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_SEEKING);
	assert_int_equal(kafka.resumed + kafka.sought, 0);
	w->ingest->passes.are_known = true;
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_READING);
}

static void a_partition_that_cannot_be_read_yet_is_tried_again(void **state)
{
	struct world *w = *state;

	add_partition(w);
	w->p->state = PARTITION_SEEKING;
	kafka.resume = RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_SEEKING);
	assert_int_equal(kafka.sought, 0);
	kafka.resume = RD_KAFKA_RESP_ERR_NO_ERROR;
	kafka.seek = RD_KAFKA_RESP_ERR__TIMED_OUT;
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_SEEKING);
	assert_true(w->p->paused);
	kafka.seek = RD_KAFKA_RESP_ERR_NO_ERROR;
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_READING);
	assert_false(w->p->paused);
}

/* --- failed recoveries ---------------------------------------------------- */

static void a_recovery_that_fails_is_tried_again_later(void **state)
{
	struct world *w = *state;
	int64_t before = clock_monotonic_ms(), at;

	health_up(w->ingest->connections.clickhouse);
	add_partition(w);
	plan_to_fail(begin_recovery(w, w->p, 1), true);
	open_gate(w);
	close_gate(w);
	at = w->p->recovery.retry_at;
	assert_in_range(at, before + AGAIN_MS, clock_monotonic_ms() + AGAIN_MS);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(kafka.commits, 0);
	/* The fault is Kafka's. */
	assert_true(health_is_up(w->ingest->connections.clickhouse));
	assignments_update(&w->a, at - 1);
	assert_null(w->p->recovery.job);
	plan_to_fail(begin_recovery(w, w->p, at), false);
	open_gate(w);
	assert_false(health_is_up(w->ingest->connections.clickhouse));
}

static void an_answer_says_that_clickhouse_is_there(void **state)
{
	struct world *w = *state;

	add_partition(w);
	assert_false(health_is_up(w->ingest->connections.clickhouse));
	plan_to_read(begin_recovery(w, w->p, 1));
	open_gate(w);
	assert_true(health_is_up(w->ingest->connections.clickhouse));
}

/* Another collector may have owned the partition in between. */
static void an_answer_to_an_earlier_assignment_is_dropped(void **state)
{
	struct world *w = *state;
	struct recovery *earlier, *later;

	add_partition(w);
	earlier = begin_recovery(w, w->p, 1);
	plan_to_read(earlier);
	assignments_revoke(&w->a, "clicks", 0, false, false);
	assert_null(w->p->recovery.job);
	add_partition(w);
	later = begin_recovery(w, w->p, 1);
	plan_to_fail(later, true);
	assert_ptr_not_equal(later, earlier);
	/* The later recovery fails, so only the earlier one could be claimed.
	 */
	open_gate(w);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(kafka.commits, 0);
	assert_null(w->p->recovery.job);
}

static void
an_answer_that_comes_after_the_partition_went_is_dropped(void **state)
{
	struct world *w = *state;

	add_partition(w);
	plan_to_read(begin_recovery(w, w->p, 1));
	assignments_revoke(&w->a, "clicks", 0, false, false);
	open_gate(w);
	assert_int_equal(w->p->state, PARTITION_UNASSIGNED);
	assert_int_equal(kafka.commits, 0);
}

/* The records that were read did not match, so the partition is recovered
 * again. */
static void
a_restart_does_not_take_the_answer_to_the_recovery_before(void **state)
{
	struct world *w = *state;
	struct recovery *earlier, *later;

	add_partition(w);
	earlier = begin_recovery(w, w->p, 1);
	plan_to_read(earlier);
	partition_restart(w->p, 1);
	later = begin_recovery(w, w->p, 1);
	plan_to_fail(later, true);
	open_gate(w);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(kafka.commits, 0);
}

/* --- stopped partitions --------------------------------------------------- */

static void a_disagreement_stops_the_partition(void **state)
{
	struct world *w = *state;
	int64_t before = clock_monotonic_ms();
	int64_t at;

	add_partition(w);
	stop_partition(w, w->p, "the log went back");
	assert_string_equal(w->p->recovery.stop_reason, "the log went back");
	assert_int_equal(metric_value(w->p->stopped), 1);
	assert_int_equal(kafka.commits, 0);
	assert_health(w, "1 partitions stopped, the first is clicks 0: the log "
			 "went back");
	/* The operator's decision is polled. */
	at = w->p->recovery.retry_at;
	assert_in_range(at, before + DECISION_MS,
			clock_monotonic_ms() + DECISION_MS);
	assignments_update(&w->a, at - 1);
	assert_null(w->p->recovery.job);
	stop_partition(w, w->p, "the log went back");
	assert_int_equal(lines_with(w, "partition stopped until"), 1);
	stop_partition(w, w->p, "no epoch");
	assert_int_equal(lines_with(w, "partition stopped until"), 2);
}

static void a_decision_lets_it_go_on(void **state)
{
	struct world *w = *state;

	add_partition(w);
	stop_partition(w, w->p, "the log went back");
	plan_to_read(begin_recovery(w, w->p, w->p->recovery.retry_at));
	open_gate(w);
	assert_int_equal(w->p->state, PARTITION_CLAIMING);
	assert_null(w->p->recovery.stop_reason);
	assert_int_equal(metric_value(w->p->stopped), 0);
	assert_health(w, NULL);
}

static void each_partition_that_is_stopped_is_named_or_counted(void **state)
{
	struct world *w = *state;
	struct partition *other;

	assignments_add(&w->a, "links", 3);
	other = partitions_find(&w->ingest->all, "links", 3);
	stop_partition(w, other, "no epoch");
	assert_health(w, "1 partitions stopped, the first is links 3");
	add_partition(w);
	other->recovery.retry_at = INT64_MAX;
	stop_partition(w, w->p, "the log went back");
	assert_health(w, "2 partitions stopped, the first is clicks 0");
	assignments_revoke(&w->a, "clicks", 0, false, false);
	assert_health(w, "1 partitions stopped, the first is links 3");
	assignments_revoke(&w->a, "links", 3, false, false);
	assert_health(w, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASSIGNMENTS_TEST(a_partition_is_recovered_before_it_is_read),
		ASSIGNMENTS_TEST(one_recovery_is_under_way_at_a_time),
		ASSIGNMENTS_TEST(links_go_into_their_own_table),
		ASSIGNMENTS_TEST(a_partition_that_comes_back_begins_anew),
		ASSIGNMENTS_TEST(what_was_recovered_is_claimed),
		ASSIGNMENTS_TEST(the_log_says_where_a_partition_goes_on),
		ASSIGNMENTS_TEST(the_log_says_what_kafka_no_longer_holds),
		ASSIGNMENTS_TEST(what_is_forgotten_is_known_before_one_is_read),
		ASSIGNMENTS_TEST(what_was_stored_before_is_not_kept_twice),
		ASSIGNMENTS_TEST(a_claim_that_is_committed_is_read_from),
		ASSIGNMENTS_TEST(
			nothing_is_read_before_what_to_pass_over_is_known),
		ASSIGNMENTS_TEST(
			a_partition_that_cannot_be_read_yet_is_tried_again),
		ASSIGNMENTS_TEST(a_recovery_that_fails_is_tried_again_later),
		ASSIGNMENTS_TEST(an_answer_says_that_clickhouse_is_there),
		ASSIGNMENTS_TEST(an_answer_to_an_earlier_assignment_is_dropped),
		ASSIGNMENTS_TEST(
			an_answer_that_comes_after_the_partition_went_is_dropped),
		ASSIGNMENTS_TEST(
			a_restart_does_not_take_the_answer_to_the_recovery_before),
		ASSIGNMENTS_TEST(a_disagreement_stops_the_partition),
		ASSIGNMENTS_TEST(a_decision_lets_it_go_on),
		ASSIGNMENTS_TEST(
			each_partition_that_is_stopped_is_named_or_counted),
	};

	return cmocka_run_group_tests(tests, ingest_connect, ingest_disconnect);
}
