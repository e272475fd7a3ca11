#include "collector/ingest/batch_insert.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"

enum {
	DEAD_LETTER_WAIT_MS = 5000
};

void batch_insert_free(struct batch_insert *d)
{
	if (!d)
		return;
	batch_release(&d->batch);
	free(d);
}

void batch_insert_know(struct batch_insert *d, bool doubt, int64_t known_ms,
		       int64_t kept_ms)
{
	d->rows = (struct insertion_state){
		.doubt = doubt, .known_ms = known_ms, .kept_ms = kept_ms};
	d->report = d->rows;
}

static struct insertion_part part_of(const struct batch_insert *d)
{
	return (struct insertion_part){
		.key = {sink_table_name(d->table), d->origin.topic,
			d->origin.partition, d->origin.epoch},
		.first = d->batch.first,
		.last = d->batch.last,
		.rows = &d->batch.in_hand,
		.since_ms = d->batch.since_ms,
	};
}

/* For links, the rows of the hours are those created. */
static uint64_t count_hours_rows(const struct batch *b)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < b->hour_count; i++)
		rows += b->hours[i].rows;
	return rows;
}

/*
 * Stores the rows of created_links.  They may be stored again and again, since
 * the table keeps one of equal rows: so each try has a token that was never
 * used, and the server's answer is trusted.  They come before the rows of
 * links: what a recovery finds in links is in created_links, too.
 */
static int store_creations(struct batch_insert *d, struct sink *sink,
			   const char *name, struct error *err)
{
	const struct buf *rows = &d->batch.creations;
	struct collector_metrics *m = d->setup->metrics;
	int64_t start = clock_monotonic_ns();
	char token[BATCH_NAME_MAX + 16];
	int status;

	if (!rows->len)
		return 0;
	snprintf(token, sizeof(token), "%s#%08x", name,
		 (unsigned)randombytes_random());
	status = sink_insert(sink, SINK_CREATIONS, token, rows->data, rows->len,
			     err);
	if (!m)
		return status;
	if (status < 0) {
		metric_add(m->failures[SINK_CREATIONS], 1);
		return -1;
	}
	metric_observe(m->seconds[SINK_CREATIONS],
		       (double)(clock_monotonic_ns() - start) / 1e9);
	metric_add(m->batches[SINK_CREATIONS], 1);
	metric_add(m->rows[SINK_CREATIONS], count_hours_rows(&d->batch));
	return 0;
}

static int store_batch_rows(struct batch_insert *d, struct sink *sink,
			    const char *name, struct error *err)
{
	const struct insertion_part part = part_of(d);
	struct batch *b = &d->batch;
	const struct insertion in = {
		.table = d->table,
		.name = name,
		.parts = &part,
		.part_count = 1,
		.rows = b->rows.data,
		.len = b->rows.len,
		.count = b->row_count - b->stored_before,
		.metrics = d->setup->metrics,
	};

	if (b->stage >= BATCH_STORED)
		return 0;
	b->stage = BATCH_FROZEN;
	if (store_creations(d, sink, name, err) < 0)
		return -1;
	if (in.count && insertion_run(sink, &in, &d->rows, err) < 0)
		return -1;
	b->stage = BATCH_STORED;
	return 0;
}

static int report_batch(struct batch_insert *d, struct sink *sink,
			const char *name, struct error *err)
{
	const struct insertion_part part = part_of(d);
	struct batch *b = &d->batch;
	struct insertion in = {
		.table = SINK_PROGRESS,
		.name = name,
		.parts = &part,
		.part_count = 1,
		.count = 1,
		.metrics = d->setup->metrics,
	};
	struct buf row = {0};
	int status;

	if (b->stage >= BATCH_REPORTED)
		return 0;
	batch_progress_row(b, &d->origin, &row);
	in.rows = row.data;
	in.len = row.len;
	status = row.failed ? error_set_nomem(err)
			    : insertion_run(sink, &in, &d->report, err);
	buf_free(&row);
	if (status == 0)
		b->stage = BATCH_REPORTED;
	return status;
}

/* Earlier answers no longer count: the server that gave them may have lost what
 * it had stored. */
static void mark_batch_doubtful(struct batch_insert *d)
{
	d->rows.doubt = d->report.doubt = true;
	if (d->batch.stage > BATCH_FROZEN)
		d->batch.stage = BATCH_FROZEN;
}

static int deliver_batch(struct batch_insert *d, struct sink *sink,
			 struct error *err)
{
	char name[BATCH_NAME_MAX];
	bool restarted;

	batch_name(&d->batch, d->origin.epoch, d->origin.topic,
		   d->origin.partition, name);
	if (store_batch_rows(d, sink, name, err) < 0 ||
	    report_batch(d, sink, name, err) < 0 ||
	    sink_ask_restarted(sink, &restarted, err) < 0)
		return -1;
	if (!restarted)
		return 0;
	mark_batch_doubtful(d);
	return store_batch_rows(d, sink, name, err) < 0
		       ? -1
		       : report_batch(d, sink, name, err);
}

static enum batch_insert_result settle_dead_letters(struct batch_insert *d,
						    struct error *err)
{
	struct batch *b = &d->batch;

	if (!b->dead_lettered || b->stage != BATCH_FILLING)
		return BATCH_INSERT_DONE;
	if (dead_letters_flush(d->setup->dead_letters, DEAD_LETTER_WAIT_MS,
			       err) < 0)
		return BATCH_INSERT_KAFKA_FAILED;
	/* The dead letter may belong to another batch: then this batch's events
	 * are read again needlessly. */
	if (atomic_load(d->letters_given_up) == b->letters_given_up)
		return BATCH_INSERT_DONE;
	error_set_retriable(err, ERROR_REMOTE,
			    "dead letters: Kafka does not take them; is the "
			    "topic there?");
	return BATCH_INSERT_DEAD_LETTERS_LOST;
}

/* After a failure the same job runs again, and checks what is stored by
 * then. */
static void batch_insert_run(struct insert_job *job, struct sink *sink)
{
	struct batch_insert *d = (struct batch_insert *)job;

	d->err = (struct error){0};
	d->result = settle_dead_letters(d, &d->err);
	if (d->result != BATCH_INSERT_DONE)
		return;
	if (d->tried)
		mark_batch_doubtful(d);
	d->tried = true;
	if (deliver_batch(d, sink, &d->err) < 0)
		d->result = d->err.code == ERROR_LATE
				    ? BATCH_INSERT_TOO_LATE
				    : BATCH_INSERT_CLICKHOUSE_FAILED;
}

struct batch_insert *batch_insert_new(const struct batch_insert_setup *setup,
				      struct batch *batch, struct batch *spare)
{
	struct batch_insert *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->job.run = batch_insert_run;
	d->setup = setup;
	d->batch = *batch;
	*batch = *spare;
	*spare = (struct batch){0};
	return d;
}
