#include "collector/side/side_intake.h"

#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/side/side_batch.h"
#include "collector/side/side_gaps.h"
#include "common/backoff.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clock.h"
#include "common/kafka/consumer.h"
#include "common/kafka/consumer_commit.h"
#include "common/kafka/record.h"

enum {
	POLL_MS = 100,
	ASK_MS = 5000,
	BATCH_MS = 1000, /* limit of the time that a row waits for others */
	LOOK_MS = 1000,	 /* between two checks of an unreadable record */
	COMMIT_MS = 1000,
	CLOSE_MS = 5000,
	BACKOFF_MIN_MS = 500,
	FETCH_BYTES = 1 << 20,
	FETCH_EVENTS = 1000,
};

/*
 * A partition that is assigned:
 *
 *	AWAITING --> its offset to read from is set --> READING
 *	   ^                                               |
 *	   `---- HELD <-- the next record is unreadable <--'
 */
enum side_state {
	SIDE_UNASSIGNED,
	SIDE_AWAITING,
	SIDE_READING,
	SIDE_HELD,
};

struct side_partition {
	enum side_state state;
	int64_t next;	   /* one past the last record taken */
	int64_t committed; /* the last offset given to a commit */
	bool commit_awaited;
	int64_t held_since, look_at; /* monotonic ms, while HELD */
};

struct side_intake {
	const struct side_kind *kind;
	const struct collector_config *config;
	struct log *log;
	struct health_check *health;
	struct metric *stored, *failures, *passed;
	struct clickhouse *ch;
	struct kafka_consumer *consumer;
	struct side_gaps gaps;
	char passed_text[300]; /* the last gap passed; "": none */
	const char *topics[2];
	char group[512];

	struct side_partition *partitions; /* index: the number */
	size_t partition_count;
	struct side_batch batch;
	int64_t since; /* monotonic ms, when its first record came */
	unsigned tries;
	int64_t retry_at; /* monotonic ms */
	bool paused;

	pthread_t thread;
	bool running;
	atomic_bool stopping;
};

/* --- store ---------------------------------------------------------------- */

static void commit_partition_offset(struct side_intake *in, int32_t number)
{
	struct side_partition *p = &in->partitions[number];
	struct error err = {0};

	if (p->state != SIDE_READING || p->commit_awaited ||
	    p->next == p->committed)
		return;
	if (kafka_consumer_commit(in->consumer, in->topics[0], number, p->next,
				  "", (void *)(intptr_t)number, &err) < 0)
		return; /* committed with the next rows */
	p->commit_awaited = true;
	p->committed = p->next;
}

static void commit_all(struct side_intake *in)
{
	for (size_t i = 0; i < in->partition_count; i++)
		commit_partition_offset(in, (int32_t)i);
}

static void on_committed(void *arg, void *opaque, const struct error *err)
{
	struct side_intake *in = arg;
	struct side_partition *p = &in->partitions[(intptr_t)opaque];

	p->commit_awaited = false;
	if (err)
		p->committed = -1;
}

/* All is well, apart from records that were passed over. */
static void tell_well(struct side_intake *in)
{
	if (*in->passed_text)
		health_say(in->health, in->passed_text);
	else
		health_up(in->health);
}

/* Nothing more is read until the rows are stored. */
static void pause_all(struct side_intake *in, bool pause)
{
	struct error err = {0};

	for (size_t i = 0; i < in->partition_count; i++)
		if (in->partitions[i].state == SIDE_READING &&
		    kafka_consumer_pause(in->consumer, in->topics[0],
					 (int32_t)i, pause, &err) < 0)
			log_debug(in->log, in->kind->what, log_err(&err));
	in->paused = pause;
}

