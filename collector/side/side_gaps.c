#include "collector/side/side_gaps.h"

#include <stdio.h>

#include "collector/exactly_once/batch.h"
#include "collector/exactly_once/passes.h"
#include "common/buf.h"
#include "common/clock.h"

void side_gaps_release(struct side_gaps *g)
{
	kafka_reader_free(g->reader);
	g->reader = NULL;
}

int side_gaps_report(const struct side_gaps *g, int32_t partition,
		     const struct kafka_unreadable *what, struct error *err)
{
	const struct collector_settings *settings = &g->config->collector;
	const struct progress_origin origin = {
		.epoch = (uint32_t)settings->epoch,
		.topic = g->topic,
		.partition = partition,
		.collector = settings->name ? settings->name : "",
	};
	const struct batch gap = {
		.first = (uint64_t)what->first,
		.last = (uint64_t)what->last,
		.lost = (uint64_t)(what->last - what->first + 1),
		.append_ms = clock_real_ms(),
	};
	char name[BATCH_NAME_MAX];
	const struct clickhouse_param params[] = {
		{"async_insert", "0"},
		{"insert_deduplication_token", name},
		{NULL, NULL}};
	struct buf row = {0};
	int status;

	insert_name(origin.epoch, origin.topic, partition, "gap:", gap.first,
		    gap.last, name);
	batch_progress_row(&gap, &origin, &row);
	status = row.failed ? error_set_nomem(err)
			    : clickhouse_insert(g->ch,
						"INSERT INTO ingest_progress "
						"(" PROGRESS_COLUMNS
						") FORMAT RowBinary",
						params, row.data, row.len, err);
	buf_free(&row);
	return status;
}

bool side_gaps_is_said(const struct side_gaps *g, int32_t partition,
		       int64_t next, struct kafka_unreadable *ret)
{
	struct passes passes;
	const struct pass *pass = NULL;
	struct error err = {0};
	bool said;

	if (passes_load(g->ch, &passes, &err) == 0)
		pass = passes_next(&passes, g->topic, partition,
				   (uint32_t)g->config->collector.epoch,
				   (uint64_t)next);
	said = pass && pass->first <= (uint64_t)next;
	if (said) {
		ret->first = next;
		ret->last = (int64_t)pass->last;
		snprintf(ret->reason, sizeof(ret->reason),
			 "an operator passed them over");
	}
	passes_release(&passes);
	return said;
}

int side_gaps_probe(struct side_gaps *g, int32_t partition, int64_t next,
		    struct kafka_unreadable *ret, struct error *err)
{
	if (!g->reader) {
		g->reader = kafka_reader_new(&g->config->kafka,
					     "shortloop-collector-unreadable",
					     g->group, err);
		if (!g->reader)
			return -1;
		kafka_reader_stop_when(g->reader, g->stopping);
	}
	return kafka_reader_probe(g->reader, g->topic, partition, next, ret,
				  err);
}
