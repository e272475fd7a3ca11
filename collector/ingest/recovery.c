#include "collector/ingest/recovery.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/cut.h"
#include "collector/exactly_once/facts.h"
#include "collector/exactly_once/gap.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/stored.h"
#include "common/clock.h"
#include "common/kafka/consumer_commit.h"
#include "common/kafka/consumer_offsets.h"

enum {
	ASK_MS = 10000
};

void recovery_free(struct recovery *r)
{
	if (!r)
		return;
	ranges_release(&r->stored);
	forgotten_free(r->forgotten);
	free(r);
}

static int ask_kafka(struct recovery *r, struct error *err)
{
	struct kafka_consumer *consumer = r->setup->consumer;
	struct kafka_committed committed;
	int64_t start, end;

	r->kafka_failed = true;
	if (kafka_consumer_committed(consumer, r->topic, r->number, ASK_MS,
				     &committed, err) < 0 ||
	    kafka_consumer_ask_log(consumer, r->topic, r->number, ASK_MS,
				   &start, &end, err) < 0)
		return -1;
	r->kafka_failed = false;
	facts_of_kafka(&r->facts, &committed, start, end);
	return 0;
}

static int open_log(struct recovery *r, struct cut_log *ret, struct error *err)
{
	const struct recovery_setup *setup = r->setup;

	*ret = (struct cut_log){
		.reader = kafka_reader_new(setup->kafka, "shortloop-recovery",
					   setup->group, err),
		.topic = r->topic,
		.partition = r->number,
		.start = r->facts.log_start,
		.end = r->facts.log_end,
	};
	return ret->reader ? 0 : -1;
}

static int ask_clickhouse(struct recovery *r, struct clickhouse *ch,
			  struct stored_report *ret, struct error *err)
{
	struct stored_key key = {.table = sink_table_name(r->table),
				 .topic = r->topic,
				 .partition = r->number};

	if (stored_sync(ch, key.table, err) < 0)
		return -1;
	if (forgotten_load(ch, &r->forgotten_known, &r->forgotten, err) < 0)
		return -1;
	return facts_of_clickhouse(&r->facts, ch, &key, r->setup->epoch,
				   &r->stored, ret, err);
}

static struct stored_key key_of(const struct recovery *r)
{
	return (struct stored_key){.table = sink_table_name(r->table),
				   .topic = r->topic,
				   .partition = r->number,
				   .epoch = r->facts.epoch};
}

/* The log itself is read only if its facts look odd, since that needs a
 * reader. */
static int ask_whether_cut(struct recovery *r, struct clickhouse *ch,
			   const struct stored_report *report,
			   struct error *err)
{
	struct stored_key key = key_of(r);
	struct cut_log log;
	int64_t found = -1;
	bool whole = true;
	int status;

	if (!report->batch || report->batch_last < r->facts.log_start ||
	    report->batch_last >= r->facts.log_end)
		return 0;
	r->kafka_failed = true;
	if (kafka_consumer_ask_time(r->setup->consumer, r->topic, r->number,
				    report->batch_ms + 1, ASK_MS, &found,
				    err) < 0)
		return -1;
	if (facts_look_odd(&r->facts, report, found)) {
		if (open_log(r, &log, err) < 0)
			return -1;
		status = cut_is_whole(&log, ch, &key, report, (uint64_t)found,
				      &whole, err);
		kafka_reader_free(log.reader);
		if (status < 0)
			return -1;
	}
	r->kafka_failed = false;
	r->facts.cut = !whole;
	return 0;
}

/* The gap is reported like a batch, so that the next owner starts after it. */
static int report_gap(struct recovery *r, struct sink *sink, int64_t since_ms,
		      struct error *err)
{
	struct progress_origin origin = {
		.epoch = r->facts.epoch,
		.topic = r->topic,
		.partition = r->number,
		.of_links = r->table == SINK_LINKS,
		.collector = r->setup->collector,
	};
	char name[BATCH_NAME_MAX];
	struct insertion_part part = {.key = key_of(r)};
	struct insertion in = {.table = SINK_PROGRESS,
			       .name = name,
			       .parts = &part,
			       .part_count = 1};
	/* The previous owner may have reported it already. */
	struct insertion_state state = {.doubt = true, .kept_ms = INT64_MAX};
	const struct gap_place place = {key_of(r), r->table, since_ms};
	struct buf row = {0};
	struct batch gap = {.first = r->plan.gap_first,
			    .last = r->plan.position - 1,
			    .append_ms = since_ms};
	int status;

	if (gap_count(&place, sink_server(sink), &gap, err) < 0) {
		batch_release(&gap);
		return -1;
	}
	batch_progress_row(&gap, &origin, &row);
	insert_name(origin.epoch, r->topic, r->number, "gap:", gap.first,
		    gap.last, name);
	part.first = gap.first;
	part.last = gap.last;
	part.since_ms = since_ms;
	in.rows = row.data;
	in.len = row.len;
	status = row.failed ? error_set_nomem(err)
			    : insertion_run(sink, &in, &state, err);
	r->lost = gap.lost;
	batch_release(&gap);
	buf_free(&row);
	return status;
}

int recovery_ask_clickhouse(struct recovery *r, struct sink *sink,
			    struct stored_report *ret, struct error *err)
{
	if (sink_check(sink, err) < 0 ||
	    insertion_end_former(sink, r->table, r->topic, r->number, &r->facts,
				 err) < 0)
		return -1;
	return ask_clickhouse(r, sink_server(sink), ret, err);
}

int recovery_decide(struct recovery *r, struct sink *sink, int64_t since_ms,
		    struct error *err)
{
	r->since_ms = since_ms;
	r->plan = plan_make(&r->facts);
	if (r->plan.step != PLAN_READ || !r->plan.gap)
		return 0;
	return report_gap(r, sink, since_ms, err);
}

static void recovery_run(struct insert_job *job, struct sink *sink)
{
	struct recovery *r = (struct recovery *)job;
	struct error *err = &r->err;
	struct stored_report report = {0};

	*err = (struct error){0};
	r->status = ask_kafka(r, err);
	r->asked_ms = clock_boottime_ms();
	if (r->status == 0)
		r->status = recovery_ask_clickhouse(r, sink, &report, err);
	if (r->status == 0)
		r->status = ask_whether_cut(r, sink_server(sink), &report, err);
	if (r->status == 0)
		r->status = recovery_decide(r, sink, report.since_ms, err);
}

struct recovery *recovery_new(const struct recovery_setup *setup,
			      const char *topic, int32_t number,
			      enum sink_table table)
{
	struct recovery *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->job.run = recovery_run;
	r->setup = setup;
	r->facts.start = setup->start;
	r->topic = topic;
	r->number = number;
	r->table = table;
	r->status = -1;
	error_set_retriable(&r->err, ERROR_REMOTE, "not asked yet");
	return r;
}
