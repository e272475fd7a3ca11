#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/collector_config.h"
#include "collector/collector_metrics.h"
#include "collector/commands.h"
#include "collector/dead_letters.h"
#include "collector/enrich/enricher.h"
#include "collector/enrich/reference.h"
#include "collector/exactly_once/facts.h"
#include "collector/ingest/assignments.h"
#include "collector/ingest/backpressure.h"
#include "collector/ingest/connections.h"
#include "collector/ingest/housekeeping.h"
#include "collector/ingest/insert_workers.h"
#include "collector/ingest/inserts.h"
#include "collector/ingest/intake.h"
#include "collector/ingest/live.h"
#include "collector/ingest/partitions.h"
#include "collector/ingest/recovery.h"
#include "collector/ingest/reloader.h"
#include "collector/ingest/schedule.h"
#include "collector/ingest/topic_limits.h"
#include "collector/ingest/unreadable_offsets.h"
#include "collector/memory.h"
#include "collector/side/side_intake.h"
#include "collector/side/side_topics.h"
#include "common/clock.h"
#include "common/host_name.h"
#include "common/kafka/consumer_commit.h"
#include "common/kafka/record.h"

/*
 * The daemon: it reads events from Kafka and puts rows into ClickHouse.
 *
 * A thread of its own polls Kafka (intake.h) and fills a batch for each
 * partition (partition.h); the insert workers insert them (insert_workers.h).
 * The intent of a batch is committed before the batch is sent (inserts.h), and
 * a new owner of a partition checks what is stored before it reads on
 * (recovery.h): each event is stored once.  A partition whose batch cannot be
 * inserted is paused, so that the memory in use stays bounded (backpressure.h).
 */

enum {
	POLL_MS = 20,	  /* how long a poll waits when there is no record */
	POLL_BUSY_MS = 5, /* the same while ClickHouse has not answered yet */
	RECORDS_A_TURN = 64,
	SCAN_MS = 10,	/* how often batches and partitions are checked */
	TICK_MS = 1000, /* how often metrics are set */
	/* Shutdown stops waiting when Kafka is away for this long: events that
	 * are not committed are read again. */
	AWAY_MS = 2000,
	CLOSE_MS = 5000,
};

struct collector {
	const struct collector_config *config;
	char name[HOST_NAME_SIZE];
	struct memory_shares shares;
	struct collector_metrics metrics;
	struct health_check *flow_health;

	struct enricher *enricher;
	struct reloader *reloader;
	struct dead_letters *dead_letters;
	struct live *live;
	struct insert_workers *workers;
	struct kafka_consumer *consumer;
	const char *topics[3];
	struct side_intake *side[SIDE_TOPICS]; /* NULL: it is not read */

	struct partitions partitions;
	struct connections connections;
	struct schedule schedule;
	struct backpressure backpressure;
	struct inserts inserts;
	struct assignments assignments;
	struct intake intake;
	struct housekeeping housekeeping;
	struct unreadable unreadable;

	int64_t scan_at, tick_at; /* monotonic */
	struct log *log;
	pthread_t thread;
	bool running;
	atomic_bool stopping;
};

/* --- Kafka's callbacks ---------------------------------------------------- */

static void on_assigned(void *arg, const char *topic, int32_t number)
{
	struct collector *c = arg;

	assignments_add(&c->assignments, topic, number);
}

static void on_revoked(void *arg, const char *topic, int32_t number, bool lost)
{
	struct collector *c = arg;

	/* At shutdown all is drained before the group is left. */
	assignments_revoke(&c->assignments, topic, number, lost,
			   !atomic_load(&c->stopping));
}

static void on_end(void *arg, const char *topic, int32_t number, int64_t offset)
{
	struct collector *c = arg;

	intake_end(&c->intake, topic, number, offset);
}

