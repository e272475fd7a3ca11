/* plan.c - which stretches of which partitions are compared with what. */
#include <stdlib.h>

#include "collector/once/stored.h"
#include "collector/verify/told.h"
#include "collector/verify/verify.h"

/* What is known of all partitions before the first is looked at: so that what
 * is committed later is not taken for granted. */
struct facts {
	struct known_list stored; /* in the time asked for */
	struct known_list told;
	struct known_list reach; /* in the present epoch, ever */
};

static int add_span(struct verify *v, const struct span *span,
		    struct error *err)
{
	size_t room = v->span_room ? v->span_room * 2 : 16;
	struct span *spans;

	if (v->span_count == v->span_room) {
		spans = realloc(v->spans, room * sizeof(*spans));
		if (!spans)
			return error_set_nomem(err);
		v->spans = spans;
		v->span_room = room;
	}
	v->spans[v->span_count++] = *span;
	v->total += span->where.end - span->where.first;
	return 0;
}

static const struct known *find(const struct known_list *list,
				uint32_t partition, uint32_t epoch)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].partition == partition &&
		    list->items[i].epoch == epoch)
			return &list->items[i];
	return NULL;
}

/* --- what Kafka holds ----------------------------------------------------- */

struct log {
	int64_t low, high;  /* what Kafka holds */
	int64_t first, end; /* what of it is in the time asked for */
	int64_t committed;  /* -1: nothing */
};

static int ask_log(struct verify *v, int32_t p, struct log *log,
		   struct error *err)
{
	struct kafka_reader *r = v->reader;

	/* The commit before the end: what is committed lies before it. */
	if (kafka_reader_committed(r, v->topic, p, &log->committed, err) < 0 ||
	    kafka_reader_bounds(r, v->topic, p, &log->low, &log->high, err) <
		    0 ||
	    kafka_reader_at(r, v->topic, p, v->from, &log->first, err) < 0 ||
	    kafka_reader_at(r, v->topic, p, v->to, &log->end, err) < 0)
		return -1;
	if (log->first < 0 || log->first > log->high)
		log->first = log->high;
	if (log->end < 0 || log->end > log->high)
		log->end = log->high;
	if (log->first < log->low)
		log->first = log->low;
	if (log->end < log->first)
		log->end = log->first;
	return 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* All before is stored, if the collectors are right. */
static uint64_t due_of(const struct facts *facts, const struct log *log,
		       uint32_t partition, uint32_t epoch)
{
	const struct known *reach = find(&facts->reach, partition, epoch);
	uint64_t due = log->committed > 0 ? (uint64_t)log->committed : 0;

	if (reach && reach->last + 1 > due)
		due = reach->last + 1;
	return due;
}

/* What Kafka has dropped of the time asked for. */
static int plan_dropped(struct verify *v, const struct facts *facts,
			const struct log *log, struct span *span,
			struct error *err)
{
	const struct known *told =
		find(&facts->told, span->where.partition, v->epoch);
	const struct known *stored =
		find(&facts->stored, span->where.partition, v->epoch);
	uint64_t low = (uint64_t)log->low, first = low;

	if (log->first > log->low || !low)
		return 0;
	if (told)
		first = least(first, told->first);
	if (stored && !v->links)
		first = least(first, stored->first);
	if (log->committed >= 0)
		first = least(first, (uint64_t)log->committed);
	if (first == low)
		return 0;
	span->held = false;
	span->where.first = first;
	span->where.end = low;
	return add_span(v, span, err);
}

static int plan_partition(struct verify *v, const struct facts *facts,
			  uint32_t partition, struct error *err)
{
	struct span span = {.where = {.partition = partition,
				      .epoch = v->epoch,
				      .since_ms = v->from,
				      .until_ms = v->to}};
	struct log log;

	if (ask_log(v, (int32_t)partition, &log, err) < 0)
		return -1;
	span.due = due_of(facts, &log, partition, v->epoch);
	if (plan_dropped(v, facts, &log, &span, err) < 0)
		return -1;
	span.held = true;
	span.where.first = (uint64_t)log.first;
	span.where.end = (uint64_t)log.end;
	return add_span(v, &span, err);
}

/* --- what only ClickHouse knows of ---------------------------------------- */

/* Partitions that the topic has not, and its former lives. */
static int plan_former(struct verify *v, const struct facts *facts,
		       struct error *err)
{
	const struct known_list *lists[] = {&facts->told, &facts->stored};
	const struct known *k, *other;
	struct span span;

	for (size_t i = 0; i < 2; i++) {
		for (size_t n = 0; n < lists[i]->count; n++) {
			k = &lists[i]->items[n];
			other = find(lists[1 - i], k->partition, k->epoch);
			if ((k->epoch == v->epoch &&
			     k->partition < v->partitions) ||
			    (i && (other || v->links)))
				continue;
			span = (struct span){.where = {k->partition, k->epoch,
						       k->first, k->last + 1,
						       v->from, v->to}};
			if (other && !v->links && other->first < k->first)
				span.where.first = other->first;
			if (other && !v->links && other->last > k->last)
				span.where.end = other->last + 1;
			if (add_span(v, &span, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int read_facts(struct verify *v, struct facts *facts, struct error *err)
{
	struct ask *a = &v->ask;

	if (stored_epoch(a->ch, v->topic, (uint32_t)v->config->collector.epoch,
			 &v->epoch, err) < 0)
		return error_wrap(err, "clickhouse");
	if (told_survey(a, v->from, v->to, &facts->told, err) < 0 ||
	    told_reach(a, v->epoch, &facts->reach, err) < 0)
		return -1;
	return stored_survey(a, v->from, v->to, &facts->stored, err);
}

int verify_plan(struct verify *v, struct error *err)
{
	struct facts facts = {0};
	int status = kafka_reader_partitions(v->reader, v->topic,
					     &v->partitions, err);

	if (status == 0)
		status = read_facts(v, &facts, err);
	for (uint32_t p = 0; status == 0 && p < v->partitions; p++)
		status = plan_partition(v, &facts, p, err);
	if (status == 0)
		status = plan_former(v, &facts, err);
	known_list_free(&facts.stored);
	known_list_free(&facts.told);
	known_list_free(&facts.reach);
	return status;
}
