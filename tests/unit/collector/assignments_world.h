/*
 * assignments_world.h - a collector's partitions that are assigned and
 * revoked.  The test stands in for Kafka and ClickHouse, and replaces
 * librdkafka's functions.
 */
#ifndef TESTS_UNIT_COLLECTOR_ASSIGNMENTS_WORLD_H
#define TESTS_UNIT_COLLECTOR_ASSIGNMENTS_WORLD_H

#include "tests/unit/collector/ingest_world.h"

#include <librdkafka/rdkafka.h>
#include <stdatomic.h>
#include <time.h>

#include "collector/ingest/assignments.h"

enum {
	POSITION = 700,
	EPOCH = 7,
};

/* --- librdkafka's functions ----------------------------------------------- */

static struct {
	rd_kafka_resp_err_t resume, seek; /* the results */
	unsigned resumed, sought, commits;
	unsigned resumed_at_seek;
	int64_t sought_to, committed;
	/* The brokers answer a commit at this poll. */
	unsigned answer_at, polls;
	struct ingest_world *world;
} kafka;

rd_kafka_resp_err_t
rd_kafka_resume_partitions(rd_kafka_t *rk,
			   rd_kafka_topic_partition_list_t *list)
{
	(void)rk;
	kafka.resumed++;
	list->elems[0].err = RD_KAFKA_RESP_ERR_NO_ERROR;
	return kafka.resume;
}

rd_kafka_error_t *
rd_kafka_seek_partitions(rd_kafka_t *rk, rd_kafka_topic_partition_list_t *list,
			 int timeout_ms)
{
	(void)rk;
	(void)timeout_ms;
	kafka.sought++;
	kafka.sought_to = list->elems[0].offset;
	kafka.resumed_at_seek = kafka.resumed;
	list->elems[0].err = kafka.seek;
	return NULL;
}

rd_kafka_resp_err_t rd_kafka_commit_queue(
	rd_kafka_t *rk, const rd_kafka_topic_partition_list_t *list,
	rd_kafka_queue_t *queue,
	void (*on_answer)(rd_kafka_t *, rd_kafka_resp_err_t,
			  rd_kafka_topic_partition_list_t *, void *),
	void *opaque)
{
	(void)rk;
	(void)queue;
	(void)on_answer;
	(void)opaque;
	kafka.commits++;
	kafka.committed = list->elems[0].offset;
	return RD_KAFKA_RESP_ERR_NO_ERROR;
}

int rd_kafka_queue_poll_callback(rd_kafka_queue_t *queue, int timeout_ms)
{
	struct partition *p = kafka.world->p;

	(void)queue;
	(void)timeout_ms;
	if (!p->commit.awaited || ++kafka.polls < kafka.answer_at)
		return 0;
	inserts_on_committed(&kafka.world->inserts, p, NULL);
	return 1;
}

/* --- the world ------------------------------------------------------------ */

struct world {
	struct ingest_world *ingest;
	struct assignments a;
	struct partition *p;
	FILE *log;
	/* The only worker waits in this job until the test opens the gate. */
	struct insert_job gate;
	atomic_bool open;
};

static void wait_at_gate(struct insert_job *job, struct sink *sink)
{
	static const struct timespec pause = {.tv_nsec = 1000000};
	struct world *w =
		(struct world *)((char *)job - offsetof(struct world, gate));

	(void)sink;
	while (!atomic_load(&w->open))
		nanosleep(&pause, NULL);
}

static void ignore_job(struct insert_job *job)
{
	(void)job;
}

static inline void close_gate(struct world *w)
{
	atomic_store(&w->open, false);
	w->gate = (struct insert_job){.run = wait_at_gate, .done = ignore_job};
	insert_workers_submit(w->a.workers, &w->gate);
}

static inline void open_gate(struct world *w)
{
	atomic_store(&w->open, true);
	while (insert_workers_pending(w->a.workers))
		insert_workers_serve(w->a.workers, 10);
}

