#include "collector/ingest/flow.h"

#include <sodium.h>
#include <string.h>

#include "common/backoff.h"
#include "common/clock.h"

enum {
	SCAN_MS = 10, /* how often blocks and partitions are looked at */
	RETRY_MIN_MS = 200,
};

/* --- state ------------------------------------------------------------- */

void flow_clickhouse_is_up(struct collector *c)
{
	c->probe_at = clock_monotonic_ms() + IDLE_PROBE_MS;
	if (!health_up(c->clickhouse_health))
		return;
	log_info(c->log, "ClickHouse is there");
	/* It may be another, or configured anew. */
	c->probe_at = 0;
	c->measure_at = 0;
}

void flow_clickhouse_is_down(struct collector *c, const struct error *err)
{
	if (!health_down(c->clickhouse_health, err->text))
		return;
	if (err->code == ERROR_UNSAFE)
		log_error(c->log, "nothing is inserted into this ClickHouse",
			  log_err(err));
	else
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

void flow_kafka_refuses_no_more(struct collector *c)
{
	if (!c->kafka_trouble || !atomic_load(&c->kafka_up))
		return;
	c->kafka_trouble = false;
	if (health_up(c->kafka_health))
		log_info(c->log, "Kafka refuses no more");
}

void flow_block(struct collector *c, const struct error *err)
{
	int64_t now = clock_monotonic_ms();

	/* Blocks that fail together count once. */
	if (c->blocked && now < c->retry_at)
		return;
	c->failures++;
	c->retry_at = now + backoff_delay(RETRY_MIN_MS, c->settings->retry_max,
					  c->failures, randombytes_random());
	if (!c->blocked)
		log_warn(c->log, "inserting stops until this has passed",
			 log_err(err));
	c->blocked = true;
	metric_set(c->metrics.blocked, 1);
}

void flow_unblock(struct collector *c)
{
	if (!c->blocked)
		return;
	log_info(c->log, "inserting goes on");
	c->blocked = false;
	c->failures = 0;
	metric_set(c->metrics.blocked, 0);
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

/*
 * Does `offset` follow what was read?  Offsets may be left out of a log, but
 * none may lie before its start, nor come again: then the brokers have dropped
 * what was to be read, or this is another log.
 */
static bool follows(struct collector *c, struct slot *slot, int64_t offset)
{
	int64_t start;

	if (offset == slot->next_offset)
		return true;
	start = kafka_consumer_log_start(c->consumer, slot->topic,
					 slot->partition);
	if (offset > slot->next_offset && start <= slot->next_offset)
		return true;
	log_warn(c->log, "the log goes on elsewhere than expected",
		 log_str("topic", slot->topic),
		 log_int("partition", slot->partition),
		 log_int("expected", slot->next_offset),
		 log_int("offset", offset), log_int("log_start", start));
	partitions_take_over(c, slot, 0);
	return false;
}

/* A block that is made again is whole when its last offset was passed. */
static bool is_repeated(const struct slot *slot)
{
	return slot->repeat.named && slot->next_offset >= 0 &&
	       (uint64_t)slot->next_offset > slot->repeat.last;
}

static void end_repeat(struct collector *c, struct slot *slot)
{
	if (!is_repeated(slot))
		return;
	if (slot->batch.events)
		blocks_name(c, slot);
	else
		slot->repeat.named = false;
}

static void take(struct collector *c, struct slot *slot,
		 const struct kafka_record *record)
{
	size_t before = slot->batch.rows.len;
	bool was_full = schedule_is_full(&c->schedule, &slot->batch);
	struct error err = {0};

	if (intake_take(&c->intake, slot, record, &err) < 0) {
		slot->reread_from = record->offset;
		flow_read_again(c, slot);
		flow_block(c, &err);
		return;
	}
	end_repeat(c, slot);
	gates_took(&c->gates, &c->slots, slot, before);
	if (!was_full && schedule_is_full(&c->schedule, &slot->batch))
		c->scan_at = 0;
}

void flow_take(struct collector *c, const struct kafka_record *record)
{
	struct slot *slot =
		slots_find(&c->slots, record->topic, record->partition);

	if (!slot || slot->state != SLOT_READING)
		return;
	if (slot->reread_from >= 0) {
		flow_read_again(c, slot);
		return;
	}
	if (!follows(c, slot, record->offset))
		return;
	/* The last offsets of the block may have been left out. */
	if (slot->repeat.named &&
	    (uint64_t)record->offset > slot->repeat.last) {
		slot->next_offset = record->offset;
		end_repeat(c, slot);
		/* Out of memory: the block must not grow meanwhile. */
		if (slot->repeat.named) {
			slot->reread_from = record->offset;
			return;
		}
	}
	take(c, slot, record);
}

void flow_on_end(void *arg, const char *topic, int32_t partition,
		 int64_t offset)
{
	struct collector *c = arg;
	struct slot *slot = slots_find(&c->slots, topic, partition);

	if (!slot || slot->state != SLOT_READING || slot->reread_from >= 0 ||
	    !follows(c, slot, offset))
		return;
	slot->next_offset = offset;
	end_repeat(c, slot);
}

void flow_look_after(struct collector *c, int64_t now)
{
	if (now < c->scan_at && !couriers_ended(c->couriers))
		return;
	c->scan_at = now + SCAN_MS;
	c->drain_from = 0;
	kafka_consumer_serve_commits(c->consumer, 0);
	couriers_serve(c->couriers, 0);
	partitions_look(c, now);
	blocks_look(c, now);
	gates_look(&c->gates, &c->slots, now);
	kafka_consumer_keep_fetching(c->consumer);
}