static void on_unreadable(void *arg, const char *topic, int32_t number,
			  const struct kafka_unreadable *what)
{
	struct collector *c = arg;

	unreadable_note(&c->unreadable, topic, number, what);
}

static void on_committed(void *arg, void *opaque, const struct error *err)
{
	struct collector *c = arg;

	inserts_on_committed(&c->inserts, opaque, err);
}

static void on_state(void *arg, bool up, const char *reason)
{
	struct collector *c = arg;

	connections_kafka(&c->connections, up, reason);
}

/* --- polling thread ------------------------------------------------------- */

/* The reloader reads the files while events go on; here they are only
 * exchanged. */
static void adopt_files(struct collector *c)
{
	struct enrich_lookups *fresh = reloader_fetch(c->reloader);

	if (!fresh)
		return;
	enricher_exchange(c->enricher, fresh);
	reloader_give_back(c->reloader, fresh);
	metric_add(c->metrics.reloads, 1);
}

static bool is_scan_due(struct collector *c, int64_t now)
{
	return now >= c->scan_at || c->intake.filled || c->inserts.progressed ||
	       insert_workers_ended(c->workers);
}

/* Runs every few ms, and as soon as a batch is full or was inserted. */
static void scan_partitions(struct collector *c, int64_t now)
{
	if (!is_scan_due(c, now))
		return;
	c->scan_at = now + SCAN_MS;
	c->intake.filled = c->inserts.progressed = false;
	kafka_consumer_serve_commits(c->consumer, 0);
	insert_workers_serve(c->workers, 0);
	assignments_update(&c->assignments, now);
	unreadable_update(&c->unreadable, now);
	inserts_update(&c->inserts, &c->partitions, now);
	backpressure_update(&c->backpressure, &c->partitions, now);
	kafka_consumer_keep_fetching(c->consumer);
}

static void update_metrics(struct collector *c, int64_t now)
{
	struct enricher_stats stats;
	char text[BACKPRESSURE_TEXT_MAX];

	if (now < c->tick_at)
		return;
	c->tick_at = now + TICK_MS;
	stats = enricher_stats(c->enricher);
	collector_metrics_caches(&c->metrics, &stats);
	health_say(c->flow_health, backpressure_text(&c->backpressure, text));
	metric_set(c->metrics.buffered,
		   (int64_t)partitions_bytes(&c->partitions));
	metric_set(c->metrics.fetched,
		   (int64_t)kafka_consumer_fetched(c->consumer));
	housekeeping_set_lag(&c->housekeeping, now);
	intake_reread(&c->intake);
}

/* Returns whether more records may be ready at once. */
static bool take_one(struct collector *c, int timeout_ms)
{
	struct kafka_record record;
	struct error err = {0};
	int got = kafka_consumer_poll(c->consumer, timeout_ms, &record, &err);

	if (got > 0) {
		intake_take(&c->intake, &record);
		kafka_record_release(&record);
	} else if (got < 0) {
		connections_kafka_rejected(&c->connections, err.text);
	}
	/* Full batches are inserted before more is read. */
	return got > 0 && !c->intake.filled && !c->inserts.breaker.open;
}

static void run_poll_turn(struct collector *c)
{
	int wait = insert_workers_pending(c->workers) ? POLL_BUSY_MS : POLL_MS;
	int64_t now;

	adopt_files(c);
	/* Reading the clock and scanning cost more than a record does. */
	for (int i = 0; i < RECORDS_A_TURN; i++)
		if (!take_one(c, i ? 0 : wait))
			break;
	now = clock_monotonic_ms();
	scan_partitions(c, now);
	housekeeping_update(&c->housekeeping, now);
	update_metrics(c, now);
}

/* --- shutdown ------------------------------------------------------------- */

/* Begins to insert what the partition holds, and returns whether it is
 * finished.  While Kafka is away only a batch whose intent is committed can go
 * on. */
