#include "collector/ingest/inserts.h"

#include "common/clock.h"
#include "common/kafka/consumer_commit.h"

enum {
	COMMIT_AGAIN_MS = 500,
};

/* --- commits -------------------------------------------------------------- */

void inserts_commit(struct inserts *in, struct partition *p)
{
	struct intent intent = partition_intent(p);
	char text[INTENT_TEXT_MAX];
	struct error err = {0};

	p->commit.due = true;
	if (p->commit.awaited)
		return;
	if (kafka_consumer_commit(in->consumer, p->topic, p->number,
				  (int64_t)p->position,
				  intent_format(&intent, text), p, &err) < 0) {
		p->commit.not_before = clock_monotonic_ms() + COMMIT_AGAIN_MS;
		return;
	}
	p->commit.due = false;
	p->commit.awaited = true;
	p->commit.assignment = p->assignment;
	p->commit.has_intent = p->insert.job != NULL;
}

static void send_batch(struct inserts *in, struct partition *p)
{
	p->insert.step = INSERT_RUNNING;
	insert_workers_submit(in->workers, &p->insert.job->job);
}

/* A batch that is ready waits while the breaker is open or the partition is
 * being revoked. */
static bool may_send(const struct inserts *in, const struct partition *p)
{
	return p->insert.step == INSERT_READY && !in->breaker.open &&
	       p->state != PARTITION_REVOKING;
}

static void on_refused(struct inserts *in, struct partition *p,
		       const struct error *err)
{
	metric_add(in->metrics->commit_failures, 1);
	log_warn(in->log, "commit rejected", log_str("topic", p->topic),
		 log_int("partition", p->number), log_err(err));
	/* If another member owns the partition by now, a revocation follows. */
	p->commit.due = true;
	p->commit.not_before = clock_monotonic_ms() + COMMIT_AGAIN_MS;
}

void inserts_on_committed(struct inserts *in, struct partition *p,
			  const struct error *err)
{
	p->commit.awaited = false;
	if (p->commit.assignment != p->assignment || !partition_is_assigned(p))
		return;
	if (err) {
		on_refused(in, p, err);
		return;
	}
	if (p->state == PARTITION_CLAIMING) {
		p->state = PARTITION_SEEKING;
		in->progressed = true;
	}
	if (p->insert.step == INSERT_COMMITTING_INTENT && p->commit.has_intent)
		p->insert.step = INSERT_READY;
	if (may_send(in, p))
		send_batch(in, p);
	else if (p->commit.due && p->state != PARTITION_REVOKING)
		inserts_commit(in, p);
}

/* --- results of inserts --------------------------------------------------- */

static void on_stored(struct inserts *in, struct partition *p,
		      struct batch_insert *job)
{
	p->position = job->batch.last + 1;
	batch_release(&p->insert.spare);
	batch_reset(&job->batch);
	p->insert.spare = job->batch;
	job->batch = (struct batch){0};
	batch_insert_free(job);
	p->insert.job = NULL;
	p->insert.step = INSERT_NONE;
	connections_clickhouse_up(in->connections);
	connections_kafka_accepted(in->connections);
	insert_breaker_close(&in->breaker);
	/* The commit carries the next batch's intent if there is such a
	 * batch. */
	in->progressed = true;
	p->commit.due = true;
	p->commit.not_before = 0;
}

static void on_failed(struct inserts *in, struct partition *p,
		      struct batch_insert *job)
{
	p->insert.step = INSERT_READY;
	if (job->result == BATCH_INSERT_TOO_LATE) {
		partition_restart(p, clock_monotonic_ms());
		return;
	}
	if (job->result == BATCH_INSERT_CLICKHOUSE_FAILED)
		connections_clickhouse_down(in->connections, &job->err);
	else
		connections_kafka_rejected(in->connections, job->err.text);
	insert_breaker_trip(&in->breaker, &job->err);
	/* Dead letters that Kafka gave up are made again. */
	if (job->result == BATCH_INSERT_DEAD_LETTERS_LOST)
		partition_restart(p, in->breaker.retry_at);
}

static void on_done(struct insert_job *done)
{
	struct batch_insert *job = (struct batch_insert *)done;
	struct partition *p = job->partition;
	struct inserts *in = job->inserts;

	insert_breaker_ended(&in->breaker, job);
	if (p->insert.job != job)
		batch_insert_free(job); /* its partition was revoked */
	else if (job->result == BATCH_INSERT_DONE)
		on_stored(in, p, job);
	else
		on_failed(in, p, job);
}

