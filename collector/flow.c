#include "collector/flow.h"

#include <string.h>

#include "common/clock.h"

enum {
	SCAN_MS = 10,	       /* how often the blocks' ages are looked at */
	PROBE_MS = 5000,       /* ClickHouse is asked when idle for this long */
	PARTITIONS_MS = 10000, /* how often their number is asked for */
	ASK_MS = 1000,
	RETRY_MIN_MS = 200,
};

/* --- state ------------------------------------------------------------- */

void flow_clickhouse_is_up(struct collector *c)
{
	c->probe_at = clock_monotonic_ms() + PROBE_MS;
	if (health_up(c->clickhouse_health))
		log_info(c->log, "ClickHouse is there");
}

void flow_clickhouse_is_down(struct collector *c, const struct error *err)
{
	if (health_down(c->clickhouse_health, err->text))
		log_warn(c->log, "ClickHouse is not there", log_err(err));
}

void flow_on_kafka_state(void *arg, bool up, const char *reason)
{
	struct collector *c = arg;

	atomic_store(&c->kafka_up, up);
	if (up && health_up(c->kafka_health))
		log_info(c->log, "Kafka is there");
	else if (!up && health_down(c->kafka_health, reason))
		log_warn(c->log, "Kafka is not there",
			 log_str("error", reason));
}

void flow_kafka_refuses(struct collector *c, const char *reason)
{
	c->kafka_trouble = true;
	if (health_down(c->kafka_health, reason))
		log_warn(c->log, "Kafka refuses", log_str("error", reason));
}

static void kafka_refuses_no_more(struct collector *c)
{
	if (!c->kafka_trouble || !atomic_load(&c->kafka_up))
		return;
	c->kafka_trouble = false;
	if (health_up(c->kafka_health))
		log_info(c->log, "Kafka refuses no more");
}

/* --- blocks ------------------------------------------------------------ */

/* Doubling from RETRY_MIN_MS, less up to half of it at random, so that
 * collectors that failed together do not come back together. */
static int64_t retry_delay(const struct collector *c)
{
	unsigned doublings = c->failures < 16 ? c->failures : 16;
	int64_t delay = (int64_t)RETRY_MIN_MS << doublings;

	if (delay > c->settings->retry_max)
		delay = c->settings->retry_max;
	return delay - clock_monotonic_ns() / 1000 % (delay / 2 + 1);
}

static void block(struct collector *c, const struct error *err)
{
	c->retry_at = clock_monotonic_ms() + retry_delay(c);
	c->failures++;
	if (!c->blocked)
		log_warn(c->log, "reading stops until this has passed",
			 log_err(err));
	c->blocked = true;
	metric_set(c->metrics.blocked, 1);
	kafka_consumer_pause(c->consumer, true);
}

static void unblock(struct collector *c)
{
	log_info(c->log, "reading goes on");
	c->blocked = false;
	c->failures = 0;
	metric_set(c->metrics.blocked, 0);
	kafka_consumer_pause(c->consumer, false);
}

int flow_write(struct collector *c, struct slot *slot, bool wait)
{
	struct error err = {0};

	switch (writer_write(&c->writer, slot, wait, &err)) {
	case WRITER_DONE:
		flow_clickhouse_is_up(c);
		kafka_refuses_no_more(c);
		return 0;
	case WRITER_CLICKHOUSE_FAILED:
		flow_clickhouse_is_down(c, &err);
		break;
	case WRITER_KAFKA_FAILED:
		flow_kafka_refuses(c, err.text);
		break;
	}
	block(c, &err);
	return -1;
}

static bool is_full(const struct collector *c, const struct slot *slot)
{
	return slot->batch.row_count >= (uint64_t)c->settings->batch_rows ||
	       slot->batch.rows.len >= (size_t)c->settings->batch_bytes;
}

static bool is_due(const struct collector *c, const struct slot *slot,
		   int64_t now)
{
	return slot->batch.events > 0 &&
	       (slot->batch.stage != BATCH_FILLING || is_full(c, slot) ||
		now - slot->batch.started_ms >= c->settings->batch_age);
}

/* Writes the blocks that are due, or all of them; stops at a failure. */
static int write_due(struct collector *c, int64_t now, bool all)
{
	for (size_t i = 0; i < c->slots.count; i++) {
		struct slot *slot = c->slots.items[i];

		if (!is_due(c, slot, now) && !(all && slot->batch.events))
			continue;
		if (flow_write(c, slot, false) < 0)
			return -1;
	}
	return 0;
}