static void on_failed(struct side_intake *in, const struct error *err)
{
	if (!in->tries)
		log_warn(in->log, "records not stored: retrying",
			 log_str("topic", in->topics[0]), log_err(err));
	health_say(in->health, err->text);
	metric_add(in->failures, 1);
	in->retry_at = clock_monotonic_ms() +
		       backoff_delay(BACKOFF_MIN_MS,
				     in->config->collector.retry_backoff_max,
				     ++in->tries, randombytes_random());
	pause_all(in, true);
}

static void on_stored(struct side_intake *in)
{
	if (in->tries)
		log_info(in->log, "records stored again",
			 log_str("topic", in->topics[0]));
	in->tries = 0;
	tell_well(in);
	metric_add(in->stored, in->batch.row_count);
	side_batch_clear(&in->batch);
	commit_all(in);
	if (in->paused)
		pause_all(in, false);
}

static void try_store(struct side_intake *in)
{
	struct error err = {0};

	if (side_batch_store(&in->batch, &err) < 0)
		on_failed(in, &err);
	else
		on_stored(in);
}

static void store_due(struct side_intake *in, int64_t now)
{
	if (!side_batch_has_any(&in->batch) || now < in->retry_at)
		return;
	if (in->tries || side_batch_is_full(&in->batch) ||
	    now - in->since >= BATCH_MS)
		try_store(in);
}

/* --- read ----------------------------------------------------------------- */

static void take_record(struct side_intake *in,
			const struct kafka_record *record)
{
	struct side_partition *p;
	struct error err = {0};

	if ((size_t)record->partition >= in->partition_count)
		return;
	p = &in->partitions[record->partition];
	if (p->state != SIDE_READING)
		return;
	if (!side_batch_has_any(&in->batch))
		in->since = clock_monotonic_ms();
	if (side_batch_add(&in->batch, record, &err) < 0) {
		log_warn(in->log, "a record is read again",
			 log_str("topic", record->topic), log_err(&err));
		p->state = SIDE_AWAITING;
		return;
	}
	p->next = record->offset + 1;
}

/* Reads from the committed offset on, or after the rows that are being
 * stored. */
static void begin_reading(struct side_intake *in, int32_t number)
{
	struct side_partition *p = &in->partitions[number];
	const char *topic = in->topics[0];
	struct kafka_committed committed;
	struct error err = {0};

	if (p->next < 0) {
		if (kafka_consumer_committed(in->consumer, topic, number,
					     ASK_MS, &committed, &err) < 0) {
			log_debug(in->log, in->kind->what, log_err(&err));
			return;
		}
		p->next = committed.offset < 0 ? 0 : committed.offset;
		p->committed = p->next;
	}
	if (kafka_consumer_pause(in->consumer, topic, number, false, &err) <
		    0 ||
	    kafka_consumer_seek(in->consumer, topic, number, p->next, &err) <
		    0) {
		log_debug(in->log, in->kind->what, log_err(&err));
		return;
	}
	p->state = SIDE_READING;
}

static void begin_all(struct side_intake *in)
{
	for (size_t i = 0; !in->paused && i < in->partition_count; i++)
		if (in->partitions[i].state == SIDE_AWAITING)
			begin_reading(in, (int32_t)i);
}

/* --- unreadable records --------------------------------------------------- */

static void pass_over(struct side_intake *in, int32_t number,
		      const struct kafka_unreadable *what)
{
	struct side_partition *p = &in->partitions[number];
	uint64_t lost = (uint64_t)(what->last - what->first + 1);
	struct error err = {0};

	if (side_gaps_report(&in->gaps, number, what, &err) < 0) {
		log_warn(in->log, "a gap is not reported: retrying",
			 log_str("topic", in->topics[0]), log_err(&err));
		return;
	}
	log_error(in->log, "offsets were passed over",
		  log_str("topic", in->topics[0]), log_int("partition", number),
		  log_int("first", what->first), log_int("last", what->last),
		  log_str("reason", what->reason));
	metric_add(in->passed, lost);
	snprintf(in->passed_text, sizeof(in->passed_text),
		 "%s %d %lld-%lld was passed over: %.150s", in->topics[0],
		 (int)number, (long long)what->first, (long long)what->last,
		 what->reason);
	tell_well(in);
	p->next = what->last + 1;
	p->state = SIDE_AWAITING;
}

