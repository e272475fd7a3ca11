#include "collector/ingest/assignments.h"

#include <stdio.h>
#include <string.h>

#include "collector/enrich/enricher.h"
#include "common/clock.h"
#include "common/kafka/consumer_commit.h"

enum {
	RECOVER_AGAIN_MS = 1000,
	/* How often a stopped partition checks for a decision. */
	DECISION_MS = 2000,
	/* Limit for work under way when a partition is revoked. */
	DRAIN_MS = 5000,
	/* A commit that finds no coordinator is kept for session.timeout.ms,
	 * and must not be sent under another generation. */
	COMMIT_MS = 60000,
	WAIT_MS = 20,
};

/* --- stopped partitions --------------------------------------------------- */

static void update_health(struct assignments *a)
{
	const struct partition *first = NULL;
	char text[200];
	size_t count = 0;

	for (size_t i = 0; i < a->partitions->count; i++) {
		const struct partition *p = a->partitions->items[i];

		if (p->state != PARTITION_STOPPED)
			continue;
		first = first ? first : p;
		count++;
	}
	if (!count) {
		health_up(a->health);
		return;
	}
	snprintf(text, sizeof(text),
		 "%zu partitions stopped, the first is %s %d: %s", count,
		 first->topic, (int)first->number, first->recovery.stop_reason);
	health_down(a->health, text);
}

static void stop_partition(struct assignments *a, struct partition *p,
			   const char *reason)
{
	if (p->recovery.stop_reason != reason)
		log_error(a->log,
			  "partition stopped until `collector epoch` decides",
			  log_str("topic", p->topic),
			  log_int("partition", p->number),
			  log_str("reason", reason));
	p->recovery.stop_reason = reason;
	p->recovery.retry_at = clock_monotonic_ms() + DECISION_MS;
	p->state = PARTITION_STOPPED;
	metric_set(p->stopped, 1);
	update_health(a);
}

/* --- recovery ------------------------------------------------------------- */

static void log_recovered(struct assignments *a, const struct partition *p,
			  const struct recovery *r)
{
	uint64_t repeated = p->repeat.last - p->repeat.first + 1;

	log_info(a->log, "partition recovered", log_str("topic", p->topic),
		 log_int("partition", p->number), log_int("epoch", p->epoch),
		 log_int("from", (int64_t)p->position),
		 log_int("to_repeat",
			 p->repeat.has_batch ? (int64_t)repeated : 0),
		 log_int("stored",
			 (int64_t)ranges_count(&p->stored, 0, UINT64_MAX - 1)));
	if (r->plan.gap)
		log_error(a->log, "Kafka no longer holds what was to be read",
			  log_str("topic", p->topic),
			  log_int("partition", p->number),
			  log_int("first", (int64_t)r->plan.gap_first),
			  log_int("last", (int64_t)r->plan.position - 1),
			  log_int("lost", (int64_t)r->lost));
	metric_add(a->metrics->lost_offsets, r->lost);
}

static void claim_partition(struct assignments *a, struct partition *p,
			    struct recovery *r)
{
	p->recovery.stop_reason = NULL;
	metric_set(p->stopped, 0);
	p->epoch = r->facts.epoch;
	p->position = r->plan.position;
	p->position_known = true;
	p->asked_ms = r->asked_ms;
	p->repeat = r->plan.intent;
	p->next_offset = (int64_t)r->plan.position;
	p->append_ms = r->since_ms;
	ranges_release(&p->stored);
	p->stored = r->stored;
	r->stored = (struct ranges){0};
	log_recovered(a, p, r);
	p->state = PARTITION_CLAIMING;
	update_health(a);
	inserts_commit(a->inserts, p);
}

static void on_failed(struct assignments *a, struct partition *p,
		      const struct recovery *r)
{
	p->recovery.retry_at = clock_monotonic_ms() + RECOVER_AGAIN_MS;
	if (r->kafka_failed)
		log_warn(a->log, "recovery retrying", log_err(&r->err));
	else
		connections_clickhouse_down(a->connections, &r->err);
}

static void on_answered(struct assignments *a, struct partition *p,
			struct recovery *r)
{
	struct forgotten *list = r->forgotten;

	connections_clickhouse_up(a->connections);
	r->forgotten = NULL;
	if (enricher_forget(a->enricher, list, &r->err) < 0) {
		log_warn(a->log, "recovery retrying", log_err(&r->err));
		return;
	}
	if (r->plan.step == PLAN_STOP)
		stop_partition(a, p, r->plan.reason);
	else
		claim_partition(a, p, r);
}

