#include "collector/writer.h"

#include <stdio.h>

#include "common/clock.h"

enum {
	DEAD_LETTER_WAIT_MS = 5000,
	ASK_MS = 1000,
};

static int insert(struct writer *w, enum sink_table table, const char *token,
		  const struct buf *rows, uint64_t count, struct error *err)
{
	struct collector_metrics *m = w->metrics;
	int64_t start = clock_monotonic_ns();

	if (sink_insert(w->sink, table, token, rows->data, rows->len, err) <
	    0) {
		metric_add(m->failures[table], 1);
		return -1;
	}
	metric_observe(m->seconds[table],
		       (double)(clock_monotonic_ns() - start) / 1e9);
	metric_add(m->blocks[table], 1);
	metric_add(m->rows[table], count);
	return 0;
}

static int store(struct writer *w, struct slot *slot, const char *token,
		 struct error *err)
{
	struct batch *b = &slot->batch;

	if (b->stage >= BATCH_STORED)
		return 0;
	b->stage = BATCH_FROZEN;
	if (b->row_count &&
	    insert(w, slot->table, token, &b->rows, b->row_count, err) < 0)
		return -1;
	b->stage = BATCH_STORED;
	return 0;
}

static struct progress_origin origin_of(const struct writer *w,
					const struct slot *slot)
{
	return (struct progress_origin){
		.epoch = w->epoch,
		.topic = slot->topic,
		.partition = slot->partition,
		.partitions = w->partitions,
		.collector = w->collector,
		.now_ms = clock_real_ms(),
	};
}

/* Only clicks are settled, so only they are reported. */
static int report(struct writer *w, struct slot *slot, const char *token,
		  struct error *err)
{
	struct progress_origin origin = origin_of(w, slot);
	struct batch *b = &slot->batch;

	if (b->stage >= BATCH_REPORTED || slot->table != SINK_CLICKS)
		return 0;
	buf_reset(&w->progress);
	batch_progress_row(b, &origin, &w->progress);
	if (w->progress.failed)
		return error_set_nomem(err);
	if (insert(w, SINK_PROGRESS, token, &w->progress, 1, err) < 0)
		return -1;
	b->stage = BATCH_REPORTED;
	return 0;
}

/* A block whose dead letters are not all safe is read again from its start.
 * None of it was inserted yet. */
static int settle_dead_letters(struct writer *w, struct slot *slot,
			       struct error *err)
{
	struct batch *b = &slot->batch;

	if (!b->dead_lettered || b->stage != BATCH_FILLING)
		return 0;
	if (dead_letters_flush(w->dead_letters, DEAD_LETTER_WAIT_MS, err) < 0)
		return -1;
	if (!atomic_exchange(&slot->dead_letter_failed, false))
		return 0;
	slot->reread_from = (int64_t)b->first;
	batch_reset(b);
	return error_set_retriable(err, ERROR_REMOTE,
				   "dead letters: Kafka does not take them; "
				   "is the topic there?");
}

enum writer_result writer_write(struct writer *w, struct slot *slot, bool wait,
				struct error *err)
{
	struct batch *b = &slot->batch;
	char token[BATCH_TOKEN_MAX];

	batch_token(b, w->epoch, slot->topic, slot->partition, token);
	if (settle_dead_letters(w, slot, err) < 0)
		return WRITER_KAFKA_FAILED;
	if (store(w, slot, token, err) < 0 || report(w, slot, token, err) < 0)
		return WRITER_CLICKHOUSE_FAILED;
	if (kafka_consumer_commit(w->consumer, slot->topic, slot->partition,
				  (int64_t)b->last + 1, wait, err) < 0)
		metric_add(w->metrics->commit_failures, 1);
	batch_reset(b);
	return WRITER_DONE;
}

/* Appends a row when nothing of the slot's partition is left to read. */
static int tell_if_idle(struct writer *w, struct slot *slot, uint64_t *count,
			struct error *err)
{
	struct progress_origin origin = origin_of(w, slot);
	int64_t end;

	if (!slot->held || slot->table != SINK_CLICKS || slot->batch.events ||
	    slot->next_offset < 0 || slot->reread_from >= 0)
		return 0;
	if (kafka_consumer_ask_end(w->consumer, slot->topic, slot->partition,
				   ASK_MS, &end, err) < 0)
		return -1;
	if (end > slot->next_offset)
		return 0;
	batch_idle_row(slot->next_offset, origin.now_ms, &origin, &w->progress);
	++*count;
	return 0;
}

int writer_tell_idle(struct writer *w, const struct slots *slots,
		     struct error *err)
{
	char token[BATCH_TOKEN_MAX];
	uint64_t count = 0;

	buf_reset(&w->progress);
	for (size_t i = 0; i < slots->count; i++)
		if (tell_if_idle(w, slots->items[i], &count, err) < 0)
			return -1;
	if (!count)
		return 0;
	if (w->progress.failed)
		return error_set_nomem(err);
	snprintf(token, sizeof(token), "idle:%s:%lld", w->collector,
		 (long long)clock_real_ms());
	return insert(w, SINK_PROGRESS, token, &w->progress, count, err);
}