static void check_held_partition(struct side_intake *in, int32_t number,
				 int64_t now)
{
	struct side_partition *p = &in->partitions[number];
	int64_t patience = in->config->collector.unreadable_after;
	struct kafka_unreadable what;
	struct error err = {0};
	int status;

	if (now < p->look_at)
		return;
	p->look_at = now + LOOK_MS;
	if (!patience && side_gaps_is_said(&in->gaps, number, p->next, &what)) {
		pass_over(in, number, &what);
		return;
	}
	status = side_gaps_probe(&in->gaps, number, p->next, &what, &err);
	if (status < 0)
		log_debug(in->log, in->kind->what, log_err(&err));
	else if (status > 0)
		p->state = SIDE_AWAITING; /* it is readable now */
	else if (patience &&
		 (!what.may_heal || now - p->held_since >= patience))
		pass_over(in, number, &what);
}

static void look_at_held(struct side_intake *in, int64_t now)
{
	for (size_t i = 0; i < in->partition_count; i++)
		if (in->partitions[i].state == SIDE_HELD)
			check_held_partition(in, (int32_t)i, now);
}

static void on_unreadable(void *arg, const char *topic, int32_t number,
			  const struct kafka_unreadable *what)
{
	struct side_intake *in = arg;
	struct side_partition *p;

	if ((size_t)number >= in->partition_count)
		return;
	p = &in->partitions[number];
	if (p->state != SIDE_READING)
		return;
	p->state = SIDE_HELD;
	p->held_since = clock_monotonic_ms();
	p->look_at = 0;
	log_warn(in->log, "a record cannot be read: it is tried again",
		 log_str("topic", topic), log_int("partition", number),
		 log_int("offset", p->next), log_str("reason", what->reason));
	health_say(in->health, what->reason);
}

/* --- Kafka's callbacks ---------------------------------------------------- */

static int make_room(struct side_intake *in, size_t count)
{
	struct side_partition *more;

	if (count <= in->partition_count)
		return 0;
	more = realloc(in->partitions, count * sizeof(*more));
	if (!more)
		return -1;
	in->partitions = more;
	while (in->partition_count < count)
		more[in->partition_count++] = (struct side_partition){0};
	return 0;
}

static void on_assigned(void *arg, const char *topic, int32_t number)
{
	struct side_intake *in = arg;

	if (make_room(in, (size_t)number + 1) < 0) {
		log_error(in->log, "out of memory", log_str("topic", topic));
		return;
	}
	in->partitions[number].state = SIDE_AWAITING;
	in->partitions[number].next = -1;
	in->partitions[number].committed = -1;
	log_info(in->log, "partition assigned", log_str("topic", topic),
		 log_int("partition", number));
}

/* The data taken so far is stored now, or read again by the next owner. */
static void on_revoked(void *arg, const char *topic, int32_t number, bool lost)
{
	struct side_intake *in = arg;
	struct side_partition *p;

	if ((size_t)number >= in->partition_count)
		return;
	p = &in->partitions[number];
	if (!lost && side_batch_has_any(&in->batch))
		try_store(in);
	if (!lost && p->commit_awaited)
		kafka_consumer_serve_commits(in->consumer, COMMIT_MS);
	p->state = SIDE_UNASSIGNED;
	log_info(in->log, "partition revoked", log_str("topic", topic),
		 log_int("partition", number), log_int("lost", lost));
}

/* --- thread --------------------------------------------------------------- */