static void on_done(struct insert_job *job)
{
	struct recovery *r = (struct recovery *)job;
	struct assignments *a = r->assignments;
	struct partition *p = r->partition;

	if (p->recovery.job == r)
		p->recovery.job = NULL;
	if (p->assignment == r->assignment && partition_is_assigned(p)) {
		if (r->status < 0)
			on_failed(a, p, r);
		else
			on_answered(a, p, r);
	}
	recovery_free(r);
}

static void begin_recovery(struct assignments *a, struct partition *p,
			   int64_t now)
{
	struct recovery *r =
		recovery_new(&a->setup, p->topic, p->number, p->table);

	p->recovery.retry_at = now + RECOVER_AGAIN_MS;
	if (!r)
		return;
	r->job.done = on_done;
	r->assignments = a;
	r->partition = p;
	r->assignment = p->assignment;
	r->forgotten_known = enricher_forgotten(a->enricher);
	p->recovery.job = r;
	insert_workers_submit(a->workers, &r->job);
}

/* The partition is resumed before the seek: librdkafka fetches at once after a
 * seek, but only within a second after a resume. */
static void start_reading(struct assignments *a, struct partition *p)
{
	struct error err = {0};

	if (kafka_consumer_pause(a->consumer, p->topic, p->number, false,
				 &err) == 0 &&
	    kafka_consumer_seek(a->consumer, p->topic, p->number,
				(int64_t)p->position, &err) == 0) {
		p->paused = false;
		p->state = PARTITION_READING;
	} else {
		log_debug(a->log, "cannot start yet", log_err(&err));
	}
}

static void advance_assignment(struct assignments *a, struct partition *p,
			       int64_t now)
{
	switch (p->state) {
	case PARTITION_SEEKING:
		if (a->passes->are_known)
			start_reading(a, p);
		break;
	case PARTITION_RECOVERING:
	case PARTITION_STOPPED:
		if (!p->recovery.job && now >= p->recovery.retry_at)
			begin_recovery(a, p, now);
		break;
	default:
		break;
	}
}

void assignments_update(struct assignments *a, int64_t now)
{
	a->drain_from = 0;
	for (size_t i = 0; i < a->partitions->count; i++)
		advance_assignment(a, a->partitions->items[i], now);
}

/* --- assignment and revocation -------------------------------------------- */

void assignments_add(struct assignments *a, const char *topic, int32_t number)
{
	struct error err = {0};
	struct partition *p =
		partitions_add(a->partitions, topic, number, a->registry, &err);

	if (!p) {
		log_error(a->log, "cannot hold a partition", log_err(&err));
		return;
	}
	p->paused = true;
	p->table =
		strcmp(topic, a->topic_links) == 0 ? SINK_LINKS : SINK_CLICKS;
	partition_restart(p, 0);
	schedule_share(a->schedule, a->partitions);
	log_info(a->log, "partition assigned", log_str("topic", topic),
		 log_int("partition", number));
}

/* Waits for the work under way. */
static void await_partition_work(struct assignments *a, struct partition *p)
{
	int64_t now = clock_monotonic_ms();
	int64_t until;

	if (!a->drain_from)
		a->drain_from = now;
	until = a->drain_from + (p->commit.awaited ? COMMIT_MS : DRAIN_MS);
	while (now < until &&
	       (p->commit.awaited || p->insert.step == INSERT_RUNNING ||
		p->commit.due)) {
		if (p->commit.due && now >= p->commit.not_before)
			inserts_commit(a->inserts, p);
		kafka_consumer_serve_commits(a->consumer, WAIT_MS);
		insert_workers_serve(a->workers,
				     p->insert.step == INSERT_RUNNING ? WAIT_MS
								      : 0);
		now = clock_monotonic_ms();
	}
}

void assignments_revoke(struct assignments *a, const char *topic,
			int32_t number, bool lost, bool wait)
{
	struct partition *p = partitions_find(a->partitions, topic, number);

	if (!p)
		return;
	p->state = PARTITION_REVOKING;
	p->assignment += lost; /* answers from before the loss are dropped */
	if (lost)
		partition_clear(p);
	if (wait)
		await_partition_work(a, p);
	p->assignment++;
	partition_clear(p);
	p->recovery.job = NULL;
	p->recovery.stop_reason = NULL;
	p->state = PARTITION_UNASSIGNED;
	p->paused = p->urgent = p->position_known = false;
	metric_set(p->stopped, 0);
	metric_set(p->lag, 0);
	update_health(a);
	schedule_share(a->schedule, a->partitions);
	log_info(a->log, "partition revoked", log_str("topic", topic),
		 log_int("partition", number), log_int("lost", lost));
}
