#include "collector/ingest/recovery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/cut.h"
#include "collector/exactly_once/facts.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/stored.h"
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
	t->facts.start = setup->start;
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
	struct kafka_committed committed;
	int64_t start, end;

	t->kafka_failed = true;
	if (kafka_consumer_committed(consumer, t->topic, t->partition, ASK_MS,
				     &committed, err) < 0 ||
	    kafka_consumer_ask_log(consumer, t->topic, t->partition, ASK_MS,
				   &start, &end, err) < 0)
		return -1;
	t->kafka_failed = false;
	facts_of_kafka(&t->facts, &committed, start, end);
	return 0;
}

static int open_log(struct takeover *t, struct cut_log *ret, struct error *err)
{
	const struct takeover_setup *setup = t->setup;

	*ret = (struct cut_log){
		.reader = kafka_reader_new(setup->kafka, "shortloop-takeover",
					   setup->group, err),
		.topic = t->topic,
		.partition = t->partition,
		.start = t->facts.log_start,
		.end = t->facts.log_end,
	};
	return ret->reader ? 0 : -1;
}

/* Only what looks odd is looked at, for which a reader must be made. */
static int ask_whether_cut(struct takeover *t,
			   const struct stored_report *report,
			   struct error *err)
{
	struct cut_log log;
	int64_t found = -1;
	bool there = true;
	int status;

	if (!report->block || report->block_last < t->facts.log_start ||
	    report->block_last >= t->facts.log_end)
		return 0;
	t->kafka_failed = true;
	if (kafka_consumer_ask_time(t->setup->consumer, t->topic, t->partition,
				    report->block_ms + 1, ASK_MS, &found,
				    err) < 0)
		return -1;
	if (facts_look_odd(&t->facts, report, found)) {
		if (open_log(t, &log, err) < 0)
			return -1;
		status = cut_is_there(&log, report->block_last,
				      report->block_ms, &there, err);
		kafka_reader_free(log.reader);
		if (status < 0)
			return -1;
	}
	t->kafka_failed = false;
	t->facts.cut = !there;
	return 0;
}

static int ask_clickhouse(struct takeover *t, struct clickhouse *ch,
			  struct stored_report *ret, struct error *err)
{
	struct stored_key key = {.table = sink_table_name(t->table),
				 .topic = t->topic,
				 .partition = t->partition};

	if (stored_sync(ch, key.table, err) < 0)
		return -1;
	return facts_of_clickhouse(&t->facts, ch, &key, t->setup->epoch,
				   &t->stored, ret, err);
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
	};
	char name[BATCH_NAME_MAX];
	struct insertion_part part = {.key = key_of(t)};
	struct insertion in = {.table = SINK_PROGRESS,
			       .name = name,
			       .parts = &part,
			       .part_count = 1};
	/* The owner before may have told of it. */
	struct insertion_state state = {.doubt = true, .kept_ms = INT64_MAX};
	struct buf row = {0};
	struct batch gap;
	int status;

	if (count_gap(t, sink_server(sink), since_ms, &gap, err) < 0) {
		batch_release(&gap);
		return -1;
	}
	batch_progress_row(&gap, &origin, &row);
	block_name(origin.epoch, t->topic, t->partition, "gap:", gap.first,
		   gap.last, name);
	part.first = gap.first;
	part.last = gap.last;
	part.since_ms = since_ms;
	in.rows = row.data;
	in.len = row.len;
	status = row.failed ? error_set_nomem(err)
			    : insertion_run(sink, &in, &state, err);
	t->lost = gap.lost;
	batch_release(&gap);
	buf_free(&row);
	return status;
}

/* What the owner before may have under way has ended when this returns; it
 * cannot send more under the name that is committed. */
static int end_last(struct takeover *t, struct sink *sink, struct error *err)
{
	const struct intent *intent = &t->facts.intent;
	char name[BATCH_NAME_MAX];

	if (!t->facts.committed || t->facts.kind != INTENT_OURS ||
	    !intent->named)
		return 0;
	block_name(intent->epoch, t->topic, t->partition, "", intent->first,
		   intent->last, name);
	return insertion_end(sink, t->table, name, err) < 0
		       ? -1
		       : insertion_end(sink, SINK_PROGRESS, name, err);
}

void takeover_run(struct courier_job *job, struct sink *sink)
{
	struct takeover *t = (struct takeover *)job;
	struct error *err = &t->err;
	struct stored_report report = {0};

	*err = (struct error){0};
	t->status = ask_kafka(t, err);
	t->asked_ms = clock_boottime_ms();
	if (t->status == 0)
		t->status = sink_check(sink, err);
	if (t->status == 0)
		t->status = end_last(t, sink, err);
	if (t->status == 0)
		t->status = ask_clickhouse(t, sink_server(sink), &report, err);
	if (t->status == 0)
		t->status = ask_whether_cut(t, &report, err);
	if (t->status < 0)
		return;
	t->plan = plan_make(&t->facts);
	if (t->plan.step == PLAN_READ && t->plan.gap)
		t->status = tell_gap(t, sink, report.since_ms, err);
}
