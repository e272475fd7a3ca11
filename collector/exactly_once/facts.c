#include "collector/exactly_once/facts.h"
#include "common/kafka/consumer_commit.h"

#include <string.h>

enum plan_start facts_start(const struct collector_settings *settings)
{
	if (strcmp(settings->offset_reset, "latest") == 0)
		return PLAN_LATEST;
	return strcmp(settings->offset_reset, "error") == 0 ? PLAN_ASK
							    : PLAN_EARLIEST;
}

void facts_of_kafka(struct plan_facts *f,
		    const struct kafka_committed *committed, int64_t log_start,
		    int64_t log_end)
{
	f->committed = committed->offset >= 0;
	f->commit = f->committed ? (uint64_t)committed->offset : 0;
	f->kind = intent_parse(committed->metadata, committed->metadata_len,
			       &f->intent);
	f->log_start = (uint64_t)log_start;
	f->log_end = (uint64_t)log_end;
}

static int ask_epoch(struct plan_facts *f, struct clickhouse *ch,
		     struct stored_key *key, uint32_t configured,
		     struct error *err)
{
	struct stored_epoch epoch;

	if (stored_epoch(ch, key, configured, &epoch, err) < 0)
		return -1;
	key->epoch = f->epoch = epoch.number;
	f->raised = epoch.number > configured;
	f->resumes = epoch.resumes;
	f->begin = epoch.begin;
	f->gap = epoch.gap;
	return 0;
}

/* `added` is needed only for a start at the log's end. */
static int ask_whether_added(struct plan_facts *f, struct clickhouse *ch,
			     const struct stored_key *key, struct error *err)
{
	if (f->start != PLAN_LATEST || f->reported || f->committed)
		return 0;
	return stored_added(ch, key, &f->added, err);
}

int facts_of_clickhouse(struct plan_facts *f, struct clickhouse *ch,
			struct stored_key *key, uint32_t epoch,
			struct ranges *stored, struct stored_report *ret,
			struct error *err)
{
	if (ask_epoch(f, ch, key, epoch, err) < 0 ||
	    stored_report(ch, key, ret, err) < 0)
		return -1;
	f->reported = ret->any;
	f->next = ret->next;
	f->batches = ret->batch;
	if (ask_whether_added(f, ch, key, err) < 0 ||
	    stored_ranges(ch, key, plan_base(f), UINT64_MAX, ret->since_ms,
			  stored, err) < 0)
		return -1;
	f->stored_end = ranges_end(stored);
	f->same_next = f->next;
	return stored_same(ch, key, f->next, &f->same, err);
}

bool facts_look_odd(const struct plan_facts *f,
		    const struct stored_report *report, int64_t found)
{
	return report->batch && report->batch_last >= f->log_start &&
	       report->batch_last < f->log_end && found >= 0 &&
	       (uint64_t)found <= report->batch_last;
}