static void *run_side_thread(void *arg)
{
	struct side_intake *in = arg;

	while (!atomic_load(&in->stopping)) {
		struct kafka_record record;
		struct error err = {0};
		int got = kafka_consumer_poll(in->consumer, POLL_MS, &record,
					      &err);

		if (got > 0) {
			take_record(in, &record);
			kafka_record_release(&record);
		} else if (got < 0) {
			health_say(in->health, err.text);
		}
		kafka_consumer_serve_commits(in->consumer, 0);
		look_at_held(in, clock_monotonic_ms());
		begin_all(in);
		store_due(in, clock_monotonic_ms());
		/* Records that were passed over have no rows to store. */
		if (!side_batch_has_any(&in->batch))
			commit_all(in);
	}
	if (side_batch_has_any(&in->batch))
		try_store(in);
	kafka_consumer_serve_commits(in->consumer, COMMIT_MS);
	kafka_consumer_close(in->consumer, CLOSE_MS);
	return NULL;
}

/* --- construction --------------------------------------------------------- */

static struct metric *register_metric(struct metrics *m,
				      const struct side_metric *metric)
{
	return metrics_counter(m, metric->name, NULL, metric->help);
}

static void register_metrics(struct side_intake *in, struct metrics *m)
{
	in->stored = register_metric(m, &in->kind->stored);
	in->failures = register_metric(m, &in->kind->failures);
	in->passed = register_metric(m, &in->kind->passed);
}

static int open_parts(struct side_intake *in, struct error *err)
{
	const struct kafka_consumer_options options = {
		.client_id = in->kind->client_id,
		.group = in->group,
		.topics = in->topics,
		.fetch_bytes = FETCH_BYTES,
		.fetch_events = FETCH_EVENTS,
		.fetch_answer = 0, /* one batch at a time will do */
		.on_assigned = on_assigned,
		.on_revoked = on_revoked,
		.on_committed = on_committed,
		.on_unreadable = on_unreadable,
		.arg = in,
	};

	in->ch = clickhouse_new(&in->config->clickhouse, err);
	if (!in->ch)
		return -1;
	in->batch.ch = in->gaps.ch = in->ch;
	in->consumer =
		kafka_consumer_new(&in->config->kafka, &options, NULL, err);
	return in->consumer ? 0 : -1;
}

struct side_intake *side_intake_new(const struct side_kind *kind,
				    const char *topic,
				    const struct side_intake_options *options,
				    struct error *err)
{
	struct side_intake *in = calloc(1, sizeof(*in));

	if (!in) {
		error_set_nomem(err);
		return NULL;
	}
	in->kind = kind;
	in->config = options->config;
	in->log = options->log;
	in->health = health_register(options->health, kind->name);
	health_up(in->health);
	in->topics[0] = topic;
	snprintf(in->group, sizeof(in->group), "%.490s.%s",
		 in->config->collector.group, kind->name);
	register_metrics(in, options->registry);
	in->batch = (struct side_batch){
		.kind = kind,
		.log = in->log,
		.dead_letters = options->dead_letters,
		.dead_lettered = options->dead_lettered,
	};
	in->gaps = (struct side_gaps){
		.config = in->config,
		.topic = topic,
		.group = in->group,
		.stopping = &in->stopping,
	};
	if (open_parts(in, err) == 0)
		return in;
	side_intake_free(in);
	return NULL;
}

int side_intake_start(struct side_intake *in, struct error *err)
{
	errno = pthread_create(&in->thread, NULL, run_side_thread, in);
	if (errno)
		return error_set_errno(err, "cannot start a thread");
	in->running = true;
	return 0;
}

void side_intake_stop(struct side_intake *in)
{
	if (!in || !in->running)
		return;
	atomic_store(&in->stopping, true);
	pthread_join(in->thread, NULL);
	in->running = false;
}

void side_intake_free(struct side_intake *in)
{
	if (!in)
		return;
	side_intake_stop(in);
	kafka_consumer_free(in->consumer);
	side_gaps_release(&in->gaps);
	clickhouse_free(in->ch);
	side_batch_release(&in->batch);
	free(in->partitions);
	free(in);
}
