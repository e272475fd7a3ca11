/*
 * verify_command.c - `collector verify`: checks that every event in Kafka was
 * counted once.
 *
 * For each partition it compares the events in Kafka with ClickHouse's rows and
 * the dead letters, offset by offset; then times with ClickHouse's clock; then
 * the settled counts with the rows.  It changes nothing, and may run at any
 * time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/commands.h"
#include "collector/exactly_once/intent.h"
#include "collector/exactly_once/stored.h"
#include "collector/tools/dropped_days.h"
#include "collector/tools/verify/check_available.h"
#include "collector/tools/verify/check_reported.h"
#include "collector/tools/verify/dlq_offsets.h"
#include "collector/tools/verify/offset_survey.h"
#include "collector/tools/verify/reported.h"
#include "collector/tools/verify/settled.h"
#include "collector/tools/verify/verify_report.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

#define FINDINGS_NAMED 100000 /* use 5 MB */
#define PARTITIONS_MAX 100000
/* Kafka stored the letter after its event, maybe by another clock. */
#define LETTER_MARGIN CLOCK_HOUR

/* --- the command line ----------------------------------------------------- */

#define NOT_SAID INT64_MIN

static int read_range(struct verify *v, struct error *err)
{
	v->from = NOT_SAID;
	v->to = INT64_MAX;
	if (app_option_time(v->app, "to", &v->to, err) < 0 ||
	    app_option_time(v->app, "from", &v->from, err) < 0)
		return -1;
	if (v->from < v->to)
		return 0;
	return error_set(err, ERROR_USAGE, "--from lies behind --to");
}

/* Ends the range at ClickHouse's clock: a slow clock of this host would leave
 * out the newest events. */
static int end_range(struct verify *v, struct error *err)
{
	int64_t now;

	if (clickhouse_now(v->ask.ch, &now, err) < 0)
		return error_wrap(err, "clickhouse");
	if (v->to > now)
		v->to = now;
	if (v->from == NOT_SAID)
		v->from = v->to - CLOCK_DAY;
	if (v->from < v->to)
		return 0;
	return error_set(err, ERROR_USAGE, "--from lies in the future");
}

/* Rows of dropped days are gone, and no report names them. */
static int check_kept(struct verify *v, struct error *err)
{
	char text[RFC3339_TEXT_MAX];
	int64_t end;

	if (v->links)
		return 0;
	if (dropped_days_end(v->ask.ch, &end, err) < 0)
		return -1;
	if (v->from >= end)
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--from: an aggregator has dropped days before %s "
			 "(setting raw_days)",
			 rfc3339_format(end, text));
}

static int read_topic(struct verify *v, struct error *err)
{
	const struct kafka_config *kafka = &v->config->kafka;
	const char *name = app_option_value(v->app, "topic");

	v->topic = kafka->topic_clicks;
	if (!name || !strcmp(name, "clicks") ||
	    !strcmp(name, kafka->topic_clicks))
		return 0;
	v->topic = kafka->topic_links;
	v->links = true;
	if (!strcmp(name, "links") || !strcmp(name, kafka->topic_links))
		return 0;
	return error_set(err, ERROR_USAGE,
			 "--topic: '%.80s' is neither clicks nor links", name);
}

/* --- plan ----------------------------------------------------------------- */

/* The surveys of all partitions.  They are queried before the first check, so
 * that events that are committed later do not count as due. */
struct surveys {
	struct offset_survey stored; /* in the given time range */
	struct offset_survey reported;
	struct offset_survey reach; /* without a time limit */
	struct offset_survey lives; /* epochs that begin within the log */
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

/* --- logs of Kafka -------------------------------------------------------- */

struct log_range {
	int64_t low, high;  /* the whole log */
	int64_t first, end; /* its part in the given time range */
	int64_t committed;  /* in the present epoch; -1: none */
};

/* A commit of an earlier epoch does not count. */
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

static int ask_log(struct verify *v, int32_t p, struct log_range *log,
		   struct error *err)
{
	struct kafka_reader *r = v->reader;

