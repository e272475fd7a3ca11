/* The way of a batch: when its intent is committed, when it is sent, and its
 * result. */
#include "tests/unit/collector/ingest_world.h"

static const struct error refused = {.code = ERROR_REMOTE, .text = "no"};

/* The worker's result; it replaces ClickHouse's answer. */
static enum batch_insert_result outcome;

static void end_so(struct insert_job *job, struct sink *sink)
{
	struct batch_insert *d = (struct batch_insert *)job;

	(void)sink;
	d->result = outcome;
	d->err = refused;
}

static void begin_insert(struct ingest_world *w, struct partition *p)
{
	inserts_begin(&w->inserts, p);
	assert_non_null(p->insert.job);
	p->insert.job->job.run = end_so;
}

/* The brokers answer the commit that is under way. */
static void answer_commit(struct ingest_world *w, const struct error *err)
{
	inserts_on_committed(&w->inserts, w->p, err);
}

/* Waits until the jobs under way have ended. */
static void await_jobs(struct ingest_world *w)
{
	for (int i = 0;
	     i < 6000 && insert_workers_pending(w->inserts.workers) > 0; i++)
		insert_workers_serve(w->inserts.workers, 10);
	assert_int_equal(insert_workers_pending(w->inserts.workers), 0);
}

static size_t count_pending_jobs(struct ingest_world *w)
{
	return insert_workers_pending(w->inserts.workers);
}

/* --- the intent ----------------------------------------------------------- */

static void nothing_is_sent_before_its_intent_is_committed(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	ingest_fill(p, 0, 4);
	begin_insert(w, p);
	assert_int_equal(p->insert.step, INSERT_COMMITTING_INTENT);
	assert_true(p->commit.awaited);
	assert_true(p->commit.has_intent);
	assert_int_equal(p->filling.events, 0);
	assert_int_equal(count_pending_jobs(w), 0);
	inserts_update(&w->inserts, &w->all, clock_monotonic_ms() + 60000);
	assert_int_equal(count_pending_jobs(w), 0);
	answer_commit(w, NULL);
	assert_int_equal(p->insert.step, INSERT_RUNNING);
	assert_false(p->commit.awaited);
	assert_int_equal(count_pending_jobs(w), 1);
}

static void nor_after_a_refusal(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;
	int64_t now = clock_monotonic_ms();

	ingest_fill(p, 0, 4);
	begin_insert(w, p);
	answer_commit(w, &refused);
	assert_int_equal(p->insert.step, INSERT_COMMITTING_INTENT);
	assert_int_equal(count_pending_jobs(w), 0);
	assert_int_equal(metric_value(w->metrics.commit_failures), 1);
	/* The intent is committed again, half a second later. */
	assert_true(p->commit.due);
	inserts_update(&w->inserts, &w->all, now);
	assert_false(p->commit.awaited);
	inserts_update(&w->inserts, &w->all, p->commit.not_before);
	assert_true(p->commit.awaited);
	assert_false(p->commit.due);
	answer_commit(w, NULL);
	assert_int_equal(count_pending_jobs(w), 1);
}

/* The commit under way has only a position. */
static void the_answer_to_another_commit_is_no_intents(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	inserts_commit(&w->inserts, p);
	assert_true(p->commit.awaited);
	assert_false(p->commit.has_intent);
	ingest_fill(p, 0, 4);
	begin_insert(w, p);
	/* Only one commit is under way at a time. */
	assert_false(p->commit.has_intent);
	assert_true(p->commit.due);
	answer_commit(w, NULL);
	assert_int_equal(p->insert.step, INSERT_COMMITTING_INTENT);
	assert_int_equal(count_pending_jobs(w), 0);
	assert_true(p->commit.awaited);
	assert_true(p->commit.has_intent);
	answer_commit(w, NULL);
	assert_int_equal(count_pending_jobs(w), 1);
}

static void nor_is_an_answer_to_the_owner_before(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	ingest_fill(p, 0, 4);
	begin_insert(w, p);
	p->assignment++;
	answer_commit(w, NULL);
	assert_int_equal(p->insert.step, INSERT_COMMITTING_INTENT);
	assert_int_equal(count_pending_jobs(w), 0);
	p->assignment--;
	p->state = PARTITION_UNASSIGNED;
	answer_commit(w, NULL);
	assert_int_equal(p->insert.step, INSERT_COMMITTING_INTENT);
	assert_int_equal(count_pending_jobs(w), 0);
}

