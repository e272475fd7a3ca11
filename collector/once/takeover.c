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

	if (stored_epoch(ch, t->topic, t->setup->epoch, &f->epoch, err) < 0)
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

/* Told like a block, with no rows, so that it is behind whoever comes next. */
static int tell_gap(struct takeover *t, struct sink *sink, int64_t since_ms,
		    struct error *err)
{
	const struct plan *p = &t->plan;
	struct progress_origin origin = {
		.epoch = t->facts.epoch,
		.topic = t->topic,
		.partition = t->partition,
		.collector = t->setup->collector,
		.now_ms = clock_real_ms(),
	};
	char token[BATCH_TOKEN_MAX];
	struct buf row = {0};
	int status;

	batch_gap_row(p->gap_first, p->position - 1,
		      ranges_count(&t->stored, p->gap_first, p->position - 1),
		      since_ms, &origin, &row);
	snprintf(token, sizeof(token),
		 "%" PRIu32 ":%s:%" PRId32 ":gap:%" PRIu64 "-%" PRIu64,
		 origin.epoch, t->topic, t->partition, p->gap_first,
		 p->position - 1);
	status = row.failed ? error_set_nomem(err)
			    : sink_insert(sink, SINK_PROGRESS, token, row.data,
					  row.len, err);
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
	if (t->status == 0)
		t->status =
			ask_clickhouse(t, sink_server(sink), &since_ms, err);
	if (t->status < 0)
		return;
	t->plan = plan_make(&t->facts);
	if (t->plan.step == PLAN_READ && t->plan.gap)
		t->status = tell_gap(t, sink, since_ms, err);
}
