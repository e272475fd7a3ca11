/*
 * ingest/inserts.c - a block is named, sent and committed.  Internal to ingest/collector.c.
 *
 * Its name, first and last offset, is committed beside the offset before it,
 * and only when the brokers have taken that under this member's generation is
 * the block sent: whoever owns the partition next sends the very same block,
 * and whichever of the two comes second is recognised by its token.
 */
#include "collector/ingest/flow.h"
#include "common/clock.h"

enum {
	COMMIT_AGAIN_MS = 500,
	TRIAL_MS = 2000,
};

/* --- commits ------------------------------------------------------------ */

static struct intent intent_of(const struct slot *slot)
{
	struct intent intent = {.epoch = slot->epoch};

	if (slot->sent)
		intent = (struct intent){slot->epoch, true,
					 slot->sent->batch.name_first,
					 slot->sent->batch.last};
	else if (slot->repeat.named)
		intent = slot->repeat;
	return intent;
}

void blocks_commit(struct collector *c, struct slot *slot)
{
	struct intent intent = intent_of(slot);
	char text[INTENT_TEXT_MAX];
	struct error err = {0};

	slot->commit_due = true;
	if (slot->answer_awaited)
		return;
	if (kafka_consumer_commit(c->consumer, slot->topic, slot->partition,
				  (int64_t)slot->position,
				  intent_format(&intent, text), slot,
				  &err) < 0) {
		slot->commit_at = clock_monotonic_ms() + COMMIT_AGAIN_MS;
		return;
	}
	slot->commit_due = false;
	slot->answer_awaited = true;
	slot->answer_lease = slot->lease;
	slot->answer_names = slot->sent != NULL;
}

static void dispatch(struct collector *c, struct slot *slot)
{
	slot->step = STEP_UNDER_WAY;
	couriers_submit(c->couriers, &slot->sent->job);
}

static void refused(struct collector *c, struct slot *slot,
		    const struct error *err)
{
	metric_add(c->metrics.commit_failures, 1);
	log_warn(c->log, "offset not committed", log_str("topic", slot->topic),
		 log_int("partition", slot->partition), log_err(err));
	/* If the partition is another's by now, we shall be told. */
	slot->commit_due = true;
	slot->commit_at = clock_monotonic_ms() + COMMIT_AGAIN_MS;
}

void blocks_on_committed(void *arg, void *opaque, const struct error *err)
{
	struct collector *c = arg;
	struct slot *slot = opaque;

	slot->answer_awaited = false;
	if (slot->answer_lease != slot->lease || !slot->held)
		return;
	if (err) {
		refused(c, slot, err);
		return;
	}
	if (slot->state == SLOT_CLAIMING)
		partitions_claimed(c, slot);
	if (slot->step == STEP_NAMING && slot->answer_names)
		slot->step = STEP_READY;
	if (slot->step == STEP_READY && !c->blocked && !slot->leaving)
		dispatch(c, slot);
	else if (slot->commit_due && !slot->leaving)
		blocks_commit(c, slot);
}

/* --- what became of a block ---------------------------------------------- */

static void stored(struct collector *c, struct slot *slot, struct delivery *d)
{
	slot->position = d->batch.last + 1;
	batch_release(&slot->spare);
	batch_reset(&d->batch);
	slot->spare = d->batch;
	d->batch = (struct batch){0};
	delivery_free(d);
	slot->sent = NULL;
	slot->step = STEP_NONE;
	flow_clickhouse_is_up(c);
	flow_kafka_refuses_no_more(c);
	flow_unblock(c);
	/* The commit carries the next block's name if there is one. */
	c->scan_at = 0;
	slot->commit_due = true;
	slot->commit_at = 0;
}

static void failed(struct collector *c, struct slot *slot, struct delivery *d)
{
	slot->step = STEP_READY;
	if (d->result == DELIVERY_TOO_LATE) {
		partitions_take_over(c, slot, clock_monotonic_ms());
		return;
	}
	if (d->result == DELIVERY_CLICKHOUSE_FAILED)
		flow_clickhouse_is_down(c, &d->err);
	else
		flow_kafka_refuses(c, d->err.text);
	flow_block(c, &d->err);
	/* Dead letters that were given up are made again. */
	if (d->result == DELIVERY_DEAD_LETTERS_LOST)
		partitions_take_over(c, slot, c->retry_at);
}