static void a_partition_that_goes_begins_nothing(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	ingest_fill(p, 0, 4);
	begin_insert(w, p);
	p->state = PARTITION_REVOKING;
	p->commit.due = true;
	answer_commit(w, NULL);
	assert_int_equal(p->insert.step, INSERT_READY);
	assert_int_equal(count_pending_jobs(w), 0);
	assert_false(p->commit.awaited);
}

static void a_claim_that_is_committed_is_read_from(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	p->state = PARTITION_CLAIMING;
	inserts_commit(&w->inserts, p);
	answer_commit(w, &refused);
	assert_int_equal(p->state, PARTITION_CLAIMING);
	p->commit.not_before = 0;
	inserts_update(&w->inserts, &w->all, 1);
	assert_false(w->inserts.progressed);
	answer_commit(w, NULL);
	assert_int_equal(p->state, PARTITION_SEEKING);
	assert_true(w->inserts.progressed);
}

static void assert_intent(const struct partition *p, struct intent expected)
{
	struct intent got = partition_intent(p);

	assert_int_equal(got.epoch, expected.epoch);
	assert_int_equal(got.has_batch, expected.has_batch);
	assert_int_equal(got.first, expected.first);
	assert_int_equal(got.last, expected.last);
}

static void an_intent_names_what_is_inserted_next(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	ingest_fill(p, 5, 9);
	assert_intent(p, (struct intent){.epoch = 2});
	/* The former owner's intent stays until its batch is made. */
	p->repeat = (struct intent){2, true, 3, 9};
	assert_intent(p, (struct intent){2, true, 3, 9});
	p->position = 5;
	w->inserts.breaker.open = true;
	begin_insert(w, p);
	assert_intent(p, (struct intent){2, true, 3, 9});
	batch_insert_free(p->insert.job);
	p->insert.job = NULL;
	ingest_fill(p, 10, 12);
	begin_insert(w, p);
	assert_intent(p, (struct intent){2, true, 10, 12});
}

/* --- a batch's state ------------------------------------------------------ */

static void a_batch_of_its_own_is_in_no_doubt(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;
	int64_t before = clock_boottime_ms();
	struct batch_insert *job;

	ingest_fill(p, 10, 14);
	begin_insert(w, p);
	job = p->insert.job;
	assert_false(job->rows.doubt);
	assert_false(job->report.doubt);
	assert_true(job->rows.known_ms >= before);
	/* 10,000 blocks at 1,000 a second take ten seconds; half of that is
	 * used. */
	assert_int_equal(job->rows.kept_ms, 5000);
	assert_int_equal(job->origin.epoch, 2);
	assert_string_equal(job->origin.topic, "clicks");
	assert_string_equal(job->origin.collector, "me");
	assert_int_equal(job->batch.first, 10);
	assert_int_equal(job->batch.name_first, 10);
	assert_int_equal(job->batch.last, 14);
}

static void where_no_token_is_kept_there_is_no_haste(void **state)
{
	struct ingest_world *w = *state;

	w->guarantee.window = 0;
	ingest_fill(w->p, 0, 4);
	begin_insert(w, w->p);
	assert_true(w->p->insert.job->rows.kept_ms == INT64_MAX);
	assert_true(w->p->insert.job->report.kept_ms == INT64_MAX);
}

/* The former owner may have sent the batch at any time since the query. */
static void one_that_is_made_again_is_in_doubt(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;
	struct batch_insert *job;

	p->repeat = (struct intent){2, true, 5, 12};
	p->position = 7;
	p->asked_ms = 77;
	ingest_fill(p, 8, 10);
	begin_insert(w, p);
	job = p->insert.job;
	assert_true(job->rows.doubt);
	assert_true(job->report.doubt);
	assert_int_equal(job->rows.known_ms, 77);
	/* The batch keeps its former name and its report, except for offsets
	 * that are reported elsewhere. */
	assert_int_equal(job->batch.name_first, 5);
	assert_int_equal(job->batch.first, 7);
	assert_int_equal(job->batch.last, 12);
	assert_false(p->repeat.has_batch);
	/* The intent is committed already. */
	assert_false(p->commit.awaited);
	assert_int_equal(count_pending_jobs(w), 1);
}

static void one_that_is_made_again_begins_where_it_began(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	p->repeat = (struct intent){2, true, 5, 12};
	p->position = 3;
	w->inserts.breaker.open = true;
	ingest_fill(p, 6, 10);
	begin_insert(w, p);
	assert_int_equal(p->insert.job->batch.first, 5);
	/* The batch waits while the breaker is open. */
	assert_int_equal(p->insert.step, INSERT_READY);
	assert_int_equal(count_pending_jobs(w), 0);
}