static bool drain_partition(struct collector *c, struct partition *p, bool away)
{
	if (p->state != PARTITION_READING)
		return true;
	if (away)
		return p->insert.step != INSERT_READY &&
		       p->insert.step != INSERT_RUNNING;
	/* A repeated batch that is incomplete cannot be sent. */
	if (p->filling.events && !p->insert.job && !p->repeat.has_batch)
		inserts_begin(&c->inserts, p);
	return !p->insert.job && !p->commit.awaited && !p->commit.due &&
	       (!p->filling.events || p->repeat.has_batch);
}

static bool drain_all(struct collector *c, bool away)
{
	bool done = true;

	for (size_t i = 0; i < c->partitions.count; i++)
		done = drain_partition(c, c->partitions.items[i], away) && done;
	return done;
}

static int64_t events_left(const struct collector *c)
{
	uint64_t left = 0;

	for (size_t i = 0; i < c->partitions.count; i++) {
		const struct partition *p = c->partitions.items[i];

		left += p->filling.events;
		left += p->insert.job ? p->insert.job->batch.events : 0;
	}
	return (int64_t)left;
}

static void drain_and_leave_group(struct collector *c)
{
	int64_t now = clock_monotonic_ms();
	int64_t until = now + c->config->collector.drain_timeout;
	int64_t kafka_seen = now;
	int64_t left;

	while (!drain_all(c, now - kafka_seen > AWAY_MS) && now < until) {
		kafka_consumer_serve_commits(c->consumer, POLL_BUSY_MS);
		insert_workers_serve(c->workers, POLL_BUSY_MS);
		now = clock_monotonic_ms();
		if (connections_kafka_up(&c->connections))
			kafka_seen = now;
		inserts_update(&c->inserts, &c->partitions, now);
	}
	left = events_left(c);
	if (left)
		log_warn(c->log,
			 "events not inserted are read again at the next start",
			 log_int("events", left));
	kafka_consumer_close(c->consumer, CLOSE_MS);
}

static void *run_polling_thread(void *arg)
{
	struct collector *c = arg;

	while (!atomic_load(&c->stopping))
		run_poll_turn(c);
	drain_and_leave_group(c);
	return NULL;
}

/* --- construction --------------------------------------------------------- */

static void choose_name(struct collector *c)
{
	const char *name = c->config->collector.name;

	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name);
	else
		host_name(c->name, sizeof(c->name), "collector");
}

static int open_consumer(struct collector *c, struct metrics *registry,
			 struct error *err)
{
	const struct kafka_config *kafka = &c->config->kafka;
	struct kafka_consumer_options options = {
		.client_id = "shortloop-collector",
		.group = c->config->collector.group,
		.topics = c->topics,
		.fetch_bytes = c->shares.fetch_bytes,
		.fetch_events = c->shares.fetch_events,
		.fetch_answer =
			topic_limits_choose(c->config, &c->shares, c->log),
		.on_assigned = on_assigned,
		.on_revoked = on_revoked,
		.on_end = on_end,
		.on_unreadable = on_unreadable,
		.on_committed = on_committed,
		.on_state = on_state,
		.arg = c,
	};

	c->topics[0] = kafka->topic_clicks;
	c->topics[1] = kafka->topic_links;
	c->consumer = kafka_consumer_new(kafka, &options, registry, err);
	return c->consumer ? 0 : -1;
}

static void warn_of_reference_files(const struct collector *c)
{
	const char *text = reference_remark(enricher_reference(c->enricher));

	if (text)
		log_warn(c->log, "reference files", log_str("remark", text));
}

static int open_parts(struct collector *c, struct metrics *registry,
		      struct error *err)
{
	const struct collector_settings *settings = &c->config->collector;

