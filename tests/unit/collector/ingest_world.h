/*
 * ingest_world.h - the state of a collector's polling thread, with one
 * partition of clicks that is read.  There is no Kafka and no ClickHouse: a
 * test stands in for both.
 */
#ifndef TESTS_UNIT_COLLECTOR_INGEST_WORLD_H
#define TESTS_UNIT_COLLECTOR_INGEST_WORLD_H

#include "tests/unit/collector/enricher_settings.h"

#include <string.h>

#include "collector/ingest/intake.h"
#include "common/clock.h"

struct ingest_world {
	char rules[64];
	struct collector_settings settings;
	struct metrics *registry;
	struct collector_metrics metrics;
	struct enricher *enricher;
	struct health *health;
	struct connections connections;
	struct schedule schedule;
	struct guarantee guarantee;
	struct partitions all;
	struct inserts inserts;
	struct backpressure backpressure;
	struct passes passes; /* none unless a test sets some */
	struct intake intake;
	struct partition *p;
	struct ingest_world *next; /* a world that has ended */
};

static void ingest_ignore(void *arg, const char *topic, int32_t partition)
{
	(void)arg;
	(void)topic;
	(void)partition;
}

static void ingest_ignore_revoked(void *arg, const char *topic,
				  int32_t partition, bool lost)
{
	ingest_ignore(arg, topic, partition);
	(void)lost;
}

static void ingest_ignore_committed(void *arg, void *opaque,
				    const struct error *err)
{
	(void)arg;
	(void)opaque;
	(void)err;
}

static void ingest_ignore_unreadable(void *arg, const char *topic,
				     int32_t partition,
				     const struct kafka_unreadable *what)
{
	ingest_ignore(arg, topic, partition);
	(void)what;
}

static void ingest_ignore_state(void *arg, bool up, const char *reason)
{
	(void)arg;
	(void)up;
	(void)reason;
}

static inline struct partition *ingest_add(struct ingest_world *w,
					   const char *topic, int32_t number)
{
	struct error err = {0};
	struct partition *p =
		partitions_add(&w->all, topic, number, w->registry, &err);

	assert_non_null(p);
	p->table = strcmp(topic, "links") == 0 ? SINK_LINKS : SINK_CLICKS;
	p->state = PARTITION_READING;
	p->assignment = 1;
	p->epoch = 2;
	p->next_offset = 0;
	schedule_share(&w->schedule, &w->all);
	return p;
}

/* Made once in a program: a consumer without a broker cannot be closed, and its
 * threads stay. */
static struct kafka_config ingest_kafka;
static struct clickhouse_config ingest_clickhouse;
static struct kafka_consumer *ingest_consumer;
static struct dead_letters *ingest_letters;
static struct ingest_world *ingest_ended;

static int ingest_connect(void **state)
{
	static char host[] = "127.0.0.1:1", url[] = "http://127.0.0.1:1",
		    database[] = "default", dlq[] = "dlq";
	static char *brokers[] = {host};
	static const char *const topics[] = {"clicks", "links", NULL};
	const struct kafka_consumer_options options = {
		.client_id = "test",
		.group = "test",
		.topics = topics,
		.on_assigned = ingest_ignore,
		.on_revoked = ingest_ignore_revoked,
		.on_unreadable = ingest_ignore_unreadable,
		.on_committed = ingest_ignore_committed,
		.on_state = ingest_ignore_state,
	};
	struct error err = {0};

	(void)state;
	ingest_kafka = (struct kafka_config){.brokers = {brokers, 1},
					     .topic_dlq = dlq};
	ingest_clickhouse = (struct clickhouse_config){
		.url = url,
		.database = database,
		.connect_timeout = 1000,
		.query_timeout = 1000,
		.response_max = 1024,
	};
	ingest_consumer =
		kafka_consumer_new(&ingest_kafka, &options, NULL, &err);
	ingest_letters = dead_letters_new(&ingest_kafka, 1 << 20, NULL, NULL,
					  NULL, &err);
	assert_non_null(ingest_consumer);
	assert_non_null(ingest_letters);
	return 0;
}