static void batches_of_clicks_and_of_links_are_told_apart(void **state)
{
	struct ingest_world *w = *state;
	struct partition *links = ingest_add(w, "links", 0);

	w->schedule.topic_size[SINK_CLICKS] = 8;
	w->schedule.topic_size[SINK_LINKS] = 3;
	ingest_fill(w->p, 0, 4);
	ingest_fill(links, 0, 4);
	begin_insert(w, w->p);
	begin_insert(w, links);
	assert_int_equal(w->p->insert.job->batch.hour_count, 1);
	assert_int_equal(w->p->insert.job->origin.partitions, 8);
	assert_false(w->p->insert.job->origin.of_links);
	assert_int_equal(w->p->insert.job->table, SINK_CLICKS);
	assert_int_equal(links->insert.job->batch.hour_count, 1);
	assert_int_equal(links->insert.job->origin.partitions, 3);
	assert_true(links->insert.job->origin.of_links);
	assert_int_equal(links->insert.job->table, SINK_LINKS);
}

/* --- a batch's result ----------------------------------------------------- */

static void send_one(struct ingest_world *w, enum batch_insert_result result)
{
	outcome = result;
	ingest_fill(w->p, 10, 14);
	begin_insert(w, w->p);
	answer_commit(w, NULL);
	assert_int_equal(count_pending_jobs(w), 1);
	await_jobs(w);
}

static void one_that_is_stored_moves_the_position(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	send_one(w, BATCH_INSERT_DONE);
	assert_int_equal(p->position, 15);
	assert_null(p->insert.job);
	assert_int_equal(p->insert.step, INSERT_NONE);
	assert_int_equal(p->assignment, 1);
	assert_true(w->inserts.progressed);
	/* The new position is committed at once. */
	assert_true(p->commit.due);
	inserts_update(&w->inserts, &w->all, clock_monotonic_ms());
	assert_true(p->commit.awaited);
	assert_false(p->commit.has_intent);
}

static void one_that_is_too_late_is_recovered(void **state)
{
	struct ingest_world *w = *state;

	send_one(w, BATCH_INSERT_TOO_LATE);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(w->p->assignment, 2);
	assert_null(w->p->insert.job);
	assert_int_equal(w->p->position, 0);
	assert_false(w->inserts.breaker.open);
}

static void one_that_failed_is_tried_again_as_it_is(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	send_one(w, BATCH_INSERT_CLICKHOUSE_FAILED);
	assert_true(w->inserts.breaker.open);
	assert_false(w->connections.kafka_rejects);
	assert_int_equal(p->insert.step, INSERT_READY);
	assert_int_equal(p->position, 0);
	assert_int_equal(p->assignment, 1);
	/* The batch is not sent again at once. */
	inserts_update(&w->inserts, &w->all, w->inserts.breaker.retry_at - 1);
	assert_int_equal(count_pending_jobs(w), 0);
	outcome = BATCH_INSERT_DONE;
	inserts_update(&w->inserts, &w->all, w->inserts.breaker.retry_at);
	assert_int_equal(count_pending_jobs(w), 1);
	await_jobs(w);
	assert_int_equal(p->position, 15);
	assert_false(w->inserts.breaker.open);
}

static void one_whose_letters_are_lost_is_read_again(void **state)
{
	struct ingest_world *w = *state;

	send_one(w, BATCH_INSERT_DEAD_LETTERS_LOST);
	assert_true(w->inserts.breaker.open);
	assert_int_equal(w->p->state, PARTITION_RECOVERING);
	assert_int_equal(w->p->recovery.retry_at, w->inserts.breaker.retry_at);
}

static void one_whose_letters_wait_is_tried_again(void **state)
{
	struct ingest_world *w = *state;

	send_one(w, BATCH_INSERT_KAFKA_FAILED);
	assert_true(w->inserts.breaker.open);
	assert_true(w->connections.kafka_rejects);
	assert_int_equal(w->p->state, PARTITION_READING);
	assert_int_equal(w->p->insert.step, INSERT_READY);
}

static void one_whose_partition_was_given_back_moves_nothing(void **state)
{
	struct ingest_world *w = *state;
	struct partition *p = w->p;

	outcome = BATCH_INSERT_DONE;
	ingest_fill(p, 10, 14);
	begin_insert(w, p);
	answer_commit(w, NULL);
	partition_restart(p, 0);
	await_jobs(w);
	assert_int_equal(p->position, 0);
	assert_false(p->commit.due);
	assert_int_equal(p->insert.step, INSERT_NONE);
}

/* --- the breaker ---------------------------------------------------------- */