/* --- records ----------------------------------------------------------- */

void flow_read_again(struct collector *c, struct slot *slot)
{
	struct error err = {0};

	if (kafka_consumer_seek(c->consumer, slot->topic, slot->partition,
				slot->reread_from, &err) == 0)
		slot->reread_from = -1;
	else
		log_warn(c->log, "cannot go back", log_err(&err));
}

void flow_take(struct collector *c, const struct kafka_record *record)
{
	struct slot *slot =
		slots_find(&c->slots, record->topic, record->partition);
	struct error err = {0};

	if (!slot || !slot->held)
		return;
	if (slot->reread_from >= 0) {
		flow_read_again(c, slot);
		return;
	}
	/* A frozen block takes no more; nor does one that is full while others
	 * wait. */
	if (slot->batch.stage != BATCH_FILLING || is_full(c, slot)) {
		slot->reread_from = record->offset;
		flow_read_again(c, slot);
		return;
	}
	if (intake_take(&c->intake, slot, record, &err) < 0) {
		slot->reread_from = record->offset;
		flow_read_again(c, slot);
		block(c, &err);
		return;
	}
	if (!c->blocked && is_full(c, slot))
		flow_write(c, slot, false);
}

/* --- partitions -------------------------------------------------------- */

void flow_on_assigned(void *arg, const char *topic, int32_t partition)
{
	struct collector *c = arg;
	struct error err = {0};
	struct slot *slot =
		slots_add(&c->slots, topic, partition, c->registry, &err);

	if (!slot) {
		log_error(c->log, "cannot hold a partition", log_err(&err));
		return;
	}
	slot->held = true;
	slot->table = strcmp(topic, c->config->kafka.topic_links) == 0
			      ? SINK_LINKS
			      : SINK_CLICKS;
	slot->next_offset = slot->reread_from = -1;
	batch_reset(&slot->batch);
	log_info(c->log, "partition assigned", log_str("topic", topic),
		 log_int("partition", partition));
}

/* What cannot be written in one try is dropped: the next owner reads it. */
void flow_on_revoked(void *arg, const char *topic, int32_t partition, bool lost)
{
	struct collector *c = arg;
	struct slot *slot = slots_find(&c->slots, topic, partition);

	if (!slot)
		return;
	if (!lost && slot->batch.events && !atomic_load(&c->stopping))
		flow_write(c, slot, true);
	batch_reset(&slot->batch);
	slot->held = false;
	metric_set(slot->lag, 0);
	log_info(c->log, "partition given back", log_str("topic", topic),
		 log_int("partition", partition), log_int("lost", lost));
}

void flow_on_end(void *arg, const char *topic, int32_t partition,
		 int64_t offset)
{
	struct collector *c = arg;
	struct slot *slot = slots_find(&c->slots, topic, partition);

	if (slot && slot->held && slot->reread_from < 0)
		slot->next_offset = offset;
}

void flow_on_commit_failed(void *arg, const char *reason)
{
	struct collector *c = arg;

	metric_add(c->metrics.commit_failures, 1);
	log_warn(c->log, "offsets not committed", log_str("error", reason));
}

void flow_look_after_blocks(struct collector *c, int64_t now)
{
	bool too_much;

	if (c->blocked) {
		if (now >= c->retry_at && write_due(c, now, false) == 0)
			unblock(c);
		return;
	}
	if (now < c->scan_at)
		return;
	c->scan_at = now + SCAN_MS;
	too_much = slots_bytes(&c->slots) >= (size_t)c->settings->buffer_bytes;
	write_due(c, now, too_much);
}

static void count_partitions(struct collector *c, int64_t now)
{
	struct error err = {0};

	if (now < c->partitions_at)
		return;
	if (kafka_consumer_ask_partitions(c->consumer, ASK_MS,
					  &c->writer.partitions, &err) == 0)
		c->partitions_at = now + PARTITIONS_MS;
	else
		log_debug(c->log, "partitions not counted", log_err(&err));
}

void flow_report(struct collector *c, int64_t now)
{
	struct error err = {0};

	/* Asking brokers that are away takes a second each time. */
	if (c->blocked || !atomic_load(&c->kafka_up))
		return;
	count_partitions(c, now);
	if (now < c->report_at || !c->writer.partitions)
		return;
	c->report_at = now + c->settings->report_every;
	if (writer_tell_idle(&c->writer, &c->slots, &err) < 0)
		log_debug(c->log, "idle partitions not reported",
			  log_err(&err));
}
