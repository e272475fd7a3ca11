/*
 * event_sink_world.h - a sink of click events with a spool in a folder of its
 * own.  Kafka is down unless a test starts it: no server listens at the
 * configured port.
 */
#ifndef TESTS_UNIT_REDIRECTOR_EVENT_SINK_WORLD_H
#define TESTS_UNIT_REDIRECTOR_EVENT_SINK_WORLD_H

#include "tests/unit/log_file.h"
#include "tests/unit/mock_kafka.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <string.h>

#include "common/clock.h"
#include "redirector/events/event_journal.h"
#include "redirector/events/event_sink.h"

static char broker[] = "127.0.0.1:1", topic[] = "t", compression[] = "none";
static char *brokers[] = {broker};

struct world {
	char parent[64], dir[80];
	char mock_address[64], *mock_brokers[1];
	struct redirector_config config;
	struct log_file log;
	struct redirector_metrics metrics;
	struct hour_totals totals;
	struct hour_writer hours;
	struct metrics *registry;
	struct health *health;
	struct event_sink *sink;
};

static inline int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct redirector_settings *s = &w->config.redirector;

	snprintf(w->parent, sizeof(w->parent), "/tmp/shortloop-sink-XXXXXX");
	assert_non_null(mkdtemp(w->parent));
	snprintf(w->dir, sizeof(w->dir), "%s/spool", w->parent);
	w->config.kafka = (struct kafka_config){
		.brokers = {brokers, 1},
		.topic_clicks = topic,
		.queue_messages = 100,
		.queue_bytes = 1 << 20,
	};
	s->compression = compression;
	s->delivery_timeout = CLOCK_HOUR;
	s->spool_dir = w->dir;
	s->spool_max_bytes = 1 << 20;
	s->spool_journal_bytes = 1 << 20;
	s->spool_replay_rate = 1000;
	w->registry = metrics_new();
	w->health = health_new();
	log_file_open(&w->log);
	redirector_metrics_register(&w->metrics, w->registry);
	hour_writer_init(&w->hours, &w->totals);
	*state = w;
	return 0;
}

static inline int drop_world(void **state)
{
	struct world *w = *state;

	event_sink_free(w->sink);
	hour_writer_destroy(&w->hours);
	health_free(w->health);
	log_file_close(&w->log);
	metrics_free(w->registry);
	unit_remove_dir(w->parent);
	free(w);
	return 0;
}

static inline struct event_sink *try_sink(struct world *w, bool succeeds,
					  struct error *err)
{
	const struct event_sink_options options = {
		.config = &w->config,
		.metrics = &w->metrics,
		.hours = &w->hours,
		.threads = 1,
		.registry = w->registry,
		.health = w->health,
		.log = w->log.log,
		.succeeds = succeeds,
	};

	return event_sink_new(&options, err);
}

static inline void make_sink(struct world *w, bool succeeds)
{
	struct error err = {0};

	w->sink = try_sink(w, succeeds, &err);
	if (!w->sink)
		fail_msg("%s", err.text);
}

static inline void start_sink(struct world *w)
{
	struct error err = {0};

	if (event_sink_start(w->sink, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void take_event(struct world *w)
{
	const struct taken_event event = {0, clock_real_ms(), "event", 5};

	assert_int_equal(event_sink_take(w->sink, &event), EVENT_TAKEN);
}

static inline size_t count_journals(struct world *w)
{
	DIR *dir = opendir(w->dir);
	size_t count = 0;

	for (struct dirent *e; (e = readdir(dir));)
		count += strncmp(e->d_name, JOURNAL_PREFIX,
				 strlen(JOURNAL_PREFIX)) == 0;
	closedir(dir);
	return count;
}

static inline bool is_said(struct world *w, const char *text)
{
	struct buf said = {0};
	bool found;

	health_report(w->health, &said);
	found = strstr(buf_cstr(&said), text);
	buf_free(&said);
	return found;
}

static inline rd_kafka_mock_cluster_t *make_kafka(struct world *w)
{
	rd_kafka_mock_cluster_t *mock = mock_kafka_start(topic);

	snprintf(w->mock_address, sizeof(w->mock_address), "%s",
		 rd_kafka_mock_cluster_bootstraps(mock));
	w->mock_brokers[0] = w->mock_address;
	w->config.kafka.brokers = (struct setting_strings){w->mock_brokers, 1};
	return mock;
}

static inline uint64_t count_in_all_hours(struct world *w,
					  enum hour_counter which)
{
	struct hour_table table = {0};
	uint64_t n = 0;

	hour_totals_add_to(&w->totals, &table);
	for (size_t i = 0; i < HOUR_TABLE_SIZE; i++)
		n += table.items[i].n[which];
	return n;
}

static inline void await_counted(struct world *w, enum hour_counter which,
				 uint64_t count)
{
	for (int i = 0; i < 60000 && count_in_all_hours(w, which) < count; i++)
		usleep(1000);
	assert_int_equal(count_in_all_hours(w, which), count);
}

/* Kafka answers the next Produce with that error. */
static inline void refuse_next_produce(rd_kafka_mock_cluster_t *mock,
				       rd_kafka_resp_err_t code)
{
	rd_kafka_mock_push_request_errors(mock, 0, 1, code);
}

/* Starts the sink with Kafka and delivers one event. */
static inline rd_kafka_mock_cluster_t *start_at_kafka(struct world *w)
{
	rd_kafka_mock_cluster_t *mock = make_kafka(w);

	make_sink(w, false);
	start_sink(w);
	take_event(w);
	await_counted(w, HOUR_ACKNOWLEDGED, 1);
	return mock;
}

static inline uint64_t read_spooled_count(struct world *w)
{
	return metric_value(w->metrics.counters[COUNTER_SPOOLED]);
}

#define EVENT_SINK_TEST(name)                                                  \
	cmocka_unit_test_setup_teardown(name, make_world, drop_world)

#endif