/* The partition of ingest_world is not assigned yet. */
static inline int assignments_set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct ingest_world *ingest;
	struct error err = {0};

	assert_non_null(w);
	ingest_set_up((void **)&ingest);
	ingest->passes.are_known = true;
	w->ingest = ingest;
	w->p = ingest->p;
	w->p->state = PARTITION_UNASSIGNED;
	w->log = tmpfile();
	assert_non_null(w->log);
	w->a = (struct assignments){
		.log = log_new("test", fileno(w->log), LOG_INFO, LOG_LOGFMT,
			       &err),
		.registry = ingest->registry,
		.metrics = &ingest->metrics,
		.health = health_register(ingest->health, "partitions"),
		.topic_links = "links",
		.consumer = ingest_consumer,
		.workers = ingest->inserts.workers,
		.connections = &ingest->connections,
		.partitions = &ingest->all,
		.schedule = &ingest->schedule,
		.inserts = &ingest->inserts,
		.enricher = ingest->enricher,
		.passes = &ingest->passes,
	};
	assert_non_null(w->a.log);
	memset(&kafka, 0, sizeof(kafka));
	kafka.world = ingest;
	close_gate(w);
	*state = w;
	return 0;
}

static inline int assignments_tear_down(void **state)
{
	struct world *w = *state;
	void *ingest = w->ingest;

	open_gate(w);
	ingest_tear_down(&ingest);
	log_free(w->a.log);
	fclose(w->log);
	free(w);
	return 0;
}

/* --- the workers' results ------------------------------------------------- */

/* Begins a recovery; the test provides the answer to its query. */
static inline struct recovery *begin_recovery(struct world *w,
					      struct partition *p, int64_t now)
{
	assignments_update(&w->a, now);
	assert_non_null(p->recovery.job);
	return p->recovery.job;
}

static void run_nothing(struct insert_job *job, struct sink *sink)
{
	(void)job;
	(void)sink;
}

static inline void plan_to_read(struct recovery *r)
{
	r->job.run = run_nothing;
	r->status = 0;
	r->facts.epoch = EPOCH;
	r->plan = (struct plan){.step = PLAN_READ, .position = POSITION};
}

static inline void plan_to_stop(struct recovery *r, const char *reason)
{
	r->job.run = run_nothing;
	r->status = 0;
	r->plan = (struct plan){.step = PLAN_STOP, .reason = reason};
}

static inline void plan_to_fail(struct recovery *r, bool kafka_failed)
{
	r->job.run = run_nothing;
	r->kafka_failed = kafka_failed;
}

static inline void add_partition(struct world *w)
{
	assignments_add(&w->a, "clicks", 0);
}

static inline void stop_partition(struct world *w, struct partition *p,
				  const char *reason)
{
	struct recovery *r = begin_recovery(w, p, p->recovery.retry_at);

	plan_to_stop(r, reason);
	open_gate(w);
	close_gate(w);
	assert_int_equal(p->state, PARTITION_STOPPED);
}

static inline void read_partition(struct world *w)
{
	add_partition(w);
	plan_to_read(begin_recovery(w, w->p, 1));
	open_gate(w);
	close_gate(w);
	inserts_on_committed(&w->ingest->inserts, w->p, NULL);
	assignments_update(&w->a, 1);
	assert_int_equal(w->p->state, PARTITION_READING);
	kafka.commits = 0;
}

static inline void assert_health(struct world *w, const char *text)
{
	struct buf out = {0};

	health_report(w->ingest->health, &out);
	buf_puts(&out, "");
	assert_false(out.failed);
	if (text)
		assert_non_null(memmem(out.data, out.len, text, strlen(text)));
	else
		assert_null(memmem(out.data, out.len, "partitions",
				   strlen("partitions")));
	buf_free(&out);
}

/* Returns how many such lines the log has. */
static inline size_t lines_with(struct world *w, const char *text)
{
	char line[1000];
	size_t count = 0;

	rewind(w->log);
	while (fgets(line, sizeof(line), w->log))
		count += strstr(line, text) != NULL;
	return count;
}

#define ASSIGNMENTS_TEST(name)                                                 \
	cmocka_unit_test_setup_teardown(name, assignments_set_up,              \
					assignments_tear_down)

#endif
