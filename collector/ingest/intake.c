#include "collector/ingest/intake.h"

#include "common/clock.h"
#include "common/kafka/consumer_offsets.h"
#include "common/kafka/record.h"

/* --- records -------------------------------------------------------------- */

/* At most one line a second is logged: the metric counts all dead letters. */
static void log_dead_letter(struct intake *in, const struct kafka_record *r,
			    const struct error *reason)
{
	int64_t now = clock_monotonic_ms();

	if (in->logged_at && now - in->logged_at < CLOCK_SECOND)
		return;
	in->logged_at = now;
	log_warn(in->log, "event rejected: it goes to the dead letters",
		 log_str("topic", r->topic), log_int("partition", r->partition),
		 log_int("offset", r->offset), log_err(reason));
}

static int put_dead_letter(struct intake *in, struct partition *p,
			   const struct kafka_record *r, int64_t append_ms,
			   const struct error *reason, struct error *err)
{
	/* The counter is read before the put: Kafka may give the letter up at
	 * any time after that. */
	if (!p->filling.dead_lettered)
		p->filling.letters_given_up = atomic_load(&p->letters_given_up);
	if (dead_letters_put(in->dead_letters, r, reason->text,
			     &p->letters_given_up, err) < 0)
		return -1;
	log_dead_letter(in, r, reason);
	metric_add(in->metrics->dead_lettered, 1);
	batch_note_dead(&p->filling, (uint64_t)r->offset, append_ms);
	return 0;
}

static int enrich_record(struct intake *in, struct partition *p,
			 const struct event_origin *origin,
			 const struct kafka_record *r, struct error *err)
{
	struct buf *rows = &p->filling.rows, *made = &p->filling.creations;
	const struct link_rows of_link = {rows, made};
	size_t before = rows->len, made_before = made->len;
	bool stored = ranges_have(&p->stored, origin->offset);
	int64_t ts = BATCH_NO_HOUR;
	int status;

	if (p->table == SINK_LINKS)
		status = enricher_link(in->enricher, origin, r->payload, r->len,
				       &of_link, &ts, err);
	else
		status = enricher_click(in->enricher, origin, r->payload,
					r->len, rows, &ts, err);
	if (status < 0)
		return -1;
	/* The row is stored already: it is reported, not inserted. */
	if (stored)
		rows->len = before;
	if (batch_note_row(&p->filling, origin->offset, origin->append_ms, ts,
			   !stored, err) < 0) {
		rows->len = before;
		made->len = made_before;
		return -1;
	}
	if (!stored && p->table == SINK_CLICKS)
		live_show(in->live, rows->data + before, rows->len - before);
	return 0;
}

/* Fails when memory or a queue is full: the record must be read again. */
static int add_record(struct intake *in, struct partition *p,
		      const struct kafka_record *record, struct error *err)
{
	struct event_origin origin = {
		.epoch = p->epoch,
		.topic = p->topic,
		.partition = (uint32_t)record->partition,
		.offset = (uint64_t)record->offset,
		.append_ms = record->time_ms,
	};
	struct error reason = {0};

	/* The broker is older than message timestamps. */
	if (origin.append_ms < 0)
		origin.append_ms = clock_real_ms();
	if (enrich_record(in, p, &origin, record, &reason) < 0) {
		if (reason.code != ERROR_INPUT) {
			*err = reason;
			return -1;
		}
		if (put_dead_letter(in, p, record, origin.append_ms, &reason,
				    err) < 0)
			return -1;
	}
	metric_add(in->metrics->consumed, 1);
	p->next_offset = record->offset + 1;
	p->append_ms = origin.append_ms;
	return 0;
}

/* --- order of records ----------------------------------------------------- */

static void seek_reread_offset(struct intake *in, struct partition *p)
{
	struct error err = {0};

	if (kafka_consumer_seek(in->consumer, p->topic, p->number,
				p->reread_from, &err) == 0)
		p->reread_from = -1;
	else
		log_warn(in->log, "cannot go back", log_err(&err));
}

void intake_reread(struct intake *in)
{
	for (size_t i = 0; i < in->partitions->count; i++)
		if (in->partitions->items[i]->reread_from >= 0)
			seek_reread_offset(in, in->partitions->items[i]);
}