	/* The commit is read before the end: committed offsets are less than
	 * the end. */
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

static uint64_t min_offset(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the offset before which all must be stored. */
static uint64_t due_of(const struct surveys *surveys,
		       const struct log_range *log, uint32_t partition,
		       uint32_t epoch)
{
	const struct offset_survey_entry *reach =
		offset_survey_find(&surveys->reach, partition, epoch);
	uint64_t due = log->committed > 0 ? (uint64_t)log->committed : 0;

	if (reach && reach->last + 1 > due)
		due = reach->last + 1;
	return due;
}

/* Plans the offsets in the given time range that Kafka has dropped, back to the
 * epoch's beginning. */
static int plan_dropped(struct verify *v, const struct surveys *surveys,
			const struct log_range *log, uint64_t begin,
			struct span *span, struct error *err)
{
	const struct offset_survey_entry *reported = offset_survey_find(
		&surveys->reported, span->where.partition, span->where.epoch);
	const struct offset_survey_entry *stored = offset_survey_find(
		&surveys->stored, span->where.partition, span->where.epoch);
	uint64_t low = (uint64_t)log->low, first = low;

	if (log->first > log->low || !low)
		return 0;
	if (reported)
		first = min_offset(first, reported->first);
	if (stored && !v->links)
		first = min_offset(first, stored->first);
	if (log->committed >= 0 && span->newest)
		first = min_offset(first, (uint64_t)log->committed);
	if (first < begin)
		first = begin;
	if (first >= low)
		return 0;
	span->available = false;
	span->where.first = first;
	span->where.end = low;
	return add_span(v, span, err);
}

/* Plans from the newest epoch down to the one in which the log begins. */
static int plan_partition(struct verify *v, const struct surveys *surveys,
			  uint32_t partition, struct error *err)
{
	struct span span = {.newest = true,
			    .where = {.partition = partition,
				      .epoch = v->epochs[partition],
				      .since_ms = v->from,
				      .until_ms = v->to}};
	const struct offset_survey_entry *life;
	struct log_range log;
	uint64_t begin, end;

	if (ask_log(v, (int32_t)partition, &log, err) < 0)
		return -1;
	end = (uint64_t)log.end;
	for (;; span.where.epoch--, span.newest = false) {
		life = offset_survey_find(&surveys->lives, partition,
					  span.where.epoch);
		begin = life ? life->first : 0;
		span.due = span.newest ? due_of(surveys, &log, partition,
						span.where.epoch)
				       : end;
		if (begin <= (uint64_t)log.low &&
		    plan_dropped(v, surveys, &log, begin, &span, err) < 0)
			return -1;
		span.available = true;
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

/* --- epochs known only to ClickHouse -------------------------------------- */

/* Returns one past the offsets of a former epoch that Kafka still holds; 0:
 * none. */
static uint64_t available_end(const struct verify *v,
			      const struct offset_survey_entry *k)
{
	for (size_t i = 0; i < v->span_count; i++)
		if (v->spans[i].available &&
		    v->spans[i].where.partition == k->partition &&
		    v->spans[i].where.epoch == k->epoch)
			return v->spans[i].where.end;
	return 0;
}

static int add_former(struct verify *v, const struct offset_survey_entry *k,
		      const struct offset_survey_entry *other,
		      struct error *err)
{
	struct span span = {.where = {k->partition, k->epoch, k->first,
				      k->last + 1, v->from, v->to}};
	uint64_t available = available_end(v, k);

	if (other && other->first < k->first)
		span.where.first = other->first;
	if (other && other->last > k->last)
		span.where.end = other->last + 1;
	if (span.where.first < available)
		span.where.first = available;
	return span.where.first < span.where.end ? add_span(v, &span, err) : 0;
}

/* Plans partitions that the topic no longer has, and its former epochs. */
static int plan_former(struct verify *v, const struct surveys *surveys,
		       struct error *err)
{
	const struct offset_survey *lists[] = {&surveys->reported,
					       &surveys->stored};
	const struct offset_survey_entry *k, *other;

	for (size_t i = 0; i < 2; i++) {
		for (size_t n = 0; n < lists[i]->count; n++) {
			k = &lists[i]->entries[n];
			other = offset_survey_find(lists[1 - i], k->partition,
						   k->epoch);
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

static int read_surveys(struct verify *v, struct surveys *surveys,
			struct error *err)
{
	struct ask *a = &v->ask;

	if (read_epochs(v, err) < 0 ||
	    reported_lives(a, &surveys->lives, err) < 0 ||
	    reported_survey(a, v->from, v->to, &surveys->reported, err) < 0 ||
	    reported_reach(a, &surveys->reach, err) < 0)
		return -1;
	return stored_rows_survey(a, v->from, v->to, &surveys->stored, err);
}

static int make_plan(struct verify *v, struct error *err)
{
	struct surveys surveys = {0};
	int status = kafka_reader_partitions(v->reader, v->topic,
					     &v->partitions, err);

	if (status == 0)
		status = read_surveys(v, &surveys, err);
	for (uint32_t p = 0; status == 0 && p < v->partitions; p++)
		status = plan_partition(v, &surveys, p, err);
	if (status == 0)
		status = plan_former(v, &surveys, err);
	if (status == 0 && !v->links)
		status = stored_rows_name_reread(&v->ask, v->from, v->to,
						 &surveys.stored, &v->findings,
						 err);
	offset_survey_free(&surveys.stored);
	offset_survey_free(&surveys.reported);
	offset_survey_free(&surveys.reach);
	offset_survey_free(&surveys.lives);
	return status;
}

/* --- run ------------------------------------------------------------------ */

/* An unreadable record of the topic is a finding.  One of the dead letters can
 * hide a letter, whose event then seems to be missing. */
static void on_unreadable(void *arg, const char *topic, int32_t partition,
			  const struct kafka_unreadable *what)
{
	struct verify *v = arg;
	struct error err;

	if (strcmp(topic, v->topic) != 0) {
		bar_end(&v->bar);
		fprintf(stderr,
			"warning: %s %" PRId32 ": %" PRId64 "-%" PRId64
			" cannot be read, and are left out: %s\n",
			topic, partition, what->first, what->last,
			what->reason);
	} else if (ranges_add(&v->unreadable, (uint64_t)what->first,
			      (uint64_t)what->last, &err) < 0) {
		v->out_of_memory = true;
	}
}

static int open_parts(struct verify *v, struct error *err)
{
	v->ask.topic = v->topic;
	v->ask.table = v->links ? "links" : "clicks";
	v->ask.timed = !v->links;
	v->ask.ch = clickhouse_new(&v->config->clickhouse, err);
	if (!v->ask.ch)
		return -1;
	v->reader = kafka_reader_new(&v->config->kafka,
				     "shortloop-collector-verify",
				     v->config->collector.group, err);
	if (!v->reader)
		return -1;
	kafka_reader_on_unreadable(v->reader, on_unreadable, v);
	return window_init(&v->window, err);
}

static bool on_dead_letters(void *arg)
{
	struct verify *v = arg;

	bar_show(&v->bar, v->dead_letters.read, 0);
	return app_should_stop(v->app, 0);
}

static int read_dead_letters(struct verify *v, struct error *err)
{
	uint32_t partitions = v->partitions;

	for (size_t i = 0; i < v->span_count; i++)
		if (v->spans[i].where.partition >= partitions &&
		    v->spans[i].where.partition < PARTITIONS_MAX)
			partitions = v->spans[i].where.partition + 1;
	bar_begin(&v->bar, "dead letters", "letters");
	return dlq_offsets_read(
		&v->dead_letters, v->reader, v->config->kafka.topic_dlq,
		v->topic, partitions,
		v->from > LETTER_MARGIN ? v->from - LETTER_MARGIN : 0,
		on_dead_letters, v, err);
}

static int check_spans(struct verify *v, struct error *err)
{
	int status = 0;

	bar_begin(&v->bar, v->label, "offsets");
	for (size_t i = 0; status == 0 && i < v->span_count; i++) {
		struct span *span = &v->spans[i];

		snprintf(v->label, sizeof(v->label), "partition %" PRIu32,
			 span->where.partition);
		v->unreadable.count = 0;
		status = span->available ? check_available(v, span, err)
					 : check_reported(v, span, err);
	}
	return status;
}

static int check_settled(struct verify *v, struct error *err)
{
	struct settled_snapshot snapshot = {.epochs = v->epochs};
	uint64_t *due = calloc(v->partitions + 1, sizeof(*due));
	int status;

	if (!due)
		return error_set_nomem(err);
	for (size_t i = 0; i < v->span_count; i++)
		if (v->spans[i].available && v->spans[i].newest)
			due[v->spans[i].where.partition] = v->spans[i].due;
	snapshot.due = due;
	snapshot.partitions = v->partitions;
	status = settled_check(&v->ask, &snapshot, v->from, v->to, &v->settled,
			       err);
	free(due);
	return status;
}

static int check_clocks(struct verify *v, struct error *err)
{
	if (clocks_check_reports(&v->ask, &v->clocks, err) < 0)
		return -1;
	return v->links ? 0 : clocks_check_settled(&v->ask, &v->clocks, err);
}

static int verify_topic(struct verify *v, struct error *err)
{
	/* The plan reads the due offsets before the letters are read: by then
	 * an event that is due has its row or its letter. */
	if (open_parts(v, err) < 0 || end_range(v, err) < 0 ||
	    make_plan(v, err) < 0 || check_kept(v, err) < 0 ||
	    read_dead_letters(v, err) < 0 || check_spans(v, err) < 0 ||
	    check_clocks(v, err) < 0)
		return -1;
	return v->links ? 0 : check_settled(v, err);
}

static void close_parts(struct verify *v)
{
	kafka_reader_free(v->reader);
	kafka_reader_free(v->again);
	clickhouse_free(v->ask.ch);
	ask_release(&v->ask);
	dlq_offsets_free(&v->dead_letters);
	window_release(&v->window);
	ranges_release(&v->unreadable);
	event_findings_release(&v->findings);
	settled_free(&v->settled);
	clocks_free(&v->clocks);
	free(v->spans);
	free(v->epochs);
}

int collector_verify(struct app *app, const void *arg, struct error *err)
{
	const struct collector_config *config = arg;
	struct verify v = {.app = app,
			   .config = config,
			   .show_all = app_option_value(app, "all") != NULL,
			   .findings = {.max = FINDINGS_NAMED}};
	int64_t start = clock_monotonic_ms();
	double seconds;
	int status;

	if (read_range(&v, err) < 0 || read_topic(&v, err) < 0)
		return -1;
	status = verify_topic(&v, err);
	bar_end(&v.bar);
	seconds = (double)(clock_monotonic_ms() - start) / 1000.0;
	if (status == 0)
		status = (app_option_value(app, "json")
				  ? verify_print_json
				  : verify_print_text)(&v, seconds, err);
	if (status == 0 && !verify_is_well(&v))
		status = 1;
	close_parts(&v);
	return status;
}