static void on_done(struct courier_job *job, void *arg)
{
	struct delivery *d = (struct delivery *)job;
	struct slot *slot = d->slot;
	struct collector *c = arg;

	if (c->trial == d)
		c->trial = NULL;
	if (slot->sent != d)
		delivery_free(d); /* its partition was given back meanwhile */
	else if (d->result == DELIVERY_DONE)
		stored(c, slot, d);
	else
		failed(c, slot, d);
}

/* --- naming --------------------------------------------------------------- */

static struct progress_origin origin_of(const struct collector *c,
					const struct slot *slot)
{
	return (struct progress_origin){
		.epoch = slot->epoch,
		.topic = slot->topic,
		.partition = slot->partition,
		/* The watermark waits for no topic but clicks. */
		.partitions = slot->table == SINK_CLICKS
				      ? c->schedule.partitions[SINK_CLICKS]
				      : 0,
		.collector = c->name,
	};
}

static void fill(struct collector *c, struct slot *slot, struct delivery *d)
{
	int64_t kept;

	d->job.done = on_done;
	d->slot = slot;
	d->lease = slot->lease;
	d->dead_letter_failed = &slot->dead_letter_failed;
	d->table = slot->table;
	d->origin = origin_of(c, slot);
	/* Hours are settled of clicks alone. */
	if (slot->table == SINK_LINKS)
		d->batch.hour_count = 0;
	/* Where no token is kept, haste is of no use. */
	kept = guarantee_retry_ms(&c->guarantee, c->settings->parts_per_second);
	if (!kept)
		kept = INT64_MAX;
	/* One that is made again may have come to the server at any time. */
	delivery_know(d, slot->repeat.named,
		      slot->repeat.named ? slot->asked_ms : clock_boottime_ms(),
		      kept);
	slot->sent = d;
}

void blocks_name(struct collector *c, struct slot *slot)
{
	struct delivery *d;

	schedule_spend(&c->schedule, slot);
	metric_add(c->metrics.parts[slot->table], schedule_parts(slot));
	d = delivery_new(&c->delivery, &slot->batch, &slot->spare);
	if (!d)
		return; /* out of memory; the block stays, and is tried again */
	fill(c, slot, d);
	if (!slot->repeat.named) {
		slot->step = STEP_NAMING;
		blocks_commit(c, slot);
		return;
	}
	/* Named by the last owner, and by us when we claimed the partition.
	 * Offsets may be left out at both ends; those before the position are
	 * told of as a gap. */
	d->batch.name_first = slot->repeat.first;
	d->batch.first = slot->repeat.first > slot->position
				 ? slot->repeat.first
				 : slot->position;
	d->batch.last = slot->repeat.last;
	slot->repeat.named = false;
	slot->step = STEP_READY;
	if (!c->blocked && !slot->leaving)
		dispatch(c, slot);
}

/* After a failure one block at a time is tried, by turns; while a try hangs,
 * another after a while. */
static void try_one(struct collector *c, int64_t now)
{
	bool any = false;

	if (c->trial && now < c->trial_until)
		return;
	for (size_t i = 0; i < c->slots.count; i++) {
		size_t at = (c->retry_turn + 1 + i) % c->slots.count;
		struct slot *slot = c->slots.items[at];

		any = any || slot->step == STEP_UNDER_WAY;
		if (slot->step != STEP_READY)
			continue;
		c->retry_turn = at;
		c->trial = slot->sent;
		c->trial_until = now + TRIAL_MS;
		dispatch(c, slot);
		return;
	}
	/* Nothing waits any more: what failed was given back. */
	if (!any)
		flow_unblock(c);
}

static void send_ready(struct collector *c)
{
	for (size_t i = 0; i < c->slots.count; i++)
		if (c->slots.items[i]->step == STEP_READY)
			dispatch(c, c->slots.items[i]);
}

static void commit_due(struct collector *c, int64_t now)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		struct slot *slot = c->slots.items[i];

		if (slot->held && slot->commit_due && now >= slot->commit_at)
			blocks_commit(c, slot);
	}
}

void blocks_look(struct collector *c, int64_t now)
{
	struct slot *slot;

	if (!c->blocked)
		send_ready(c);
	else if (now >= c->retry_at)
		try_one(c, now);
	while ((slot = schedule_next(&c->schedule, &c->slots, now)) &&
	       slot->batch.events) {
		blocks_name(c, slot);
		if (slot->batch.events)
			break;
	}
	commit_due(c, now);
}
