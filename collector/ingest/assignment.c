/*
 * ingest/assignment.c - partitions come and go.  Internal to ingest/collector.c.
 *
 * A partition that was assigned is paused until it is known where its last
 * owner stopped (ingest/recovery.h), and until that was committed again under
 * this member's generation.  Callbacks never wait for ClickHouse.
 */
#include <stdio.h>
#include <string.h>

#include "collector/ingest/flow.h"
#include "common/clock.h"

enum {
	TAKE_AGAIN_MS = 1000,
	DECISION_MS = 2000, /* how often a stopped one asks for a decision */
	DRAIN_MS = 5000,    /* what is under way when a partition goes */
	/* A commit that finds no coordinator is kept for session.timeout.ms,
	 * and must not go out under another generation. */
	ANSWER_MS = 60000,
	WAIT_MS = 20,
};

/* --- taking over ---------------------------------------------------------- */

static void say_stopped(struct collector *c)
{
	const struct slot *first = NULL;
	char text[200];
	size_t count = 0;

	for (size_t i = 0; i < c->slots.count; i++) {
		const struct slot *slot = c->slots.items[i];

		if (slot->state != SLOT_STOPPED)
			continue;
		first = first ? first : slot;
		count++;
	}
	if (!count) {
		health_up(c->offsets_health);
		return;
	}
	snprintf(text, sizeof(text),
		 "%zu partitions stopped, the first is %s %d: %s", count,
		 first->topic, (int)first->partition, first->stop_reason);
	health_down(c->offsets_health, text);
}

static void stop(struct collector *c, struct slot *slot, const char *reason)
{
	if (slot->stop_reason != reason)
		log_error(c->log,
			  "partition stopped until `collector epoch` decides",
			  log_str("topic", slot->topic),
			  log_int("partition", slot->partition),
			  log_str("reason", reason));
	slot->stop_reason = reason;
	slot->state = SLOT_STOPPED;
	slot->try_at = clock_monotonic_ms() + DECISION_MS;
	metric_set(slot->stopped, 1);
	say_stopped(c);
}

static void say_plan(struct collector *c, const struct slot *slot,
		     const struct takeover *t)
{
	log_info(c->log, "partition taken over", log_str("topic", slot->topic),
		 log_int("partition", slot->partition),
		 log_int("epoch", slot->epoch),
		 log_int("from", (int64_t)slot->position),
		 log_int("to_repeat",
			 slot->repeat.named ? (int64_t)(slot->repeat.last -
							slot->repeat.first + 1)
					    : 0),
		 log_int("stored", (int64_t)ranges_count(&slot->stored, 0,
							 UINT64_MAX - 1)));
	if (t->plan.gap)
		log_error(c->log, "Kafka no longer holds what was to be read",
			  log_str("topic", slot->topic),
			  log_int("partition", slot->partition),
			  log_int("first", (int64_t)t->plan.gap_first),
			  log_int("last", (int64_t)t->plan.position - 1),
			  log_int("lost", (int64_t)t->lost));
	metric_add(c->metrics.lost_offsets, t->lost);
}

static void claim(struct collector *c, struct slot *slot, struct takeover *t)
{
	slot->stop_reason = NULL;
	metric_set(slot->stopped, 0);
	slot->epoch = t->facts.epoch;
	slot->position = t->plan.position;
	slot->placed = true;
	slot->asked_ms = t->asked_ms;
	slot->repeat = t->plan.intent;
	slot->next_offset = (int64_t)t->plan.position;
	ranges_release(&slot->stored);
	slot->stored = t->stored;
	t->stored = (struct ranges){0};
	say_plan(c, slot, t);
	slot->state = SLOT_CLAIMING;
	say_stopped(c);
	blocks_commit(c, slot);
}

static void on_taken(struct courier_job *job, void *arg)
{
	struct takeover *t = (struct takeover *)job;
	struct collector *c = arg;
	struct slot *slot = t->slot;

	if (slot->takeover == t)
		slot->takeover = NULL;
	if (slot->lease != t->lease || !slot->held) {
		takeover_free(t);
		return;
	}
	if (t->status < 0) {
		slot->try_at = clock_monotonic_ms() + TAKE_AGAIN_MS;
		if (t->kafka_failed)
			log_warn(c->log, "take-over waits", log_err(&t->err));
		else
			flow_clickhouse_is_down(c, &t->err);
	} else {
		flow_clickhouse_is_up(c);
		if (t->plan.step == PLAN_STOP)
			stop(c, slot, t->plan.reason);
		else
			claim(c, slot, t);
	}
	takeover_free(t);
}