static void one_at_a_time_is_tried_by_turns(void **state)
{
	struct ingest_world *w = *state;
	struct partition *all[] = {w->p, ingest_add(w, "clicks", 1),
				   ingest_add(w, "clicks", 2)};
	int64_t at;

	outcome = BATCH_INSERT_CLICKHOUSE_FAILED;
	w->inserts.breaker.open = true;
	for (int i = 0; i < 3; i++) {
		ingest_fill(all[i], 0, 4);
		begin_insert(w, all[i]);
		inserts_on_committed(&w->inserts, all[i], NULL);
	}
	assert_int_equal(count_pending_jobs(w), 0);
	for (int turn = 1; turn < 7; turn++) {
		struct partition *tried = all[turn % 3];

		at = w->inserts.breaker.retry_at;
		inserts_update(&w->inserts, &w->all, at);
		assert_int_equal(count_pending_jobs(w), 1);
		assert_int_equal(tried->insert.step, INSERT_RUNNING);
		/* No second batch is sent during the trial. */
		inserts_update(&w->inserts, &w->all, at);
		assert_int_equal(count_pending_jobs(w), 1);
		await_jobs(w);
	}
}

static void a_breaker_with_nothing_to_try_closes(void **state)
{
	struct ingest_world *w = *state;

	w->inserts.breaker.open = true;
	w->p->insert.step = INSERT_RUNNING;
	inserts_update(&w->inserts, &w->all, 1);
	assert_true(w->inserts.breaker.open);
	w->p->insert.step = INSERT_NONE;
	inserts_update(&w->inserts, &w->all, 1);
	assert_false(w->inserts.breaker.open);
}

static void what_is_ready_goes_once_the_breaker_is_closed(void **state)
{
	struct ingest_world *w = *state;

	w->inserts.breaker.open = true;
	w->inserts.breaker.retry_at = INT64_MAX;
	ingest_fill(w->p, 0, 4);
	begin_insert(w, w->p);
	answer_commit(w, NULL);
	assert_int_equal(w->p->insert.step, INSERT_READY);
	inserts_update(&w->inserts, &w->all, 1);
	assert_int_equal(count_pending_jobs(w), 0);
	insert_breaker_close(&w->inserts.breaker);
	inserts_update(&w->inserts, &w->all, 1);
	assert_int_equal(count_pending_jobs(w), 1);
}

static void a_batch_that_is_due_begins(void **state)
{
	struct ingest_world *w = *state;

	ingest_fill(w->p, 0, 98);
	inserts_update(&w->inserts, &w->all, clock_monotonic_ms());
	assert_null(w->p->insert.job);
	ingest_fill(w->p, 99, 99);
	inserts_update(&w->inserts, &w->all, clock_monotonic_ms());
	assert_non_null(w->p->insert.job);
	assert_int_equal(w->p->filling.events, 0);
	assert_int_equal(metric_value(w->metrics.parts[SINK_CLICKS]), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		INGEST_TEST(nothing_is_sent_before_its_intent_is_committed),
		INGEST_TEST(nor_after_a_refusal),
		INGEST_TEST(the_answer_to_another_commit_is_no_intents),
		INGEST_TEST(nor_is_an_answer_to_the_owner_before),
		INGEST_TEST(a_partition_that_goes_begins_nothing),
		INGEST_TEST(a_claim_that_is_committed_is_read_from),
		INGEST_TEST(an_intent_names_what_is_inserted_next),
		INGEST_TEST(a_batch_of_its_own_is_in_no_doubt),
		INGEST_TEST(where_no_token_is_kept_there_is_no_haste),
		INGEST_TEST(one_that_is_made_again_is_in_doubt),
		INGEST_TEST(one_that_is_made_again_begins_where_it_began),
		INGEST_TEST(batches_of_clicks_and_of_links_are_told_apart),
		INGEST_TEST(one_that_is_stored_moves_the_position),
		INGEST_TEST(one_that_is_too_late_is_recovered),
		INGEST_TEST(one_that_failed_is_tried_again_as_it_is),
		INGEST_TEST(one_whose_letters_are_lost_is_read_again),
		INGEST_TEST(one_whose_letters_wait_is_tried_again),
		INGEST_TEST(one_whose_partition_was_given_back_moves_nothing),
		INGEST_TEST(one_at_a_time_is_tried_by_turns),
		INGEST_TEST(a_breaker_with_nothing_to_try_closes),
		INGEST_TEST(what_is_ready_goes_once_the_breaker_is_closed),
		INGEST_TEST(a_batch_that_is_due_begins),
	};

	return cmocka_run_group_tests_name("inserts", tests, ingest_connect,
					   ingest_disconnect);
}
