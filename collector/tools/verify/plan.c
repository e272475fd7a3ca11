/* plan.c - which stretches of which partitions are compared with what. */
#include <stdlib.h>

#include "collector/exactly_once/intent.h"
#include "collector/exactly_once/stored.h"
#include "collector/tools/verify/told.h"
#include "collector/tools/verify/verify.h"
#include "common/kafka/consumer_commit.h"

/* What is known of all partitions before the first is looked at: so that what
 * is committed later is not taken for granted. */
struct facts {
	struct known_list stored; /* in the time asked for */
	struct known_list told;
	struct known_list reach; /* ever */
	struct known_list lives; /* that begin within the log */
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
	int64_t committed;  /* in the present epoch; -1: nothing */
};

/* A commit of an earlier life says nothing of this one. */
static int ask_committed(struct verify *v, int32_t p, int64_t *ret,
			 struct error *err)
{
	struct kafka_committed committed;
	struct intent intent;

	if (kafka_reader_commit(v->reader, v->topic, p, &committed, err) < 0)
		return -1;
	*ret = committed.offset;
	if (intent_parse(committed.metadata, committed.metadata_len, &intent) ==
		    INTENT_OURS &&
	    intent.epoch != v->epochs[p])
		*ret = -1;
	return 0;
}

static int ask_log(struct verify *v, int32_t p, struct log *log,
		   struct error *err)
{
	struct kafka_reader *r = v->reader;

	/* The commit before the end: what is committed lies before it. */
	if (ask_committed(v, p, &log->committed, err) < 0 ||
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

/* What Kafka has dropped of the time asked for, back to where the life
 * begins. */
static int plan_dropped(struct verify *v, const struct facts *facts,
			const struct log *log, uint64_t begin,
			struct span *span, struct error *err)
{
	const struct known *told =
		find(&facts->told, span->where.partition, span->where.epoch);
	const struct known *stored =
		find(&facts->stored, span->where.partition, span->where.epoch);
	uint64_t low = (uint64_t)log->low, first = low;

	if (log->first > log->low || !low)
		return 0;
	if (told)
		first = least(first, told->first);
	if (stored && !v->links)
		first = least(first, stored->first);
	if (log->committed >= 0 && span->newest)
		first = least(first, (uint64_t)log->committed);
	if (first < begin)
		first = begin;
	if (first >= low)
		return 0;
	span->held = false;
	span->where.first = first;
	span->where.end = low;
	return add_span(v, span, err);
}

/* From the newest life down to the one that the log begins in. */
static int plan_partition(struct verify *v, const struct facts *facts,
			  uint32_t partition, struct error *err)
{
	struct span span = {.newest = true,
			    .where = {.partition = partition,
				      .epoch = v->epochs[partition],
				      .since_ms = v->from,
				      .until_ms = v->to}};
	const struct known *life;
	struct log log;
	uint64_t begin, end;

	if (ask_log(v, (int32_t)partition, &log, err) < 0)
		return -1;
	end = (uint64_t)log.end;
	for (;; span.where.epoch--, span.newest = false) {
		life = find(&facts->lives, partition, span.where.epoch);
		begin = life ? life->first : 0;
		span.due = span.newest ? due_of(facts, &log, partition,
						span.where.epoch)
				       : end;
		if (begin <= (uint64_t)log.low &&
		    plan_dropped(v, facts, &log, begin, &span, err) < 0)
			return -1;
		span.held = true;
		span.where.first = (uint64_t)log.first > begin
					   ? (uint64_t)log.first
					   : begin;
		span.where.end = end;
		if (span.where.first > end)
			span.where.first = end;
		if (add_span(v, &span, err) < 0)
			return -1;
		if (begin <= (uint64_t)log.first || !span.where.epoch)
			return 0;
		end = span.where.first;
	}
}

/* --- what only ClickHouse knows of ---------------------------------------- */

/* One past what Kafka still holds of a former life; 0: nothing of it. */
static uint64_t held_end(const struct verify *v, const struct known *k)
{
	for (size_t i = 0; i < v->span_count; i++)
		if (v->spans[i].held &&
		    v->spans[i].where.partition == k->partition &&
		    v->spans[i].where.epoch == k->epoch)
			return v->spans[i].where.end;
	return 0;
}

static int add_former(struct verify *v, const struct known *k,
		      const struct known *other, struct error *err)
{
	struct span span = {.where = {k->partition, k->epoch, k->first,
				      k->last + 1, v->from, v->to}};
	uint64_t held = held_end(v, k);

	if (other && other->first < k->first)
		span.where.first = other->first;
	if (other && other->last > k->last)
		span.where.end = other->last + 1;
	if (span.where.first < held)
		span.where.first = held;
	return span.where.first < span.where.end ? add_span(v, &span, err) : 0;
}

/* Partitions that the topic has not, and its former lives. */
static int plan_former(struct verify *v, const struct facts *facts,
		       struct error *err)
{
	const struct known_list *lists[] = {&facts->told, &facts->stored};
	const struct known *k, *other;

	for (size_t i = 0; i < 2; i++) {
		for (size_t n = 0; n < lists[i]->count; n++) {
			k = &lists[i]->items[n];
			other = find(lists[1 - i], k->partition, k->epoch);
			if ((k->partition < v->partitions &&
			     k->epoch == v->epochs[k->partition]) ||
			    (i && (other || v->links)))
				continue;
			if (add_former(v, k, v->links ? NULL : other, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int read_epochs(struct verify *v, struct error *err)
{
	struct stored_key key = {.topic = v->topic};
	struct stored_epoch epoch;

	v->epochs = calloc(v->partitions + 1, sizeof(*v->epochs));
	if (!v->epochs)
		return error_set_nomem(err);
	for (uint32_t p = 0; p < v->partitions; p++) {
		key.partition = (int32_t)p;
		if (stored_epoch(v->ask.ch, &key,
				 (uint32_t)v->config->collector.epoch, &epoch,
				 err) < 0)
			return error_wrap(err, "clickhouse");
		v->epochs[p] = epoch.number;
		if (v->epoch < epoch.number)
			v->epoch = epoch.number;
	}
	return 0;
}

static int read_facts(struct verify *v, struct facts *facts, struct error *err)
{
	struct ask *a = &v->ask;

	if (read_epochs(v, err) < 0 || told_lives(a, &facts->lives, err) < 0 ||
	    told_survey(a, v->from, v->to, &facts->told, err) < 0 ||
	    told_reach(a, &facts->reach, err) < 0)
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
	if (status == 0)
		status = verify_reread(v, &facts.stored, err);
	known_list_free(&facts.stored);
	known_list_free(&facts.told);
	known_list_free(&facts.reach);
	known_list_free(&facts.lives);
	return status;
}
