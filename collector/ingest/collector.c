#include "collector/ingest/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector/ingest/flow.h"
#include "collector/exactly_once/facts.h"
#include "common/clock.h"

enum {
	POLL_MS = 20, /* how long a poll waits when there is nothing */
	RECORDS_A_TURN = 64,
	TICK_MS = 1000,
	POLL_BUSY_MS = 5, /* while an answer of ClickHouse is awaited */
	/* At the end, when Kafka is away: what it was not told is read again.
	 */
	AWAY_MS = 2000,
	CLOSE_MS = 5000,
};

/* --- the thread -------------------------------------------------------- */

/* Events go on while files are read; here they only change places. */
static void adopt_files(struct collector *c)
{
	struct enrich_lookups *fresh = reloader_fetch(c->reloader);

	if (!fresh)
		return;
	enricher_exchange(c->enricher, fresh);
	reloader_give_back(c->reloader, fresh);
	metric_add(c->metrics.reloads, 1);
}

static void measure(struct collector *c)
{
	struct enricher_stats stats = enricher_stats(c->enricher);
	char text[GATES_TEXT_MAX];

	health_say(c->flow_health, gates_text(&c->gates, text));
	collector_metrics_caches(&c->metrics, &stats);
	metric_set(c->metrics.buffered, (int64_t)slots_bytes(&c->slots));
	metric_set(c->metrics.fetched,
		   (int64_t)kafka_consumer_fetched(c->consumer));
	lag_look(&c->lag, &c->slots, clock_monotonic_ms());
	for (size_t i = 0; i < c->slots.count; i++) {
		struct slot *s = c->slots.items[i];

		if (s->held && s->reread_from >= 0)
			flow_read_again(c, s);
	}
}

static bool is_waiting(const struct collector *c)
{
	return couriers_pending(c->couriers) > 0;
}

/* Returns whether there may be more to take at once. */
static bool take_one(struct collector *c, int timeout_ms)
{
	struct kafka_record record;
	struct error err = {0};
	int got = kafka_consumer_poll(c->consumer, timeout_ms, &record, &err);

	if (got > 0) {
		flow_take(c, &record);
		kafka_record_release(&record);
	} else if (got < 0) {
		flow_kafka_refuses(c, err.text);
	}
	/* What is full is written first. */
	return got > 0 && c->scan_at > 0 && !c->blocked;
}

static void turn(struct collector *c)
{
	int wait = is_waiting(c) ? POLL_BUSY_MS : POLL_MS;
	int64_t now;

	adopt_files(c);
	/* Looking at the clock and around costs more than a record does. */
	for (int i = 0; i < RECORDS_A_TURN; i++)
		if (!take_one(c, i ? 0 : wait))
			break;
	now = clock_monotonic_ms();
	flow_look_after(c, now);
	upkeep_look(c, now);
	if (now < c->tick_at)
		return;
	c->tick_at = now + TICK_MS;
	measure(c);
}

/* Names what the slot holds, and says whether it is done with.  While Kafka is
 * away only a block that was named can go on. */
static bool drain_slot(struct collector *c, struct slot *slot, bool away)
{
	if (slot->state != SLOT_READING)
		return true;
	if (away)
		return slot->step != STEP_READY && slot->step != STEP_UNDER_WAY;
	/* A part of a block that was named cannot be sent. */
	if (slot->batch.events && !slot->sent && !slot->repeat.named)
		blocks_name(c, slot);
	return !slot->sent && !slot->answer_awaited && !slot->commit_due &&
	       (!slot->batch.events || slot->repeat.named);
}

static bool drain_all(struct collector *c, bool away)
{
	bool done = true;

	for (size_t i = 0; i < c->slots.count; i++)
		done = drain_slot(c, c->slots.items[i], away) && done;
	return done;
}

static int64_t events_left(const struct collector *c)
{
	uint64_t left = 0;

	for (size_t i = 0; i < c->slots.count; i++) {
		const struct slot *slot = c->slots.items[i];

		left += slot->batch.events;
		left += slot->sent ? slot->sent->batch.events : 0;
	}
	return (int64_t)left;
}

static void drain(struct collector *c)
{
	int64_t now = clock_monotonic_ms();
	int64_t until = now + c->settings->drain_timeout;
	int64_t there = now;
	int64_t left;

	while (!drain_all(c, now - there > AWAY_MS) && now < until) {
		kafka_consumer_serve_commits(c->consumer, POLL_BUSY_MS);
		couriers_serve(c->couriers, POLL_BUSY_MS);
		now = clock_monotonic_ms();
		if (atomic_load(&c->kafka_up))
			there = now;
		blocks_look(c, now);
	}
	left = events_left(c);
	if (left)
		log_warn(c->log,
			 "events not inserted are read again at the next start",
			 log_int("events", left));
	kafka_consumer_close(c->consumer, CLOSE_MS);
}

static void *run(void *arg)
{
	struct collector *c = arg;

	while (!atomic_load(&c->stopping))
		turn(c);
	drain(c);
	return NULL;
}