static void ask(struct collector *c, struct slot *slot, int64_t now)
{
	struct takeover *t = takeover_new(&c->takeover, slot->topic,
					  slot->partition, slot->table);

	slot->try_at = now + TAKE_AGAIN_MS;
	if (!t)
		return;
	t->job.done = on_taken;
	t->slot = slot;
	t->lease = slot->lease;
	slot->takeover = t;
	couriers_submit(c->couriers, &t->job);
}

void partitions_take_over(struct collector *c, struct slot *slot, int64_t at)
{
	slot->lease++;
	slot_clear(slot);
	slot->state = SLOT_TAKING;
	slot->takeover = NULL;
	slot->try_at = at;
	gates_look(&c->gates, &c->slots, clock_monotonic_ms());
}

/* Resumed first: librdkafka looks at a partition at once after a seek, but only
 * within a second after it was resumed. */
static void start_reading(struct collector *c, struct slot *slot)
{
	struct error err = {0};

	if (kafka_consumer_pause(c->consumer, slot->topic, slot->partition,
				 false, &err) == 0 &&
	    kafka_consumer_seek(c->consumer, slot->topic, slot->partition,
				(int64_t)slot->position, &err) == 0) {
		slot->shut = false;
		slot->state = SLOT_READING;
	} else {
		log_debug(c->log, "cannot start yet", log_err(&err));
	}
}

void partitions_claimed(struct collector *c, struct slot *slot)
{
	slot->state = SLOT_SEEKING;
	start_reading(c, slot);
}

void partitions_look(struct collector *c, int64_t now)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		struct slot *slot = c->slots.items[i];

		if (slot->state == SLOT_SEEKING)
			start_reading(c, slot);
		if ((slot->state == SLOT_TAKING ||
		     slot->state == SLOT_STOPPED) &&
		    !slot->takeover && now >= slot->try_at)
			ask(c, slot, now);
	}
}

/* --- Kafka's callbacks ------------------------------------------------------
 */

void partitions_on_assigned(void *arg, const char *topic, int32_t partition)
{
	struct collector *c = arg;
	struct error err = {0};
	struct slot *slot =
		slots_add(&c->slots, topic, partition, c->registry, &err);

	if (!slot) {
		log_error(c->log, "cannot hold a partition", log_err(&err));
		return;
	}
	slot->held = slot->shut = true;
	slot->leaving = false;
	slot->table = strcmp(topic, c->config->kafka.topic_links) == 0
			      ? SINK_LINKS
			      : SINK_CLICKS;
	schedule_share(&c->schedule, &c->slots);
	partitions_take_over(c, slot, 0);
	log_info(c->log, "partition assigned", log_str("topic", topic),
		 log_int("partition", partition));
}

/* Waits for what is under way; partitions that go together share the time. */
static void drain(struct collector *c, struct slot *slot)
{
	int64_t now = clock_monotonic_ms();
	int64_t until;

	if (!c->drain_from)
		c->drain_from = now;
	until = c->drain_from + (slot->answer_awaited ? ANSWER_MS : DRAIN_MS);
	while (now < until &&
	       (slot->answer_awaited || slot->step == STEP_UNDER_WAY ||
		slot->commit_due)) {
		if (slot->commit_due && now >= slot->commit_at)
			blocks_commit(c, slot);
		kafka_consumer_serve_commits(c->consumer, WAIT_MS);
		couriers_serve(c->couriers,
			       slot->step == STEP_UNDER_WAY ? WAIT_MS : 0);
		now = clock_monotonic_ms();
	}
}

void partitions_on_revoked(void *arg, const char *topic, int32_t partition,
			   bool lost)
{
	struct collector *c = arg;
	struct slot *slot = slots_find(&c->slots, topic, partition);

	if (!slot)
		return;
	slot->leaving = true;
	slot->lease += lost; /* what comes back now counts no more */
	if (lost)
		slot_clear(slot);
	if (!atomic_load(&c->stopping))
		drain(c, slot);
	slot->lease++;
	slot_clear(slot);
	slot->takeover = NULL;
	slot->state = SLOT_AWAY;
	slot->held = slot->shut = slot->placed = false;
	slot->stop_reason = NULL;
	metric_set(slot->stopped, 0);
	metric_set(slot->lag, 0);
	say_stopped(c);
	schedule_share(&c->schedule, &c->slots);
	log_info(c->log, "partition given back", log_str("topic", topic),
		 log_int("partition", partition), log_int("lost", lost));
}
