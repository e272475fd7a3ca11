#include "collector/ingest/unreadable_offsets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/exactly_once/gap.h"
#include "common/clock.h"
#include "common/kafka/reader.h"

enum {
	LOOK_AGAIN_MS = 1000,
	MARGIN_MS = 600000, /* allows for differences of brokers' clocks */
	LOAD_MS = 5000,	    /* how often an operator's decisions are loaded */
	/* Most adjacent batches that are passed over together. */
	JOINED_MAX = 1000,
};

/* --- check, on the worker ------------------------------------------------- */

struct unreadable_look {
	struct insert_job job;
	struct unreadable *unreadable;
	struct partition *partition;
	uint32_t assignment; /* the partition's when the check began */
	struct gap_place place;
	/* Offsets: first checked; last that may be passed over. */
	uint64_t from, last_max;
	bool by_operator; /* gap.first and gap.last are given */

	int status; /* 1: readable; 0: unreadable; -1: err */
	struct error err;
	struct kafka_unreadable what;
	struct batch gap;
};

static int open_reader(struct unreadable *u, struct error *err)
{
	if (u->reader)
		return 0;
	u->reader = kafka_reader_new(&u->config->kafka,
				     "shortloop-collector-unreadable",
				     u->config->collector.group, err);
	if (!u->reader)
		return -1;
	kafka_reader_stop_when(u->reader, &u->stopping);
	return 0;
}

static int probe_record_at(struct unreadable_look *l, int64_t offset,
			   struct kafka_unreadable *ret)
{
	return kafka_reader_probe(l->unreadable->reader, l->place.key.topic,
				  l->place.key.partition, offset, ret, &l->err);
}

/* Batches that follow directly and were sent the same way are included. */
static void join_next(struct unreadable_look *l)
{
	struct kafka_unreadable next;

	for (int i = 0; i < JOINED_MAX && !l->what.may_heal; i++) {
		if (probe_record_at(l, l->what.last + 1, &next) != 0 ||
		    next.may_heal || next.first != l->what.last + 1)
			return;
		l->what.last = next.last;
	}
}

static void find_unreadable_range(struct unreadable_look *l)
{
	l->status = open_reader(l->unreadable, &l->err);
	if (l->status == 0)
		l->status = probe_record_at(l, (int64_t)l->from, &l->what);
	if (l->status != 0)
		return;
	join_next(l);
	l->gap.first = (uint64_t)l->what.first;
	l->gap.last = (uint64_t)l->what.last;
}

static void run_look(struct insert_job *job, struct sink *sink)
{
	struct unreadable_look *l = (struct unreadable_look *)job;

	l->err = (struct error){0};
	if (l->by_operator)
		l->status = 0;
	else
		find_unreadable_range(l);
	if (l->status != 0)
		return;
	if (l->gap.last > l->last_max && l->gap.first <= l->last_max)
		l->gap.last = l->last_max;
	l->status = gap_count(&l->place, sink_server(sink), &l->gap, &l->err);
}

static void look_free(struct unreadable_look *l)
{
	batch_release(&l->gap);
	free(l);
}

/* --- result --------------------------------------------------------------- */

static void log_held(struct unreadable *u, const struct partition *p)
{
	log_warn(u->log, "events cannot be read: they are tried again",
		 log_str("topic", p->topic), log_int("partition", p->number),
		 log_int("offset", p->next_offset),
		 log_str("reason", p->hold.what.reason));
}

/* The partition is resumed before the seek: see start_reading in
 * assignments.c. */
static void resume_partition(struct unreadable *u, struct partition *p)
{
	struct error err = {0};

	if (kafka_consumer_pause(u->consumer, p->topic, p->number, false,
				 &err) < 0 ||
	    kafka_consumer_seek(u->consumer, p->topic, p->number,
				p->next_offset, &err) < 0) {
		log_debug(u->log, "cannot go on yet", log_err(&err));
		p->hold.try_at = clock_monotonic_ms() + LOOK_AGAIN_MS;
		return;
	}
	p->paused = false;
	partition_end_hold(p);
}

