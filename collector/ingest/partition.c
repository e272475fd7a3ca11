#include "collector/ingest/partition.h"

#include <stdio.h>
#include <stdlib.h>

#include "collector/ingest/batch_insert.h"

struct partition *partition_new(const char *topic, int32_t number,
				struct metrics *metrics)
{
	struct partition *p = calloc(1, sizeof(*p));
	char labels[300];

	if (!p)
		return NULL;
	p->topic = topic;
	p->number = number;
	p->next_offset = -1;
	p->reread_from = -1;
	p->behind = -1;
	p->hold.pass_first = p->hold.pass_last = PASS_NONE;
	snprintf(labels, sizeof(labels), "topic=\"%s\",partition=\"%d\"", topic,
		 (int)number);
	p->lag =
		metrics_gauge(metrics, "shortloop_collector_lag_events", labels,
			      "Events in Kafka not yet stored and reported");
	p->stopped =
		metrics_gauge(metrics, "shortloop_collector_stopped", labels,
			      "1 while it waits for `collector epoch`");
	p->unreadable = metrics_gauge(
		metrics, "shortloop_collector_unreadable", labels,
		"1 while its next events cannot be read, and are tried again");
	return p;
}

void partition_free(struct partition *p)
{
	if (!p)
		return;
	partition_clear(p);
	batch_release(&p->filling);
	batch_release(&p->insert.spare);
	free(p);
}

bool partition_is_assigned(const struct partition *p)
{
	return p->state != PARTITION_UNASSIGNED;
}

struct intent partition_intent(const struct partition *p)
{
	const struct batch_insert *job = p->insert.job;

	if (job)
		return (struct intent){p->epoch, true, job->batch.name_first,
				       job->batch.last};
	return p->repeat.has_batch ? p->repeat
				   : (struct intent){.epoch = p->epoch};
}

void partition_clear(struct partition *p)
{
	if (p->insert.step != INSERT_RUNNING)
		batch_insert_free(p->insert.job);
	p->insert.job = NULL;
	p->insert.step = INSERT_NONE;
	p->repeat = (struct intent){0};
	p->next_offset = p->reread_from = -1;
	p->commit.due = false;
	partition_end_hold(p);
	p->hold.pass_first = p->hold.pass_last = PASS_NONE;
	ranges_release(&p->stored);
	batch_reset(&p->filling);
}

void partition_restart(struct partition *p, int64_t at)
{
	p->assignment++;
	partition_clear(p);
	p->recovery.job = NULL;
	p->recovery.retry_at = at;
	if (p->state != PARTITION_REVOKING)
		p->state = PARTITION_RECOVERING;
}

void partition_end_hold(struct partition *p)
{
	p->hold.on = p->hold.decided = false;
	p->hold.look = NULL;
	p->hold.what = (struct kafka_unreadable){0};
	batch_release(&p->hold.gap);
	metric_set(p->unreadable, 0);
}

void partition_find_pass(struct partition *p, const struct passes *passes,
			 uint64_t from)
{
	const struct pass *next =
		passes_next(passes, p->topic, p->number, p->epoch, from);

	p->hold.pass_first = next ? next->first : PASS_NONE;
	p->hold.pass_last = next ? next->last : PASS_NONE;
}

size_t partition_bytes(const struct partition *p)
{
	return batch_bytes(&p->filling) +
	       (p->insert.job ? batch_bytes(&p->insert.job->batch) : 0);
}
