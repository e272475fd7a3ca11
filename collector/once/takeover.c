#include "collector/once/takeover.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/batch.h"
#include "collector/once/stored.h"
#include "common/clock.h"

enum {
	ASK_MS = 10000
};

struct takeover *takeover_new(const struct takeover_setup *setup,
			      const char *topic, int32_t partition,
			      enum sink_table table)
{
	struct takeover *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->job.run = takeover_run;
	t->setup = setup;
	t->topic = topic;
	t->partition = partition;
	t->table = table;
	t->status = -1;
	error_set_retriable(&t->err, ERROR_REMOTE, "not asked yet");
	return t;
}

void takeover_free(struct takeover *t)
{
	if (!t)
		return;
	ranges_release(&t->stored);
	free(t);
}

static int ask_kafka(struct takeover *t, struct error *err)
{
	struct kafka_consumer *consumer = t->setup->consumer;
	struct plan_facts *f = &t->facts;
	struct kafka_committed committed;
	int64_t start, end;

	t->kafka_failed = true;
	if (kafka_consumer_committed(consumer, t->topic, t->partition, ASK_MS,
				     &committed, err) < 0 ||
	    kafka_consumer_ask_log(consumer, t->topic, t->partition, ASK_MS,
				   &start, &end, err) < 0)
		return -1;
	t->kafka_failed = false;
	f->committed = committed.offset >= 0;
	f->commit = f->committed ? (uint64_t)committed.offset : 0;
	f->kind = intent_parse(committed.metadata, committed.metadata_len,
			       &f->intent);
	f->log_start = (uint64_t)start;
	f->log_end = (uint64_t)end;
	return 0;
}

static int ask_clickhouse(struct takeover *t, struct clickhouse *ch,
			  int64_t *ret_since, struct error *err)
{
	struct plan_facts *f = &t->facts;
	struct stored_key key = {.table = sink_table_name(t->table),
				 .topic = t->topic,
				 .partition = t->partition};
	struct stored_report report;

	if (stored_sync(ch, key.table, err) < 0 ||
	    stored_epoch(ch, t->topic, t->setup->epoch, &f->epoch, err) < 0)
		return -1;
	f->raised = f->epoch > t->setup->epoch;
	key.epoch = f->epoch;
	if (stored_report(ch, &key, &report, err) < 0)
		return -1;
	f->reported = report.any;
	f->next = report.next;
	*ret_since = report.since_ms;
	if (stored_ranges(ch, &key, plan_base(f), report.since_ms, &t->stored,
			  err) < 0)
		return -1;
	f->stored_end = ranges_end(&t->stored);
	f->same_next = f->next;
	return stored_same(ch, &key, f->next, &f->same, err);
}

static struct stored_key key_of(const struct takeover *t)
{
	return (struct stored_key){.table = sink_table_name(t->table),
				   .topic = t->topic,
				   .partition = t->partition,
				   .epoch = t->facts.epoch};
}

/* Of a block that was stored and not reported rows are there, which are told of
 * as such: nobody else will. */
static int count_gap(struct takeover *t, struct clickhouse *ch,
		     int64_t since_ms, struct batch *gap, struct error *err)
{
	struct stored_key key = key_of(t);
	uint64_t count;

	*gap = (struct batch){.first = t->plan.gap_first,
			      .last = t->plan.position - 1,
			      .append_ms = since_ms};
	count = gap->last - gap->first + 1;
	if (t->table == SINK_LINKS)
		gap->row_count =
			ranges_count(&t->stored, gap->first, gap->last);
	else if (stored_hours(ch, &key, since_ms, gap, err) < 0)
		return -1;
	gap->lost = count > gap->row_count ? count - gap->row_count : 0;
	return 0;
}

/* Told like a block, so that it is behind whoever comes next. */
static int tell_gap(struct takeover *t, struct sink *sink, int64_t since_ms,
		    struct error *err)
{
	struct progress_origin origin = {
		.epoch = t->facts.epoch,
		.topic = t->topic,
		.partition = t->partition,
		.collector = t->setup->collector,
		.now_ms = clock_real_ms(),
	};
	char token[BATCH_TOKEN_MAX];
	struct buf row = {0};
	struct batch gap;
	int status;

	if (count_gap(t, sink_server(sink), since_ms, &gap, err) < 0) {
		batch_release(&gap);
		return -1;
	}
	batch_progress_row(&gap, &origin, &row);
	snprintf(token, sizeof(token),
		 "%" PRIu32 ":%s:%" PRId32 ":gap:%" PRIu64 "-%" PRIu64,
		 origin.epoch, t->topic, t->partition, gap.first, gap.last);
	status = row.failed ? error_set_nomem(err)
			    : sink_insert(sink, SINK_PROGRESS, token, row.data,
					  row.len, err);
	t->lost = gap.lost;
	batch_release(&gap);
	buf_free(&row);
	return status;
}

void takeover_run(struct courier_job *job, struct sink *sink)
{
	struct takeover *t = (struct takeover *)job;
	struct error *err = &t->err;
	int64_t since_ms = 0;

	*err = (struct error){0};
	t->status = ask_kafka(t, err);
	t->asked_ms = clock_boottime_ms();
	if (t->status == 0)
		t->status =
			ask_clickhouse(t, sink_server(sink), &since_ms, err);
	if (t->status < 0)
		return;
	t->plan = plan_make(&t->facts);
	if (t->plan.step == PLAN_READ && t->plan.gap)
		t->status = tell_gap(t, sink, since_ms, err);
}
