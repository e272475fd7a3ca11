/*
 * live_reader_world.h - the thread that reads the topic of clicks while there
 * are listeners, and what it delivers.  The broker is librdkafka's own mock, in
 * this process.
 */
#ifndef TESTS_UNIT_AGGREGATOR_LIVE_READER_WORLD_H
#define TESTS_UNIT_AGGREGATOR_LIVE_READER_WORLD_H

#include "tests/unit/aggregator/live_click.h"
#include "tests/unit/free_address.h"
#include "tests/unit/mock_kafka.h"

#include <stdatomic.h>

#include "aggregator/api/live/live_reader.h"
#include "common/clock.h"
#include "common/drop_const.h"

enum {
	AWAIT_MS = 60000,
};

#define EVENTUALLY(condition)                                                  \
	do {                                                                   \
		for (int ms = 0; !(condition) && ms < AWAIT_MS; ms++)          \
			usleep(1000);                                          \
		if (!(condition))                                              \
			fail_msg("not within a minute: %s", #condition);       \
	} while (0)

/* --- a test's world ------------------------------------------------------- */

struct world {
	rd_kafka_mock_cluster_t *mock;
	rd_kafka_t *producer;
	struct mock_kafka_config kafka;
	struct aggregator_config config;
	struct metrics *metrics;
	struct clickhouse *ch;
	struct query_ender *ender;
	struct workers *workers;
	struct live_reader *reader;
	struct metric *rejected, *lag;
	/* How often each callback was called, and its arguments. */
	atomic_int ready, told[LIVE_AUDIENCES], lost[LIVE_AUDIENCES];
	_Atomic uint64_t last[LIVE_AUDIENCES]; /* link */
	char account[16], owner[16];	       /* for the last of SEES_SOME */
	_Atomic int64_t
		longest_lag; /* the longest lag when a click was delivered */
	/* This listener leaves when the next click is delivered; NULL: no
	 * listener leaves. */
	struct live_listener *_Atomic leaves;
};

static inline int64_t lag_of(const struct world *w)
{
	return (int64_t)metric_value(w->lag);
}

static inline void on_event(void *arg, struct live_event *e,
			    enum live_audience audience)
{
	struct world *w = arg;
	struct live_listener *leaves = atomic_exchange(&w->leaves, NULL);

	if (audience == SEES_SOME) {
		snprintf(w->account, sizeof(w->account), "%s",
			 e->whose.account);
		snprintf(w->owner, sizeof(w->owner), "%s", e->whose.owner);
	}
	if (leaves)
		live_reader_leave(w->reader, leaves);
	if (lag_of(w) > w->longest_lag)
		w->longest_lag = lag_of(w);
	w->last[audience] = e->link_id;
	w->told[audience]++;
}

static inline void on_lost(void *arg, uint64_t events,
			   enum live_audience audience)
{
	struct world *w = arg;

	w->lost[audience] += (int)events;
}

static inline void on_ready(void *arg)
{
	struct world *w = arg;

	w->ready++;
}

/* The configuration outlives the reader. */
static inline struct world *
start_reader(const struct clickhouse_config *archive)
{
	static char topic[] = MOCK_KAFKA_TOPIC;
	struct world *w = calloc(1, sizeof(*w));
	struct live_reader_options options = {
		.config = &w->config,
		.connections = &w->ch,
		.on_event = on_event,
		.on_lost = on_lost,
		.on_ready = on_ready,
		.arg = w,
	};
	struct error err = {0};

	w->mock = mock_kafka_start(topic);
	w->producer = mock_kafka_producer(w->mock);
	mock_kafka_configure(w->mock, &w->kafka);
	w->config.kafka = w->kafka.config;
	w->config.kafka.topic_live = topic;
	w->config.aggregator.answer_timeout = 30 * CLOCK_SECOND;
	options.metrics = w->metrics = metrics_new();
	w->ch = clickhouse_new(archive, &err);
	options.ender = w->ender =
		query_ender_new(archive, NULL, w->metrics, &err);
	options.workers = w->workers = workers_new(1, 100, &err);
	w->reader = live_reader_new(&options, &err);
	/* The reader has registered the same counter. */
	w->rejected = metrics_counter(
		w->metrics, "shortloop_aggregator_live_rejected_total", NULL,
		"");
	w->lag = metrics_gauge(
		w->metrics, "shortloop_aggregator_live_lag_events", NULL, "");
	if (!w->reader || live_reader_start(w->reader, &err) < 0)
		fail_msg("%s", err.text);
	return w;
}

/* No server answers at that address. */
static inline void configure_no_archive(struct clickhouse_config *ret)
{
	static char url[64], database[] = "default";
	struct free_address at;

	free_address_find(&at);
	snprintf(url, sizeof(url), "http://%s:%s", at.host, at.port);
	*ret = (struct clickhouse_config){
		.url = url,
		.database = database,
		.connect_timeout = 5000,
		.query_timeout = 60000,
		.response_max = 1 << 20,
	};
}

static inline int tear_down_reader(void **state)
{
	struct world *w = *state;

	live_reader_stop(w->reader);
	workers_free(w->workers);
	live_reader_free(w->reader);
	query_ender_free(w->ender);
	clickhouse_free(w->ch);
	metrics_free(w->metrics);
	rd_kafka_destroy(w->producer);
	mock_kafka_stop(w->mock);
	free(w);
	return 0;
}

static inline void produce_records(struct world *w, const char *text, int count)
{
	for (int i = 0; i < count; i++)
		assert_int_equal(
			rd_kafka_producev(w->producer,
					  RD_KAFKA_V_TOPIC(MOCK_KAFKA_TOPIC),
					  RD_KAFKA_V_PARTITION(0),
					  RD_KAFKA_V_VALUE(drop_const(text),
							   strlen(text)),
					  RD_KAFKA_V_END),
			0);
	assert_int_equal(rd_kafka_flush(w->producer, AWAIT_MS), 0);
}

static inline void click_some(struct world *w, uint64_t link_id,
			      const char *owner, int count)
{
	char text[LIVE_CLICK_TEXT_MAX];

	produce_records(w, live_click_write(link_id, owner, text), count);
}

static inline void produce_click(struct world *w, uint64_t link_id,
				 const char *owner)
{
	click_some(w, link_id, owner, 1);
}

static inline void join_reader(struct world *w, struct live_listener *listener)
{
	live_reader_join(w->reader, listener);
	EVENTUALLY(live_reader_is_ready(w->reader));
	EVENTUALLY(w->ready);
}

#endif