/*
 * Returns whether `offset` may follow the last one read.  A log may lack
 * offsets, but no offset may lie before the log's start, nor repeat: then the
 * brokers have dropped unread records, or this is another log.
 */
static bool may_follow_last_offset(struct intake *in, struct partition *p,
				   int64_t offset)
{
	int64_t start;

	if (offset == p->next_offset)
		return true;
	start = kafka_consumer_log_start(in->consumer, p->topic, p->number);
	if (offset > p->next_offset && start <= p->next_offset)
		return true;
	log_warn(in->log, "the log goes on elsewhere than expected",
		 log_str("topic", p->topic), log_int("partition", p->number),
		 log_int("expected", p->next_offset), log_int("offset", offset),
		 log_int("log_start", start));
	partition_restart(p, 0);
	return false;
}

/* A repeated batch is complete when its last offset is passed. */
static void end_repeat(struct intake *in, struct partition *p)
{
	if (!p->repeat.has_batch || p->next_offset < 0 ||
	    (uint64_t)p->next_offset <= p->repeat.last)
		return;
	if (p->filling.events)
		inserts_begin(in->inserts, p);
	else
		p->repeat.has_batch = false;
}

static void take_record_into_batch(struct intake *in, struct partition *p,
				   const struct kafka_record *record)
{
	size_t before = batch_bytes(&p->filling);
	bool was_full = schedule_is_full(in->schedule, &p->filling);
	struct error err = {0};

	if (add_record(in, p, record, &err) < 0) {
		p->reread_from = record->offset;
		seek_reread_offset(in, p);
		insert_breaker_trip(&in->inserts->breaker, &err);
		return;
	}
	end_repeat(in, p);
	backpressure_took(in->backpressure, in->partitions, p, before);
	if (!was_full && schedule_is_full(in->schedule, &p->filling))
		in->filled = true;
}

/* An operator has named the offset (unreadable_offsets.h).  One poll may bring
 * records of several named ranges: the next range is searched as soon as one is
 * passed. */
static bool is_to_be_passed(const struct intake *in, struct partition *p,
			    uint64_t offset)
{
	if (offset > p->hold.pass_last)
		partition_find_pass(p, in->passes, offset);
	return p->hold.pass_first <= offset && offset <= p->hold.pass_last;
}

void intake_take(struct intake *in, const struct kafka_record *record)
{
	struct partition *p = partitions_find(in->partitions, record->topic,
					      record->partition);

	if (!p || p->state != PARTITION_READING || p->hold.on)
		return;
	if (p->reread_from >= 0) {
		seek_reread_offset(in, p);
		return;
	}
	if (!may_follow_last_offset(in, p, record->offset))
		return;
	if (is_to_be_passed(in, p, (uint64_t)record->offset)) {
		p->hold.on = true;
		return;
	}
	/* The log may lack the last offsets of the batch. */
	if (p->repeat.has_batch && (uint64_t)record->offset > p->repeat.last) {
		p->next_offset = record->offset;
		end_repeat(in, p);
		/* Out of memory: the batch must not grow now. */
		if (p->repeat.has_batch) {
			p->reread_from = record->offset;
			return;
		}
	}
	take_record_into_batch(in, p, record);
}

void intake_end(struct intake *in, const char *topic, int32_t number,
		int64_t offset)
{
	struct partition *p = partitions_find(in->partitions, topic, number);

	if (!p || p->state != PARTITION_READING || p->hold.on ||
	    p->reread_from >= 0 || !may_follow_last_offset(in, p, offset))
		return;
	p->next_offset = offset;
	end_repeat(in, p);
}

bool intake_pass(struct intake *in, struct partition *p,
		 const struct batch *gap)
{
	struct error err = {0};

	/* The repeated batch ends before the gap. */
	if (p->repeat.has_batch && gap->first > p->repeat.last) {
		p->next_offset = (int64_t)gap->first;
		end_repeat(in, p);
	}
	/* The gap is a batch of its own, so that its intent names it. */
	if (!p->repeat.has_batch && (p->filling.events || p->insert.job))
		return false;
	if (batch_note_gap(&p->filling, gap, &err) < 0)
		return false;
	p->next_offset = (int64_t)gap->last + 1;
	if (p->repeat.has_batch)
		end_repeat(in, p);
	else
		inserts_begin(in->inserts, p);
	return true;
}