	c->reloader = reloader_new(settings, &c->metrics, c->log, err);
	if (!c->reloader)
		return -1;
	c->enricher = enricher_new(settings, err);
	if (!c->enricher)
		return -1;
	warn_of_reference_files(c);
	c->workers = insert_workers_new((unsigned)settings->inserts_in_flight,
					&c->config->clickhouse, err);
	if (!c->workers)
		return -1;
	c->dead_letters =
		dead_letters_new(&c->config->kafka, c->shares.dead_letters,
				 registry, c->metrics.lost, c->log, err);
	if (!c->dead_letters || live_open(c->config, c->shares.live, registry,
					  c->log, &c->live, err) < 0)
		return -1;
	return open_consumer(c, registry, err);
}

static int open_side_topics(struct collector *c, struct app *app,
			    struct error *err)
{
	const struct side_intake_options options = {
		.config = c->config,
		.log = c->log,
		.dead_letters = c->dead_letters,
		.dead_lettered = c->metrics.dead_lettered,
		.registry = app_metrics(app),
		.health = app_health(app),
	};
	struct side_topic topics[SIDE_TOPICS];

	side_topics(&c->config->kafka, topics);
	for (size_t i = 0; i < SIDE_TOPICS; i++) {
		if (!*topics[i].topic)
			continue;
		c->side[i] = side_intake_new(topics[i].kind, topics[i].topic,
					     &options, err);
		if (!c->side[i])
			return -1;
	}
	return 0;
}

static int start_side_topics(struct collector *c, struct error *err)
{
	for (size_t i = 0; i < SIDE_TOPICS; i++)
		if (c->side[i] && side_intake_start(c->side[i], err) < 0)
			return -1;
	return 0;
}

static void join_inserts(struct collector *c)
{
	c->inserts = (struct inserts){
		.settings = &c->config->collector,
		.collector = c->name,
		.log = c->log,
		.metrics = &c->metrics,
		.consumer = c->consumer,
		.workers = c->workers,
		.connections = &c->connections,
		.schedule = &c->schedule,
		.guarantee = &c->housekeeping.guarantee,
		.setup = {.dead_letters = c->dead_letters,
			  .metrics = &c->metrics},
		.breaker = {.log = c->log,
			    .metric = c->metrics.breaker_open,
			    .retry_backoff_max =
				    c->config->collector.retry_backoff_max},
	};
}

static void join_assignments(struct collector *c, struct app *app)
{
	const struct collector_settings *settings = &c->config->collector;

	c->assignments = (struct assignments){
		.log = c->log,
		.registry = app_metrics(app),
		.metrics = &c->metrics,
		.health = health_register(app_health(app), "offsets"),
		.topic_links = c->config->kafka.topic_links,
		.consumer = c->consumer,
		.workers = c->workers,
		.connections = &c->connections,
		.partitions = &c->partitions,
		.schedule = &c->schedule,
		.inserts = &c->inserts,
		.enricher = c->enricher,
		.passes = &c->unreadable.passes,
		.setup = {.consumer = c->consumer,
			  .kafka = &c->config->kafka,
			  .group = settings->group,
			  .epoch = (uint32_t)settings->epoch,
			  .start = facts_start(settings),
			  .collector = c->name},
	};
	health_up(c->assignments.health);
}

static void join_intake(struct collector *c)
{
	c->backpressure = (struct backpressure){
		.consumer = c->consumer,
		.schedule = &c->schedule,
		.metrics = &c->metrics,
		.log = c->log,
		.memory = (size_t)c->config->collector.memory,
	};
	row_budget_init(&c->backpressure.budget, c->shares.rows);
	c->intake = (struct intake){
		.log = c->log,
		.metrics = &c->metrics,
		.consumer = c->consumer,
		.enricher = c->enricher,
		.dead_letters = c->dead_letters,
		.partitions = &c->partitions,
		.schedule = &c->schedule,
		.backpressure = &c->backpressure,
		.inserts = &c->inserts,
		.live = c->live,
		.passes = &c->unreadable.passes,
	};
}

