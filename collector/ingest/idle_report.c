#include "collector/ingest/idle_report.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/stored.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

enum {
	ASK_MS = 1000
};

static bool is_idle(const struct partition *p)
{
	return p->state == PARTITION_READING && p->table == SINK_CLICKS &&
	       !p->filling.events && !p->insert.job && !p->repeat.named &&
	       p->next_offset >= 0 && p->reread_from < 0;
}

struct idle_report *idle_report_new(const struct partitions *all)
{
	struct idle_report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->entries = calloc(all->count + 1, sizeof(*r->entries));
	if (!r->entries) {
		free(r);
		return NULL;
	}
	r->job.run = idle_report_run;
	for (size_t i = 0; i < all->count; i++) {
		const struct partition *p = all->items[i];

		if (is_idle(p))
			r->entries[r->count++] = (struct idle_entry){
				.origin = {.epoch = p->epoch,
					   .topic = p->topic,
					   .partition = p->number},
				.next_offset = p->next_offset,
			};
	}
	return r;
}

void idle_report_free(struct idle_report *r)
{
	if (!r)
		return;
	free(r->entries);
	free(r);
}

static int count_partitions(struct idle_report *r, struct error *err)
{
	for (int t = 0; t < SINK_TABLE_COUNT; t++)
		if (r->topics[t] && kafka_consumer_ask_partitions(
					    r->consumer, r->topics[t], ASK_MS,
					    &r->topic_size[t], err) < 0)
			return -1;
	r->counted = true;
	return 0;
}

/* Appends a row when nothing of the partition is left to read. */
static int add_if_idle(struct idle_report *r, struct idle_entry *e,
		       struct buf *rows, uint64_t *count, struct error *err)
{
	int64_t end;

	if (kafka_consumer_ask_end(r->consumer, e->origin.topic,
				   e->origin.partition, ASK_MS, &end, err) < 0)
		return -1;
	if (end > e->next_offset)
		return 0;
	e->origin.partitions = r->topic_size[SINK_CLICKS];
	e->origin.collector = r->collector;
	batch_idle_row(e->next_offset, r->asked_ms, &e->origin, rows);
	++*count;
	return 0;
}

/* Once: one that failed is not needed any more when the next is due. */
static int insert(struct idle_report *r, struct sink *sink, const char *name,
		  const struct buf *rows, uint64_t count, struct error *err)
{
	const struct insertion in = {.table = SINK_PROGRESS,
				     .name = name,
				     .rows = rows->data,
				     .len = rows->len,
				     .count = count,
				     .metrics = r->metrics};
	struct insertion_state state = {.known_ms = clock_boottime_ms(),
					.kept_ms = INT64_MAX};

	return insertion_run(sink, &in, &state, err);
}

void idle_report_run(struct insert_job *job, struct sink *sink)
{
	struct idle_report *r = (struct idle_report *)job;
	char token[BATCH_NAME_MAX];
	struct buf rows = {0};
	uint64_t count = 0;

	/* The clock before the logs' ends: at that time nothing was left. */
	r->status = clickhouse_now(sink_server(sink), &r->asked_ms, &r->err);
	if (r->status == 0)
		r->status = count_partitions(r, &r->err);
	for (size_t i = 0; r->status == 0 && i < r->count; i++)
		r->status =
			add_if_idle(r, &r->entries[i], &rows, &count, &r->err);
	snprintf(token, sizeof(token), "idle:%s:%lld", r->collector,
		 (long long)r->asked_ms);
	if (r->status == 0 && rows.failed)
		r->status = error_set_nomem(&r->err);
	else if (r->status == 0 && count)
		r->status = insert(r, sink, token, &rows, count, &r->err);
	buf_free(&rows);
}