/* --- begin of inserts ----------------------------------------------------- */

static struct progress_origin origin_of(const struct inserts *in,
					const struct partition *p)
{
	return (struct progress_origin){
		.epoch = p->epoch,
		.topic = p->topic,
		.partition = p->number,
		.partitions = in->schedule->topic_size[p->table],
		.of_links = p->table == SINK_LINKS,
		.collector = in->collector,
	};
}

static void fill_insert_job(struct inserts *in, struct partition *p,
			    struct batch_insert *job)
{
	int64_t kept;

	job->job.done = on_done;
	job->inserts = in;
	job->partition = p;
	job->letters_given_up = &p->letters_given_up;
	job->table = p->table;
	job->origin = origin_of(in, p);
	/* If the server keeps no token, there is no time limit for sending. */
	kept = guarantee_retry_ms(in->guarantee,
				  in->settings->parts_per_second);
	if (!kept)
		kept = INT64_MAX;
	/* A repeated batch may have been sent to the server at any time. */
	batch_insert_know(
		job, p->repeat.has_batch,
		p->repeat.has_batch ? p->asked_ms : clock_boottime_ms(), kept);
}

/* The intent was committed by the last owner, and by this collector when it
 * claimed the partition.  The log may lack offsets at both ends; those before
 * the position are reported as a gap. */
static void repeat_batch(struct inserts *in, struct partition *p)
{
	struct batch *b = &p->insert.job->batch;

	b->name_first = p->repeat.first;
	b->first =
		p->repeat.first > p->position ? p->repeat.first : p->position;
	b->last = p->repeat.last;
	p->repeat.has_batch = false;
	p->insert.step = INSERT_READY;
	if (may_send(in, p))
		send_batch(in, p);
}

void inserts_begin(struct inserts *in, struct partition *p)
{
	struct batch_insert *job;

	schedule_spend(in->schedule, p);
	metric_add(in->metrics->parts[p->table], schedule_parts(p));
	job = batch_insert_new(&in->setup, &p->filling, &p->insert.spare);
	if (!job)
		return;
	fill_insert_job(in, p, job);
	p->insert.job = job;
	if (p->repeat.has_batch) {
		repeat_batch(in, p);
		return;
	}
	p->insert.step = INSERT_COMMITTING_INTENT;
	inserts_commit(in, p);
}

/* --- periodic work -------------------------------------------------------- */

/* Tries one batch; the partitions take turns. */
static void try_one(struct inserts *in, const struct partitions *all,
		    int64_t now)
{
	bool any = false;

	if (!insert_breaker_may_try(&in->breaker, now))
		return;
	for (size_t i = 0; i < all->count; i++) {
		size_t at = (in->retry_turn + 1 + i) % all->count;
		struct partition *p = all->items[at];

		any = any || p->insert.step == INSERT_RUNNING;
		if (p->insert.step != INSERT_READY)
			continue;
		in->retry_turn = at;
		insert_breaker_tries(&in->breaker, p->insert.job, now);
		send_batch(in, p);
		return;
	}
	/* No batch is left: the partitions of those that failed were
	 * revoked. */
	if (!any)
		insert_breaker_close(&in->breaker);
}

static void send_ready(struct inserts *in, const struct partitions *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i]->insert.step == INSERT_READY)
			send_batch(in, all->items[i]);
}

static void begin_due(struct inserts *in, const struct partitions *all,
		      int64_t now)
{
	struct partition *p;

	while ((p = schedule_next(in->schedule, all, now)) &&
	       p->filling.events) {
		inserts_begin(in, p);
		if (p->filling.events)
			break; /* out of memory */
	}
}

static void commit_due(struct inserts *in, const struct partitions *all,
		       int64_t now)
{
	for (size_t i = 0; i < all->count; i++) {
		struct partition *p = all->items[i];

		if (partition_is_assigned(p) && p->commit.due &&
		    now >= p->commit.not_before)
			inserts_commit(in, p);
	}
}

void inserts_update(struct inserts *in, const struct partitions *all,
		    int64_t now)
{
	if (in->breaker.open)
		try_one(in, all, now);
	else
		send_ready(in, all);
	begin_due(in, all, now);
	commit_due(in, all, now);
}
