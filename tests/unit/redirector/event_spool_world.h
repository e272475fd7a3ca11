/*
 * event_spool_world.h - a spool of events in a folder of its own, with its
 * counts.  Kafka is down unless a test starts it.
 */
#ifndef TESTS_UNIT_REDIRECTOR_EVENT_SPOOL_WORLD_H
#define TESTS_UNIT_REDIRECTOR_EVENT_SPOOL_WORLD_H

#include "tests/unit/log_file.h"
#include "tests/unit/redirector/hours.h"
#include "tests/unit/unit.h"

#include <string.h>

#include "common/app/health.h"
#include "common/clock.h"
#include "common/metrics/metrics.h"
#include "redirector/events/event_spool.h"

#define HOUR INT64_C(490000)
#define TIME (HOUR * HOUR_MS + 1)

struct world {
	char parent[64], dir[80];
	struct redirector_settings settings;
	struct redirector_metrics metrics;
	struct hour_totals totals;
	struct hour_writer hours;
	struct metrics *registry;
	struct health *health;
	struct log_file log;
	struct event_spool *spool;
};

static inline struct event_spool *new_spool(struct world *w, bool awaits_folder,
					    struct error *err)
{
	const struct event_spool_options options = {
		.settings = &w->settings,
		.metrics = &w->metrics,
		.hours = &w->hours,
		.health = health_register(w->health, "spool"),
		.log = w->log.log,
		.awaits_folder = awaits_folder,
	};

	return event_spool_new(&options, err);
}

static inline void open_spool(struct world *w)
{
	struct error err = {0};

	w->spool = new_spool(w, false, &err);
	if (!w->spool)
		fail_msg("%s", err.text);
	event_spool_kafka_changed(w->spool, false);
}

static inline int make_world(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	snprintf(w->parent, sizeof(w->parent), "/tmp/shortloop-spool-XXXXXX");
	assert_non_null(mkdtemp(w->parent));
	snprintf(w->dir, sizeof(w->dir), "%s/spool", w->parent);
	w->settings.spool_dir = w->dir;
	w->settings.spool_max_bytes = 1 << 20;
	w->settings.spool_replay_rate = 1000;
	w->registry = metrics_new();
	w->health = health_new();
	log_file_open(&w->log);
	redirector_metrics_register(&w->metrics, w->registry);
	hour_writer_init(&w->hours, &w->totals);
	open_spool(w);
	*state = w;
	return 0;
}

static inline int drop_world(void **state)
{
	struct world *w = *state;

	event_spool_free(w->spool);
	hour_writer_destroy(&w->hours);
	health_free(w->health);
	log_file_close(&w->log);
	metrics_free(w->registry);
	unit_remove_dir(w->parent);
	free(w);
	return 0;
}

static inline void start_spool(struct world *w)
{
	struct error err;

	assert_int_equal(event_spool_start(w->spool, NULL, &err), 0);
}

/* Returns the hour's count since the start. */
static inline uint64_t count_in_hour(struct world *w, enum hour_counter which)
{
	struct hour_table table = {0};
	const struct hour_counts *found;

	hour_totals_add_to(&w->totals, &table);
	found = find_hour(&table, HOUR);
	return found ? found->n[which] : 0;
}

static inline uint64_t metric_of(struct world *w, enum redirector_counter which)
{
	return metric_value(w->metrics.counters[which]);
}

/* Returns whether the spool's health text contains this. */
static inline bool is_said(struct world *w, const char *text)
{
	struct buf said = {0};
	bool found;

	/* Visits are answered even if events are lost, so the health is good.
	 */
	assert_true(health_report(w->health, &said));
	found = strstr(buf_cstr(&said), text) != NULL;
	buf_free(&said);
	return found;
}

static inline void await_said(struct world *w, const char *text)
{
	for (int i = 0; i < 60000 && !is_said(w, text); i++)
		usleep(1000);
	assert_true(is_said(w, text));
}

static inline size_t offer_events(struct world *w, size_t count, size_t len)
{
	char *event = calloc(1, len);
	size_t taken = 0;

	for (size_t i = 0; i < count; i++)
		taken += event_spool_offer(w->spool, &(struct spool_event){
							     .time_ms = TIME,
							     .data = event,
							     .len = len,
						     });
	free(event);
	return taken;
}

static inline struct event_journal *make_journal(struct world *w)
{
	const struct event_journal_options options = {w->dir, 1, 1 << 20, 1000};
	struct error err = {0};
	struct event_journal *j = event_journal_new(&options, &err);

	if (!j)
		fail_msg("%s", err.text);
	return j;
}

static inline void await_open(struct event_spool *s)
{
	for (int i = 0; i < 20000 && !event_spool_is_open(s); i++)
		usleep(1000);
	assert_true(event_spool_is_open(s));
}

static inline void start_again(struct world *w)
{
	event_spool_free(w->spool);
	open_spool(w);
	event_spool_recover(w->spool);
}

#define EVENT_SPOOL_TEST(name)                                                 \
	cmocka_unit_test_setup_teardown(name, make_world, drop_world)

#endif