static int join_unreadable(struct collector *c, struct app *app,
			   struct error *err)
{
	c->unreadable = (struct unreadable){
		.config = c->config,
		.log = c->log,
		.metrics = &c->metrics,
		.consumer = c->consumer,
		.partitions = &c->partitions,
		.intake = &c->intake,
	};
	return unreadable_open(&c->unreadable, app_health(app), err);
}

static void join_housekeeping(struct collector *c, struct app *app)
{
	c->housekeeping = (struct housekeeping){
		.config = c->config,
		.collector = c->name,
		.log = c->log,
		.metrics = &c->metrics,
		.consumer = c->consumer,
		.workers = c->workers,
		.connections = &c->connections,
		.partitions = &c->partitions,
		.schedule = &c->schedule,
		.breaker = &c->inserts.breaker,
		.enricher = c->enricher,
	};
	housekeeping_init(&c->housekeeping, app_health(app));
}

static void collector_stop(struct collector *c)
{
	if (!c->running)
		return;
	atomic_store(&c->stopping, true);
	pthread_join(c->thread, NULL);
	c->running = false;
}

/* Accepts NULL and a partly built collector. */
static void collector_free(struct collector *c)
{
	if (!c)
		return;
	collector_stop(c);
	/* The workers' jobs use what is freed here: the workers end first. */
	if (c->consumer)
		kafka_consumer_close(c->consumer, CLOSE_MS);
	insert_workers_free(c->workers);
	unreadable_close(&c->unreadable);
	kafka_consumer_free(c->consumer);
	for (size_t i = 0; i < SIDE_TOPICS; i++)
		side_intake_stop(c->side[i]);
	dead_letters_free(c->dead_letters);
	live_free(c->live);
	for (size_t i = 0; i < SIDE_TOPICS; i++)
		side_intake_free(c->side[i]);
	reloader_free(c->reloader);
	enricher_free(c->enricher);
	partitions_release(&c->partitions);
	free(c);
}

static struct collector *collector_new(const struct collector_config *config,
				       struct app *app, struct error *err)
{
	const struct collector_settings *settings = &config->collector;
	struct collector *c = calloc(1, sizeof(*c));

	if (!c) {
		error_set_nomem(err);
		return NULL;
	}
	c->config = config;
	c->log = app_log(app);
	connections_init(&c->connections, app_health(app), c->log);
	choose_name(c);
	if (memory_share(settings->memory, collector_caches(settings),
			 &c->shares, err) < 0)
		goto fail;
	collector_metrics_register(&c->metrics, app_metrics(app), settings,
				   &c->shares);
	schedule_init(&c->schedule, settings);
	if (open_parts(c, app_metrics(app), err) < 0)
		goto fail;
	join_inserts(c);
	join_assignments(c, app);
	join_intake(c);
	join_housekeeping(c, app);
	if (join_unreadable(c, app, err) < 0)
		goto fail;
	if (open_side_topics(c, app, err) < 0)
		goto fail;
	c->flow_health = health_register(app_health(app), "flow");
	health_up(c->flow_health);
	return c;
fail:
	collector_free(c);
	return NULL;
}

static int collector_start(struct collector *c, struct error *err)
{
	errno = pthread_create(&c->thread, NULL, run_polling_thread, c);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	c->running = true;
	return start_side_topics(c, err);
}

static void collector_reload(struct collector *c)
{
	reloader_ask(c->reloader);
}

/* --- the command ---------------------------------------------------------- */

static void on_reload(void *arg)
{
	collector_reload(arg);
}

int collector_serve(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct collector *c;
	int status = -1;

	memory_tame();
	c = collector_new(config, app, err);
	if (!c)
		return -1;
	if (app_serve_admin(app, config->collector.admin, &config->http, err) ==
		    0 &&
	    collector_start(c, err) == 0) {
		app_wait(app, on_reload, c);
		collector_stop(c);
		status = 0;
	}
	collector_free(c);
	return status;
}
