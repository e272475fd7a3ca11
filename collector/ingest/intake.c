#include "collector/ingest/intake.h"

#include "common/clock.h"

/* One line a second, however many there are: the metric counts them all. */
static void say(struct intake *in, const struct kafka_record *r,
		const struct error *reason)
{
	int64_t now = clock_monotonic_ms();

	if (in->said_ms && now - in->said_ms < CLOCK_SECOND)
		return;
	in->said_ms = now;
	log_warn(in->log, "event goes to the dead letters",
		 log_str("topic", r->topic), log_int("partition", r->partition),
		 log_int("offset", r->offset), log_err(reason));
}

static int bury(struct intake *in, struct slot *slot,
		const struct kafka_record *r, int64_t append_ms,
		const struct error *reason, struct error *err)
{
	if (dead_letters_put(in->dead_letters, r, reason->text,
			     &slot->dead_letter_failed, err) < 0)
		return -1;
	say(in, r, reason);
	metric_add(in->metrics->dead_lettered, 1);
	batch_note_dead(&slot->batch, (uint64_t)r->offset, append_ms);
	return 0;
}

static int enrich(struct intake *in, struct slot *slot,
		  const struct event_origin *origin,
		  const struct kafka_record *r, struct error *err)
{
	struct buf *rows = &slot->batch.rows;
	size_t before = rows->len;
	bool stored = ranges_have(&slot->stored, origin->offset);
	int64_t ts;
	int status;

	if (slot->table == SINK_LINKS)
		status = enricher_link(in->enricher, origin, r->payload, r->len,
				       rows, &ts, err);
	else
		status = enricher_click(in->enricher, origin, r->payload,
					r->len, rows, &ts, err);
	if (status < 0)
		return -1;
	/* Its row is there: it is told of, not inserted. */
	if (stored)
		rows->len = before;
	if (batch_note_row(&slot->batch, origin->offset, origin->append_ms, ts,
			   !stored, err) < 0) {
		rows->len = before;
		return -1;
	}
	return 0;
}

int intake_take(struct intake *in, struct slot *slot,
		const struct kafka_record *record, struct error *err)
{
	struct event_origin origin = {
		.epoch = slot->epoch,
		.topic = slot->topic,
		.partition = (uint32_t)record->partition,
		.offset = (uint64_t)record->offset,
		.append_ms = record->time_ms,
	};
	struct error reason = {0};

	/* A broker older than message timestamps. */
	if (origin.append_ms < 0)
		origin.append_ms = clock_real_ms();
	if (enrich(in, slot, &origin, record, &reason) < 0) {
		if (reason.code != ERROR_INPUT) {
			*err = reason;
			return -1;
		}
		if (bury(in, slot, record, origin.append_ms, &reason, err) < 0)
			return -1;
	}
	metric_add(in->metrics->consumed, 1);
	slot->next_offset = record->offset + 1;
	return 0;
}
