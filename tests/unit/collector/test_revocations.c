/* A revoked partition: work under way is waited for, within limits, and no
 * state of it stays. */
#include "tests/unit/collector/assignments_world.h"

enum {
	DRAIN_MS = 5000, /* time for an insert */
};

/* --- revocation ----------------------------------------------------------- */

static void a_partition_that_goes_leaves_nothing_behind(void **state)
{
	struct world *w = *state;
	struct partition *p = w->p;
	uint32_t assignment;

	add_partition(w);
	stop_partition(w, p, "the log went back");
	ingest_fill(p, 0, 4);
	p->paused = p->urgent = p->position_known = true;
	metric_set(p->lag, 17);
	assignment = p->assignment;
	assignments_revoke(&w->a, "clicks", 0, false, false);
	assert_int_equal(p->state, PARTITION_UNASSIGNED);
	assert_int_equal(p->assignment, assignment + 1);
	assert_int_equal(p->filling.events, 0);
	assert_false(p->paused);
	assert_false(p->urgent);
	assert_false(p->position_known);
	assert_null(p->recovery.stop_reason);
	assert_int_equal(metric_value(p->stopped), 0);
	assert_int_equal(metric_value(p->lag), 0);
	assert_int_equal(w->ingest->schedule.rates[SINK_CLICKS].held, 0);
	assert_health(w, NULL);
}

static void a_partition_that_was_never_ours_may_go(void **state)
{
	struct world *w = *state;

	assignments_revoke(&w->a, "clicks", 99, false, true);
	assert_null(partitions_find(&w->ingest->all, "clicks", 99));
}

/* --- work under way at the revocation ------------------------------------- */

static void store_all(struct insert_job *job, struct sink *sink)
{
	(void)sink;
	((struct batch_insert *)job)->result = BATCH_INSERT_DONE;
}

/* Sends a batch; its insert waits behind the gate. */
static void send_batch(struct world *w, uint64_t last)
{
	struct partition *p = w->p;

	ingest_fill(p, POSITION, last);
	inserts_begin(&w->ingest->inserts, p);
	assert_non_null(p->insert.job);
	p->insert.job->job.run = store_all;
	inserts_on_committed(&w->ingest->inserts, p, NULL);
	assert_int_equal(p->insert.step, INSERT_RUNNING);
	kafka.commits = 0;
}

static void what_is_stored_meanwhile_is_committed_before_it_goes(void **state)
{
	struct world *w = *state;

	read_partition(w);
	send_batch(w, POSITION + 9);
	kafka.answer_at = 100;
	atomic_store(&w->open, true);
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_int_equal(kafka.commits, 1);
	assert_int_equal(kafka.committed, POSITION + 10);
	assert_false(w->p->commit.awaited);
	assert_int_equal(kafka.polls, 100);
	assert_int_equal(w->p->state, PARTITION_UNASSIGNED);
}

static void without_waiting_nothing_is_committed(void **state)
{
	struct world *w = *state;

	read_partition(w);
	send_batch(w, POSITION + 9);
	assignments_revoke(&w->a, "clicks", 0, false, false);
	assert_int_equal(kafka.polls + kafka.commits, 0);
}

static void nothing_new_is_begun_while_it_goes(void **state)
{
	struct world *w = *state;
	struct partition *p = w->p;

	read_partition(w);
	ingest_fill(p, POSITION, POSITION + 9);
	inserts_begin(&w->ingest->inserts, p);
	p->insert.job->job.run = store_all;
	assert_true(p->commit.awaited);
	kafka.answer_at = 3;
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_int_equal(kafka.polls, 3);
	/* Only the gate is pending: the batch's insert was not begun. */
	assert_int_equal(insert_workers_pending(w->a.workers), 1);
}

/* The next owner already reads from another position. */
static void what_was_lost_is_not_committed(void **state)
{
	struct world *w = *state;

	read_partition(w);
	send_batch(w, POSITION + 9);
	atomic_store(&w->open, true);
	assignments_revoke(&w->a, "clicks", 0, true, true);
	open_gate(w);
	assert_int_equal(kafka.commits, 0);
	assert_int_equal(w->p->position, POSITION);
}

/* The answer to a commit before the loss no longer counts. */
static void a_loss_makes_the_answers_to_come_an_earlier_owners(void **state)
{
	struct world *w = *state;
	uint32_t assignment;

	read_partition(w);
	assignment = w->p->assignment;
	assignments_revoke(&w->a, "clicks", 0, true, false);
	assert_int_equal(w->p->assignment, assignment + 2);
}

static void an_insert_without_end_is_not_waited_for(void **state)
{
	struct world *w = *state;
	int64_t begin;

	read_partition(w);
	send_batch(w, POSITION + 9);
	begin = clock_monotonic_ms();
	w->a.drain_from = begin - DRAIN_MS + 200;
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_true(clock_monotonic_ms() >= begin + 200);
	assert_int_equal(w->p->state, PARTITION_UNASSIGNED);
	assert_int_equal(kafka.commits, 0);
}

/* Partitions that are revoked together share the time. */
static void the_first_that_goes_begins_the_time_of_all(void **state)
{
	struct world *w = *state;
	int64_t before = clock_monotonic_ms();

	read_partition(w);
	assert_int_equal(w->a.drain_from, 0);
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_in_range(w->a.drain_from, before, clock_monotonic_ms());
	assignments_update(&w->a, 1);
	assert_int_equal(w->a.drain_from, 0);
}

/* Kafka may keep the commit that long, and send it under another generation. */
static void an_answer_to_a_commit_is_waited_for_beyond_that(void **state)
{
	struct world *w = *state;

	read_partition(w);
	inserts_commit(&w->ingest->inserts, w->p);
	assert_true(w->p->commit.awaited);
	w->a.drain_from = clock_monotonic_ms() - DRAIN_MS - 1000;
	kafka.answer_at = 5;
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_int_equal(kafka.polls, 5);
	assert_false(w->p->commit.awaited);
}

static void a_commit_that_was_refused_waits_for_its_time(void **state)
{
	struct world *w = *state;
	int64_t begin = clock_monotonic_ms();

	read_partition(w);
	w->p->commit.due = true;
	w->p->commit.not_before = begin + 100;
	assignments_revoke(&w->a, "clicks", 0, false, true);
	assert_int_equal(kafka.commits, 1);
	assert_true(clock_monotonic_ms() >= begin + 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASSIGNMENTS_TEST(a_partition_that_goes_leaves_nothing_behind),
		ASSIGNMENTS_TEST(a_partition_that_was_never_ours_may_go),
		ASSIGNMENTS_TEST(
			what_is_stored_meanwhile_is_committed_before_it_goes),
		ASSIGNMENTS_TEST(without_waiting_nothing_is_committed),
		ASSIGNMENTS_TEST(nothing_new_is_begun_while_it_goes),
		ASSIGNMENTS_TEST(what_was_lost_is_not_committed),
		ASSIGNMENTS_TEST(
			a_loss_makes_the_answers_to_come_an_earlier_owners),
		ASSIGNMENTS_TEST(an_insert_without_end_is_not_waited_for),
		ASSIGNMENTS_TEST(the_first_that_goes_begins_the_time_of_all),
		ASSIGNMENTS_TEST(
			an_answer_to_a_commit_is_waited_for_beyond_that),
		ASSIGNMENTS_TEST(a_commit_that_was_refused_waits_for_its_time),
	};

	return cmocka_run_group_tests(tests, ingest_connect, ingest_disconnect);
}
