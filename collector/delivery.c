#include "collector/delivery.h"

#include <stdlib.h>

#include "common/clock.h"

enum {
	DEAD_LETTER_WAIT_MS = 5000
};

struct delivery *delivery_new(const struct delivery_setup *setup,
			      struct batch *batch, struct batch *spare)
{
	struct delivery *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->job.run = delivery_run;
	d->setup = setup;
	d->batch = *batch;
	*batch = *spare;
	*spare = (struct batch){0};
	return d;
}

void delivery_free(struct delivery *d)
{
	if (!d)
		return;
	batch_release(&d->batch);
	free(d);
}

int delivery_insert(struct collector_metrics *m, struct sink *sink,
		    enum sink_table table, const char *token,
		    const struct buf *rows, uint64_t count, struct error *err)
{
	int64_t start = clock_monotonic_ns();

	if (sink_insert(sink, table, token, rows->data, rows->len, err) < 0) {
		metric_add(m->failures[table], 1);
		return -1;
	}
	metric_observe(m->seconds[table],
		       (double)(clock_monotonic_ns() - start) / 1e9);
	metric_add(m->blocks[table], 1);
	metric_add(m->rows[table], count);
	return 0;
}

static int check_time(const struct delivery *d, struct error *err)
{
	if (clock_boottime_ms() - d->named_ms <= d->kept_ms)
		return 0;
	return error_set(err, ERROR_LATE, "the block's token may be forgotten");
}

static int store(struct delivery *d, struct sink *sink, const char *token,
		 struct error *err)
{
	struct batch *b = &d->batch;
	uint64_t count = b->row_count - b->stored_before;

	if (b->stage >= BATCH_STORED)
		return 0;
	b->stage = BATCH_FROZEN;
	if (count && (check_time(d, err) < 0 ||
		      delivery_insert(d->setup->metrics, sink, d->table, token,
				      &b->rows, count, err) < 0))
		return -1;
	b->stage = BATCH_STORED;
	return 0;
}

static int report(struct delivery *d, struct sink *sink, const char *token,
		  struct error *err)
{
	struct batch *b = &d->batch;
	struct buf row = {0};
	int status;

	if (b->stage >= BATCH_REPORTED)
		return 0;
	if (check_time(d, err) < 0)
		return -1;
	d->origin.now_ms = clock_real_ms();
	batch_progress_row(b, &d->origin, &row);
	status = row.failed
			 ? error_set_nomem(err)
			 : delivery_insert(d->setup->metrics, sink,
					   SINK_PROGRESS, token, &row, 1, err);
	buf_free(&row);
	if (status == 0)
		b->stage = BATCH_REPORTED;
	return status;
}

static enum delivery_result settle_dead_letters(struct delivery *d,
						struct error *err)
{
	struct batch *b = &d->batch;

	if (!b->dead_lettered || b->stage != BATCH_FILLING)
		return DELIVERY_DONE;
	if (dead_letters_flush(d->setup->dead_letters, DEAD_LETTER_WAIT_MS,
			       err) < 0)
		return DELIVERY_KAFKA_FAILED;
	/* Only looked at: it may be the flag of a later block, if the partition
	 * went and came back meanwhile. */
	if (!atomic_load(d->dead_letter_failed))
		return DELIVERY_DONE;
	error_set_retriable(err, ERROR_REMOTE,
			    "dead letters: Kafka does not take them; is the "
			    "topic there?");
	return DELIVERY_DEAD_LETTERS_LOST;
}

void delivery_run(struct courier_job *job, struct sink *sink)
{
	struct delivery *d = (struct delivery *)job;
	char token[BATCH_TOKEN_MAX];

	if (!d->begun_ms)
		d->begun_ms = clock_monotonic_ms();
	d->err = (struct error){0};
	d->result = settle_dead_letters(d, &d->err);
	if (d->result != DELIVERY_DONE)
		return;
	batch_token(&d->batch, d->origin.epoch, d->origin.topic,
		    d->origin.partition, token);
	if (store(d, sink, token, &d->err) < 0 ||
	    report(d, sink, token, &d->err) < 0)
		d->result = d->err.code == ERROR_LATE
				    ? DELIVERY_TOO_LATE
				    : DELIVERY_CLICKHOUSE_FAILED;
}
