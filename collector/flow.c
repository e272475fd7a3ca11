#include "collector/flow.h"

#include <sodium.h>
#include <string.h>

#include "collector/limits/backoff.h"
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

static void block(struct collector *c, const struct error *err)
{
	c->failures++;
	c->retry_at = clock_monotonic_ms() +
		      backoff_delay(RETRY_MIN_MS, c->settings->retry_max,
				    c->failures, randombytes_random());
	if (!c->blocked)
		log_warn(c->log, "inserting stops until this has passed",
			 log_err(err));
	c->blocked = true;
	metric_set(c->metrics.blocked, 1);
}

static void unblock(struct collector *c)
{
	log_info(c->log, "inserting goes on");
	c->blocked = false;
	c->failures = 0;
	metric_set(c->metrics.blocked, 0);
}

static void spend(struct collector *c, const struct slot *slot)
{
	if (slot->batch.stage != BATCH_FILLING)
		return;
	schedule_spend(&c->schedule, slot);
	metric_add(c->metrics.parts[slot->table], schedule_parts(slot));
}

int flow_write(struct collector *c, struct slot *slot, bool wait)
{
	struct error err = {0};

	spend(c, slot);
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

/* Writes the blocks whose time has come; stops at a failure. */
static int write_due(struct collector *c, int64_t now)
{
	struct slot *slot;

	while ((slot = schedule_next(&c->schedule, &c->slots, now)))
		if (flow_write(c, slot, false) < 0)
			return -1;
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
	size_t before;
	bool was_full;

	if (!slot || !slot->held)
		return;
	if (slot->reread_from >= 0) {
		flow_read_again(c, slot);
		return;
	}
	/* A frozen block takes no more; its partition could not be paused. */
	if (slot->batch.stage != BATCH_FILLING) {
		slot->reread_from = record->offset;
		flow_read_again(c, slot);
		return;
	}
	before = slot->batch.rows.len;
	was_full = schedule_is_full(&c->schedule, &slot->batch);
	if (intake_take(&c->intake, slot, record, &err) < 0) {
		slot->reread_from = record->offset;
		flow_read_again(c, slot);
		block(c, &err);
		return;
	}
	gates_took(&c->gates, &c->slots, slot, before);
	if (!was_full && schedule_is_full(&c->schedule, &slot->batch))
		c->scan_at = 0;
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
	schedule_share(&c->schedule, &c->slots);
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
	slot->held = slot->shut = false;
	schedule_share(&c->schedule, &c->slots);
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
	if (now < c->scan_at)
		return;
	c->scan_at = now + SCAN_MS;
	if (!c->blocked)
		write_due(c, now);
	else if (now >= c->retry_at && write_due(c, now) == 0)
		unblock(c);
	gates_look(&c->gates, &c->slots, now);
	kafka_consumer_keep_fetching(c->consumer);
}

static int count_of(struct collector *c, enum sink_table table,
		    struct error *err)
{
	const char *topic = table == SINK_CLICKS ? c->config->kafka.topic_clicks
						 : c->config->kafka.topic_links;

	return kafka_consumer_ask_partitions(c->consumer, topic, ASK_MS,
					     &c->schedule.partitions[table],
					     err);
}

static void count_partitions(struct collector *c, int64_t now)
{
	struct error err = {0};

	if (now < c->partitions_at)
		return;
	if (count_of(c, SINK_CLICKS, &err) == 0 &&
	    count_of(c, SINK_LINKS, &err) == 0)
		c->partitions_at = now + PARTITIONS_MS;
	else
		log_debug(c->log, "partitions not counted", log_err(&err));
	c->writer.partitions = c->schedule.partitions[SINK_CLICKS];
	schedule_share(&c->schedule, &c->slots);
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