/* Letters that were not delivered are counted in their partitions until this
 * point. */
static int ingest_disconnect(void **state)
{
	struct ingest_world *w;

	(void)state;
	kafka_consumer_close(ingest_consumer, 0);
	kafka_consumer_free(ingest_consumer);
	dead_letters_free(ingest_letters);
	while ((w = ingest_ended)) {
		ingest_ended = w->next;
		partitions_release(&w->all);
		enricher_free(w->enricher);
		health_free(w->health);
		metrics_free(w->registry);
		free(w);
	}
	return 0;
}

static int ingest_set_up(void **state)
{
	static const struct memory_shares shares;
	struct ingest_world *w = calloc(1, sizeof(*w));
	struct error err = {0};

	assert_non_null(w);
	w->settings = enricher_settings(w->rules);
	w->settings.batch_rows = 100;
	w->settings.batch_bytes = 1 << 20;
	w->settings.batch_age = 1000;
	w->settings.parts_per_second = 1000;
	w->enricher = enricher_new(&w->settings, &err);
	unlink(w->rules);
	assert_non_null(w->enricher);
	w->registry = metrics_new();
	collector_metrics_register(&w->metrics, w->registry, &w->settings,
				   &shares);
	w->health = health_new();
	connections_init(&w->connections, w->health, NULL);
	schedule_init(&w->schedule, &w->settings);
	w->guarantee = (struct guarantee){
		.known = true, .window = 10000, .seconds = GUARANTEE_FOREVER};
	w->inserts.consumer = ingest_consumer;
	w->inserts.setup.dead_letters = ingest_letters;
	w->inserts.workers = insert_workers_new(1, &ingest_clickhouse, &err);
	assert_non_null(w->inserts.workers);
	w->inserts.settings = &w->settings;
	w->inserts.collector = "me";
	w->inserts.metrics = &w->metrics;
	w->inserts.connections = &w->connections;
	w->inserts.schedule = &w->schedule;
	w->inserts.guarantee = &w->guarantee;
	w->inserts.setup.metrics = &w->metrics;
	w->inserts.breaker.metric = w->metrics.breaker_open;
	w->inserts.breaker.retry_backoff_max = 1000;
	w->backpressure.consumer = w->inserts.consumer;
	w->backpressure.schedule = &w->schedule;
	w->backpressure.metrics = &w->metrics;
	w->backpressure.memory = SIZE_MAX;
	row_budget_init(&w->backpressure.budget, 1 << 30);
	w->intake = (struct intake){
		.metrics = &w->metrics,
		.consumer = w->inserts.consumer,
		.enricher = w->enricher,
		.dead_letters = w->inserts.setup.dead_letters,
		.partitions = &w->all,
		.schedule = &w->schedule,
		.backpressure = &w->backpressure,
		.inserts = &w->inserts,
		.passes = &w->passes,
	};
	w->p = ingest_add(w, "clicks", 0);
	*state = w;
	return 0;
}

static int ingest_tear_down(void **state)
{
	struct ingest_world *w = *state;

	insert_workers_free(w->inserts.workers);
	w->next = ingest_ended;
	ingest_ended = w;
	return 0;
}

/* Adds events with rows as if they had been read. */
static inline void ingest_fill(struct partition *p, uint64_t first,
			       uint64_t last)
{
	struct error err = {0};

	for (uint64_t offset = first; offset <= last; offset++) {
		buf_puts(&p->filling.rows, "row");
		assert_int_equal(batch_note_row(&p->filling, offset, 1000, 0,
						true, &err),
				 0);
	}
	p->next_offset = (int64_t)last + 1;
}

#define INGEST_TEST(name)                                                      \
	cmocka_unit_test_setup_teardown(name, ingest_set_up, ingest_tear_down)

#endif