static bool is_patience_over(const struct unreadable *u,
			     const struct partition *p, int64_t now)
{
	int64_t patience = u->config->collector.unreadable_after;

	if (!patience)
		return false;
	return !p->hold.what.may_heal || now - p->hold.since >= patience;
}

static void on_unreadable(struct unreadable *u, struct partition *p,
			  struct unreadable_look *l, int64_t now)
{
	p->hold.what = l->what;
	if (!l->by_operator && !is_patience_over(u, p, now))
		return;
	batch_release(&p->hold.gap);
	p->hold.gap = l->gap;
	l->gap = (struct batch){0};
	if (p->hold.gap.append_ms < p->append_ms)
		p->hold.gap.append_ms = p->append_ms;
	p->hold.decided = true;
}

static void on_looked(struct insert_job *job)
{
	struct unreadable_look *l = (struct unreadable_look *)job;
	struct partition *p = l->partition;
	struct unreadable *u = l->unreadable;
	int64_t now = clock_monotonic_ms();

	if (p->hold.look == l && p->assignment == l->assignment) {
		p->hold.look = NULL;
		p->hold.try_at = now + LOOK_AGAIN_MS;
		if (l->status > 0) {
			log_info(u->log, "events can be read again",
				 log_str("topic", p->topic),
				 log_int("partition", p->number),
				 log_int("offset", p->next_offset));
			resume_partition(u, p);
		} else if (l->status == 0)
			on_unreadable(u, p, l, now);
		else
			log_debug(u->log, "cannot look at what cannot be read",
				  log_err(&l->err));
	}
	look_free(l);
}

static void begin_look(struct unreadable *u, struct partition *p, int64_t now)
{
	struct unreadable_look *l = calloc(1, sizeof(*l));
	uint64_t next = (uint64_t)p->next_offset;

	p->hold.try_at = now + LOOK_AGAIN_MS;
	if (!l)
		return;
	l->job.run = run_look;
	l->job.done = on_looked;
	l->unreadable = u;
	l->partition = p;
	l->assignment = p->assignment;
	l->place.key = (struct stored_key){.table = sink_table_name(p->table),
					   .topic = p->topic,
					   .partition = p->number,
					   .epoch = p->epoch};
	l->place.table = p->table;
	l->place.since_ms = p->append_ms - MARGIN_MS;
	l->from = next;
	l->last_max = p->repeat.has_batch && next <= p->repeat.last
			      ? p->repeat.last
			      : UINT64_MAX - 1;
	/* An operator's decision has priority. */
	if (p->hold.pass_first != PASS_NONE &&
	    (p->hold.pass_first <= next || !*p->hold.what.reason)) {
		l->by_operator = true;
		l->gap.first =
			p->hold.pass_first > next ? p->hold.pass_first : next;
		l->gap.last = p->hold.pass_last;
		snprintf(l->what.reason, sizeof(l->what.reason),
			 "an operator passed them over");
	}
	p->hold.look = l;
	insert_workers_submit(u->worker, &l->job);
}

/* --- passing over -----------------------------------------------------------
 */

static void tell_health(struct unreadable *u)
{
	const struct partition *first = NULL;
	size_t held = 0;
	char text[700];

	for (size_t i = 0; i < u->partitions->count; i++) {
		const struct partition *p = u->partitions->items[i];

		if (!p->hold.on)
			continue;
		first = first ? first : p;
		held++;
	}
	if (!held && !*u->last) {
		health_up(u->health);
		return;
	}
	if (!held)
		snprintf(text, sizeof(text), "%s", u->last);
	else
		snprintf(text, sizeof(text),
			 "%zu partitions wait before events that cannot be "
			 "read, the first is %s %d at %" PRId64 ": %.200s%s%s",
			 held, first->topic, (int)first->number,
			 first->next_offset, first->hold.what.reason,
			 *u->last ? "; " : "", u->last);
	health_say(u->health, text);
}