/* --- building ---------------------------------------------------------- */

static void choose_name(struct collector *c)
{
	const char *name = c->settings->name;

	if (name)
		strncpy(c->name, name, COLLECTOR_NAME_MAX);
	else if (gethostname(c->name, COLLECTOR_NAME_MAX) < 0)
		strcpy(c->name, "collector");
}

static int open_consumer(struct collector *c, struct error *err)
{
	const struct kafka_config *kafka = &c->config->kafka;
	struct kafka_consumer_options options = {
		.client_id = "shortloop-collector",
		.group = c->settings->group,
		.topics = c->topics,
		.fetch_bytes = c->shares.fetch_bytes,
		.fetch_events = c->shares.fetch_events,
		.fetch_answer = c->shares.fetch_answer,
		.on_assigned = partitions_on_assigned,
		.on_revoked = partitions_on_revoked,
		.on_end = flow_on_end,
		.on_committed = blocks_on_committed,
		.on_state = flow_on_kafka_state,
		.arg = c,
	};

	c->topics[0] = kafka->topic_clicks;
	c->topics[1] = kafka->topic_links;
	c->consumer = kafka_consumer_new(kafka, &options, c->registry, err);
	return c->consumer ? 0 : -1;
}

static int open_parts(struct collector *c, struct error *err)
{
	c->reloader = reloader_new(c->settings, &c->metrics, c->log, err);
	if (!c->reloader)
		return -1;
	c->enricher = enricher_new(c->settings, err);
	if (!c->enricher)
		return -1;
	c->couriers = couriers_new((unsigned)c->settings->inserts_in_flight,
				   &c->config->clickhouse, c, err);
	if (!c->couriers)
		return -1;
	c->dead_letters =
		dead_letters_new(&c->config->kafka, c->shares.dead_letters,
				 c->registry, c->metrics.lost, c->log, err);
	if (!c->dead_letters || open_consumer(c, err) < 0)
		return -1;
	schedule_init(&c->schedule, c->settings);
	c->gates = (struct gates){
		.consumer = c->consumer,
		.schedule = &c->schedule,
		.metrics = &c->metrics,
		.log = c->log,
		.memory = (size_t)c->settings->memory,
	};
	c->lag.consumer = c->consumer;
	valve_init(&c->gates.valve, c->shares.blocks);
	c->intake = (struct intake){
		.enricher = c->enricher,
		.dead_letters = c->dead_letters,
		.metrics = &c->metrics,
		.log = c->log,
	};
	c->delivery = (struct delivery_setup){
		.dead_letters = c->dead_letters,
		.metrics = &c->metrics,
		.collector = c->name,
	};
	c->takeover = (struct takeover_setup){
		.consumer = c->consumer,
		.kafka = &c->config->kafka,
		.group = c->settings->group,
		.epoch = (uint32_t)c->settings->epoch,
		.start = facts_start(c->settings),
		.collector = c->name,
	};
	return 0;
}

struct collector *collector_new(const struct collector_config *config,
				struct app *app, struct error *err)
{
	struct collector *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->config = config;
	c->settings = &config->collector;
	c->log = app_log(app);
	c->registry = app_metrics(app);
	c->kafka_health = health_register(app_health(app), "kafka");
	c->clickhouse_health = health_register(app_health(app), "clickhouse");
	c->offsets_health = health_register(app_health(app), "offsets");
	health_up(c->offsets_health);
	c->guarantee_health = health_register(app_health(app), "guarantee");
	health_say(c->guarantee_health, "not known yet");
	c->flow_health = health_register(app_health(app), "flow");
	health_up(c->flow_health);
	c->clock_health = health_register(app_health(app), "clock");
	health_up(c->clock_health);
	choose_name(c);
	if (memory_share(c->settings->memory, collector_caches(c->settings),
			 &c->shares, err) < 0)
		goto fail;
	collector_metrics_register(&c->metrics, c->registry, c->settings,
				   &c->shares);
	if (open_parts(c, err) == 0)
		return c;
fail:
	collector_free(c);
	return NULL;
}

int collector_start(struct collector *c, struct error *err)
{
	errno = pthread_create(&c->thread, NULL, run, c);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	c->running = true;
	return 0;
}

void collector_reload(struct collector *c)
{
	reloader_ask(c->reloader);
}

void collector_stop(struct collector *c)
{
	if (!c->running)
		return;
	atomic_store(&c->stopping, true);
	pthread_join(c->thread, NULL);
	c->running = false;
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	collector_stop(c);
	/* What its jobs ask is there until they have ended. */
	if (c->consumer)
		kafka_consumer_close(c->consumer, CLOSE_MS);
	couriers_free(c->couriers);
	kafka_consumer_free(c->consumer);
	dead_letters_free(c->dead_letters);
	reloader_free(c->reloader);
	enricher_free(c->enricher);
	slots_release(&c->slots);
	free(c);
}
