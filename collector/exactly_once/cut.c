#include "collector/exactly_once/cut.h"

#include <stdlib.h>
#include <string.h>

#include "collector/exactly_once/cut_search.h"
#include "common/kafka/record.h"

/* Reads the log at the offset of a stored event. */
static int check_event_in_log(const struct cut_log *log,
			      const struct stored_event *event,
			      enum cut_found *ret, struct error *err)
{
	struct kafka_record record;
	int got;

	if (kafka_reader_open(log->reader, log->topic, log->partition,
			      (int64_t)event->last, (int64_t)event->last + 1,
			      err) < 0)
		return -1;
	got = kafka_reader_next(log->reader, &record, err);
	if (got < 0)
		return -1;
	*ret = CUT_FOUND_HOLE;
	if (!got)
		return 0;
	*ret = record.time_ms == event->at_ms ? CUT_FOUND_SAME
					      : CUT_FOUND_OTHER;
	kafka_record_release(&record);
	return 0;
}

/* The result of a comparison of the log with `events`, ascending, from `first`
 * on. */
struct cut_comparison {
	uint64_t end;	     /* one past the last same event, or `first` */
	enum cut_found last; /* the last result that is not a hole */
};

static void compare_one(struct cut_comparison *c,
			const struct kafka_record *record,
			const struct stored_event *event)
{
	c->last = record->time_ms == event->at_ms ? CUT_FOUND_SAME
						  : CUT_FOUND_OTHER;
	if (c->last == CUT_FOUND_SAME)
		c->end = event->last + 1;
}

static int compare_log_with_events(const struct cut_log *log, uint64_t first,
				   const struct stored_batches *events,
				   struct cut_comparison *ret,
				   struct error *err)
{
	struct kafka_record record;
	size_t i = 0;
	int got;

	*ret = (struct cut_comparison){first, CUT_FOUND_HOLE};
	if (!events->count)
		return 0;
	if (kafka_reader_open(
		    log->reader, log->topic, log->partition, (int64_t)first,
		    (int64_t)events->items[events->count - 1].last + 1,
		    err) < 0)
		return -1;
	while ((got = kafka_reader_next(log->reader, &record, err)) > 0) {
		uint64_t offset = (uint64_t)record.offset;

		while (i < events->count && events->items[i].last < offset)
			i++;
		if (i < events->count && events->items[i].last == offset)
			compare_one(ret, &record, &events->items[i]);
		kafka_record_release(&record);
	}
	return got;
}

static bool is_links(const struct stored_key *key)
{
	return strcmp(key->table, "links") == 0;
}

/* --- check for a cut ------------------------------------------------------ */

enum {
	LOOK_BACK = 4096,	/* the first step back, in offsets */
	LOOK_BACK_MAX = 1 << 20 /* the largest step */
};

/* Compares the last event from `first` up to `end` that Kafka holds and whose
 * time is known.  For clicks these are all events with a row, for links the
 * last events of the batches. */
static int look_back(const struct cut_log *log, struct clickhouse *ch,
		     const struct stored_key *key, uint64_t first, uint64_t end,
		     enum cut_found *ret, struct error *err)
{
	struct stored_batches events = {0};
	struct cut_comparison c;
	int status;

	status = is_links(key)
			 ? stored_batches(ch, key, first, end, &events, err)
			 : stored_events(ch, key, first, end, &events, err);
	if (status == 0)
		status = compare_log_with_events(log, first, &events, &c, err);
	if (status == 0)
		*ret = c.last;
	stored_batches_release(&events);
	return status;
}

int cut_is_whole(const struct cut_log *log, struct clickhouse *ch,
		 const struct stored_key *key,
		 const struct stored_report *report, uint64_t since, bool *ret,
		 struct error *err)
{
	const struct stored_event last = {report->batch_last, report->batch_ms};
	uint64_t end = last.last, first, step = LOOK_BACK;
	enum cut_found found;

	if (check_event_in_log(log, &last, &found, err) < 0)
		return -1;
	while (found == CUT_FOUND_HOLE && end > since) {
		first = end - since > step ? end - step : since;
		if (look_back(log, ch, key, first, end, &found, err) < 0)
			return -1;
		end = first;
		step = step < LOOK_BACK_MAX ? step * 16 : step;
	}
	*ret = found != CUT_FOUND_OTHER;
	return 0;
}

/* --- search for the cut --------------------------------------------------- */

struct batches_of_log {
	const struct cut_log *log;
	const struct stored_batches *batches;
};

/* Compares the last event of batch `at`. */
static int look_at_batch(void *arg, size_t at, enum cut_found *ret,
			 struct error *err)
{
	const struct batches_of_log *b = arg;

	return check_event_in_log(b->log, &b->batches->items[at], ret, err);
}

/* Finds the last event with a row, from `first` up to `end`, that is still in
 * the log; returns one past it, or `first` if there is none. */
static int find_event(const struct cut_log *log, struct clickhouse *ch,
		      const struct stored_key *key, uint64_t first,
		      uint64_t end, uint64_t *ret, struct error *err)
{
	struct stored_batches rows = {0};
	struct cut_comparison c;
	int status = stored_events(ch, key, first, end, &rows, err);

	if (status == 0)
		status = compare_log_with_events(log, first, &rows, &c, err);
	if (status == 0)
		*ret = c.end;
	stored_batches_release(&rows);
	return status;
}

/* Finds the first offset from log->start up to log->end that is neither stored
 * nor reported in key->epoch; log->end when all are. */
static int find_in_life(const struct cut_log *log, struct clickhouse *ch,
			const struct stored_key *key, uint64_t *ret,
			struct error *err)
{
	struct stored_batches batches = {0};
	uint64_t first = log->start, end = log->end;
	struct batches_of_log of = {log, &batches};
	size_t there, other;
	int status = -1;

	if (stored_batches(ch, key, log->start, log->end, &batches, err) < 0 ||
	    cut_search(batches.count, look_at_batch, &of, &there, &other, err) <
		    0)
		goto out;
	if (there)
		first = batches.items[there - 1].last + 1;
	if (other < batches.count)
		end = batches.items[other].last + 1;
	*ret = first;
	status = is_links(key) ? 0
			       : find_event(log, ch, key, first, end, ret, err);
out:
	stored_batches_release(&batches);
	return status;
}

/*
 * If the log holds no stored event of an epoch that began within the log, the
 * log may have been cut before that: then the epoch before is searched, up to
 * where the later one began.
 */
int cut_find(const struct cut_log *log, struct clickhouse *ch,
	     const struct stored_key *key, uint64_t *ret, struct error *err)
{
	struct stored_key life = *key;
	struct cut_log part = *log;
	struct stored_epoch said;
	uint64_t later = log->end; /* where the later epoch began */

	for (;; life.epoch--) {
		if (stored_life(ch, &life, &said, err) < 0)
			return -1;
		part.start = log->start;
		if (said.begin > part.start)
			part.start = said.begin;
		*ret = part.start;
		if (part.start < part.end &&
		    find_in_life(&part, ch, &life, ret, err) < 0)
			return -1;
		if (*ret >= part.end)
			*ret = later;
		if (*ret > part.start || !said.resumes || !life.epoch ||
		    said.begin <= log->start)
			break;
		if (said.gap < part.end)
			part.end = said.gap;
		later = said.begin <= log->end ? said.begin : part.end;
	}
	return 0;
}