static void pass_over_gap(struct unreadable *u, struct partition *p)
{
	const struct batch *gap = &p->hold.gap;

	if (!intake_pass(u->intake, p, gap))
		return;
	log_error(u->log, "events were passed over and are reported as lost",
		  log_str("topic", p->topic), log_int("partition", p->number),
		  log_int("first", (int64_t)gap->first),
		  log_int("last", (int64_t)gap->last),
		  log_int("lost", (int64_t)gap->lost),
		  log_str("reason", p->hold.what.reason));
	metric_add(u->metrics->passed_offsets, gap->lost);
	u->passed += gap->lost;
	snprintf(u->last, sizeof(u->last),
		 "%" PRIu64 " offsets passed over, the last %s %d "
		 "%" PRIu64 "-%" PRIu64 ": %.200s",
		 u->passed, p->topic, (int)p->number, gap->first, gap->last,
		 p->hold.what.reason);
	/* If that fails, the next record is checked anew. */
	p->hold.decided = false;
	resume_partition(u, p);
}

/* --- operator's decisions ------------------------------------------------- */

struct loading {
	struct insert_job job;
	struct unreadable *unreadable;
	int status;
	struct passes passes;
	struct error err;
};

static void run_loading(struct insert_job *job, struct sink *sink)
{
	struct loading *l = (struct loading *)job;

	l->status = passes_load(sink_server(sink), &l->passes, &l->err);
}

static void on_loaded(struct insert_job *job)
{
	struct loading *l = (struct loading *)job;
	struct unreadable *u = l->unreadable;

	u->loading = false;
	if (l->status == 0) {
		passes_release(&u->passes);
		u->passes = l->passes;
		l->passes = (struct passes){0};
	} else {
		log_debug(u->log, "what is to be passed over is not known",
			  log_err(&l->err));
	}
	passes_release(&l->passes);
	free(l);
}

static void submit_due_passes_loading(struct unreadable *u, int64_t now)
{
	struct loading *l;

	if (u->loading || now < u->load_at)
		return;
	u->load_at = now + (u->passes.are_known ? LOAD_MS : LOOK_AGAIN_MS);
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->job.run = run_loading;
	l->job.done = on_loaded;
	l->unreadable = u;
	l->status = -1;
	u->loading = true;
	insert_workers_submit(u->worker, &l->job);
}

/* --- periodic work -------------------------------------------------------- */

void unreadable_note(struct unreadable *u, const char *topic, int32_t number,
		     const struct kafka_unreadable *what)
{
	struct partition *p = partitions_find(u->partitions, topic, number);

	if (!p || p->state != PARTITION_READING || p->hold.on)
		return;
	p->hold.on = true;
	p->hold.decided = false;
	p->hold.what = *what;
	p->hold.since = clock_monotonic_ms();
	p->hold.try_at = 0;
	metric_set(p->unreadable, 1);
	log_held(u, p);
	tell_health(u);
}

static void update_hold(struct unreadable *u, struct partition *p, int64_t now)
{
	if (p->next_offset >= 0)
		partition_find_pass(p, &u->passes, (uint64_t)p->next_offset);
	if (!p->hold.on || p->hold.look)
		return;
	if (p->hold.decided)
		pass_over_gap(u, p);
	else if (now >= p->hold.try_at)
		begin_look(u, p, now);
}

void unreadable_update(struct unreadable *u, int64_t now)
{
	bool any = false;

	insert_workers_serve(u->worker, 0);
	submit_due_passes_loading(u, now);
	for (size_t i = 0; i < u->partitions->count; i++) {
		struct partition *p = u->partitions->items[i];

		if (p->state != PARTITION_READING)
			continue;
		any = any || p->hold.on;
		update_hold(u, p, now);
	}
	if (any || u->any_held)
		tell_health(u);
	u->any_held = any;
}

int unreadable_open(struct unreadable *u, struct health *health,
		    struct error *err)
{
	u->health = health_register(health, "unreadable");
	health_up(u->health);
	u->worker = insert_workers_new(1, &u->config->clickhouse, err);
	return u->worker ? 0 : -1;
}

void unreadable_close(struct unreadable *u)
{
	atomic_store(&u->stopping, true);
	insert_workers_free(u->worker);
	u->worker = NULL;
	kafka_reader_free(u->reader);
	u->reader = NULL;
	passes_release(&u->passes);
}
