#include "collector/ingest/housekeeping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/forgotten.h"
#include "collector/exactly_once/insertion.h"
#include "collector/exactly_once/stored.h"
#include "collector/ingest/status_row.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"
#include "common/kafka/consumer_offsets.h"

enum {
	ASK_MS = 1000,
	ASK_ENDS_MS = 200,
	LOG_ENDS_MS = 5000, /* how often the logs' ends are queried */
	/* A probe is due after this time without an insert. */
	PROBE_IDLE_MS = 5000,
	/* How often the server's behaviour is measured. */
	MEASURE_MS = 3600 * 1000,
	/* `aggregator forget` waits for all collectors four times as long as
	 * this. */
	LIST_MS = 15 * 1000,
	TELL_MS = 15 * 1000,
	CLOCK_OFF_MS = 60 * 1000 /* a larger difference is reported */
};

/* --- idle partitions ------------------------------------------------------ */

/*
 * Each partition's broker is queried for the end of its log, so that the time
 * reported is one at which nothing was left to read.  The time is ClickHouse's:
 * a collector with its own clock a day ahead would report events as read that
 * no collector has read.
 */
struct idle_report {
	struct insert_job job;
	struct housekeeping *housekeeping;
	struct kafka_consumer *consumer;
	struct collector_metrics *metrics;
	const char *collector;
	const char *topics[SINK_TABLE_COUNT]; /* topics of clicks and links */
	int64_t asked_ms;		      /* by ClickHouse's clock */
	size_t count;
	struct idle_entry {
		struct progress_origin origin;
		int64_t next_offset;
	} * entries;

	/* The answer: */
	bool counted;
	uint32_t topic_size[SINK_TABLE_COUNT]; /* in partitions */
	int status;
	struct error err;
};

static bool is_idle(const struct partition *p)
{
	return p->state == PARTITION_READING && !p->filling.events &&
	       !p->insert.job && !p->repeat.has_batch && p->next_offset >= 0 &&
	       p->reread_from < 0;
}

static struct idle_report *idle_report_new(const struct partitions *all)
{
	struct idle_report *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->entries = calloc(all->count + 1, sizeof(*r->entries));
	if (!r->entries) {
		free(r);
		return NULL;
	}
	for (size_t i = 0; i < all->count; i++) {
		const struct partition *p = all->items[i];

		if (is_idle(p))
			r->entries[r->count++] = (struct idle_entry){
				.origin = {.epoch = p->epoch,
					   .topic = p->topic,
					   .partition = p->number,
					   .of_links = p->table == SINK_LINKS},
				.next_offset = p->next_offset,
			};
	}
	return r;
}

static void idle_report_free(struct idle_report *r)
{
	if (!r)
		return;
	free(r->entries);
	free(r);
}

static int count_partitions(struct idle_report *r, struct error *err)
{
	for (int t = 0; t < SINK_TABLE_COUNT; t++)
		if (r->topics[t] && kafka_consumer_ask_partitions(
					    r->consumer, r->topics[t], ASK_MS,
					    &r->topic_size[t], err) < 0)
			return -1;
	r->counted = true;
	return 0;
}

/* Appends a row when nothing of the partition is left to read.  A log that ends
 * before the offset already read was cut: its new events have offsets that
 * count as read. */
static int add_if_idle(struct idle_report *r, struct idle_entry *e,
		       struct buf *rows, uint64_t *count, struct error *err)
{
	int64_t end;

	if (kafka_consumer_ask_end(r->consumer, e->origin.topic,
				   e->origin.partition, ASK_MS, &end, err) < 0)
		return -1;
	if (end != e->next_offset)
		return 0;
	e->origin.partitions =
		r->topic_size[e->origin.of_links ? SINK_LINKS : SINK_CLICKS];
	e->origin.collector = r->collector;
	batch_idle_row(e->next_offset, r->asked_ms, &e->origin, rows);
	++*count;
	return 0;
}

/* Tries once: a failed report is obsolete when the next is due. */
static int insert_idle_rows(struct idle_report *r, struct sink *sink,
			    const char *name, const struct buf *rows,
			    uint64_t count, struct error *err)
{
	const struct insertion in = {.table = SINK_PROGRESS,
				     .name = name,
				     .rows = rows->data,
				     .len = rows->len,
				     .count = count,
				     .metrics = r->metrics};
	struct insertion_state state = {.known_ms = clock_boottime_ms(),
					.kept_ms = INT64_MAX};

	return insertion_run(sink, &in, &state, err);
}

static void run_report(struct insert_job *job, struct sink *sink)
{
	struct idle_report *r = (struct idle_report *)job;
	char token[BATCH_NAME_MAX];
	struct buf rows = {0};
	uint64_t count = 0;

	/* The clock is read before the logs' ends: at that time nothing was
	 * left. */
	r->status = clickhouse_now(sink_server(sink), &r->asked_ms, &r->err);
	if (r->status == 0)
		r->status = count_partitions(r, &r->err);
	for (size_t i = 0; r->status == 0 && i < r->count; i++)
		r->status =
			add_if_idle(r, &r->entries[i], &rows, &count, &r->err);
	snprintf(token, sizeof(token), "idle:%s:%lld", r->collector,
		 (long long)r->asked_ms);
	if (r->status == 0 && rows.failed)
		r->status = error_set_nomem(&r->err);
	else if (r->status == 0 && count)
		r->status =
			insert_idle_rows(r, sink, token, &rows, count, &r->err);
	buf_free(&rows);
}

static void on_reported(struct insert_job *job)
{
	struct idle_report *r = (struct idle_report *)job;
	struct housekeeping *h = r->housekeeping;

	h->reporting = false;
	if (r->counted)
		schedule_set_topics(h->schedule, r->topic_size, h->partitions);
	if (r->status < 0)
		log_debug(h->log, "idle partitions not reported",
			  log_err(&r->err));
	idle_report_free(r);
}

static void submit_due_idle_report(struct housekeeping *h, int64_t now)
{
	struct idle_report *r;

	if (now < h->report_at || h->reporting || h->breaker->open ||
	    !connections_kafka_up(h->connections))
		return;
	h->report_at = now + h->config->collector.report_every;
	r = idle_report_new(h->partitions);
	if (!r)
		return;
	r->job.run = run_report;
	r->job.done = on_reported;
	r->housekeeping = h;
	r->consumer = h->consumer;
	r->metrics = h->metrics;
	r->collector = h->collector;
	r->topics[SINK_CLICKS] = h->config->kafka.topic_clicks;
	r->topics[SINK_LINKS] = h->config->kafka.topic_links;
	h->reporting = true;
	insert_workers_submit(h->workers, &r->job);
}

/* --- ClickHouse ----------------------------------------------------------- */

struct probe {
	struct insert_job job;
	struct housekeeping *housekeeping;
	int status;
	struct error err;
	struct guarantee guarantee;
	struct measured measured; /* known results; empty: to be measured */
	bool is_fresh;		  /* a new measurement was due */
	bool clock_known;
	int64_t clock_ahead_ms; /* this host's clock ahead of ClickHouse's */
};

/* Measures the server unless the result is already known. */
static int measure_server_if_unknown(struct probe *p, struct sink *sink,
				     struct error *err)
{
	bool known = p->measured.done || *p->measured.why;

	return known ? 0 : measure_tokens(sink, &p->measured, err);
}

/* Only the log uses this host's clock; its readers should know of a
 * difference. */
static void compare_clocks(struct probe *p, struct sink *sink)
{
	int64_t before = clock_real_ms(), server;
	struct error err = {0};

	if (clickhouse_now(sink_server(sink), &server, &err) < 0)
		return;
	p->clock_known = true;
	p->clock_ahead_ms = before + (clock_real_ms() - before) / 2 - server;
}

static void run_probe(struct insert_job *job, struct sink *sink)
{
	struct probe *p = (struct probe *)job;
	struct error err = {0};

	p->status = sink_probe(sink, &p->err);
	if (p->status == 0)
		compare_clocks(p, sink);
	if (p->status == 0 &&
	    (measure_server_if_unknown(p, sink, &err) < 0 ||
	     guarantee_probe(sink, &p->measured, &p->guarantee, &err) < 0))
		snprintf(p->guarantee.text, sizeof(p->guarantee.text),
			 "not known: %.150s", err.text);
}

static void update_guarantee(struct housekeeping *h, const struct guarantee *g)
{
	bool changed = strcmp(h->guarantee.text, g->text) != 0;

	h->guarantee = *g;
	metric_set(h->metrics->exactly_once, g->exactly_once);
	health_say(h->guarantee_health, g->text);
	if (changed && g->exactly_once)
		log_info(h->log, "guarantee", log_str("holds", g->text));
	else if (changed)
		log_warn(h->log, "guarantee", log_str("holds", g->text));
}

static void update_clock(struct housekeeping *h, int64_t ahead_ms)
{
	bool differ = ahead_ms > CLOCK_OFF_MS || ahead_ms < -CLOCK_OFF_MS;
	char text[100];

	metric_set(h->metrics->clock_ahead, ahead_ms / 1000);
	if (!differ) {
		health_up(h->clock_health);
		h->clocks_differ = false;
		return;
	}
	snprintf(text, sizeof(text),
		 "this host's is %lld s %s ClickHouse's; nothing goes by it",
		 llabs((long long)ahead_ms / 1000),
		 ahead_ms > 0 ? "ahead of" : "behind");
	health_say(h->clock_health, text);
	if (!h->clocks_differ)
		log_warn(h->log, "clocks differ", log_str("clock", text));
	h->clocks_differ = true;
}

static void on_probed(struct insert_job *job)
{
	struct probe *p = (struct probe *)job;
	struct housekeeping *h = p->housekeeping;

	h->probing = false;
	if (p->status == 0) {
		h->measured = p->measured;
		update_guarantee(h, &p->guarantee);
		if (p->clock_known)
			update_clock(h, p->clock_ahead_ms);
		connections_clickhouse_up(h->connections);
		/* This probe has measured the new server already: clear the
		 * flag. */
		if (p->is_fresh)
			connections_clickhouse_is_new(h->connections);
		h->probe_at = 0;
	} else {
		connections_clickhouse_down(h->connections, &p->err);
	}
	free(p);
}

static bool probe_is_due(struct housekeeping *h, int64_t now)
{
	if (connections_clickhouse_is_new(h->connections)) {
		h->measure_at = 0;
		h->probe_at = 0;
	} else if (now <
		   h->connections->clickhouse_answered_at + PROBE_IDLE_MS) {
		return false;
	}
	return now >= h->probe_at;
}

static void submit_due_probe(struct housekeeping *h, int64_t now)
{
	struct probe *p;

	if (h->probing || h->breaker->open || !probe_is_due(h, now))
		return;
	h->probe_at = now + CLOCK_SECOND;
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	p->is_fresh = now >= h->measure_at;
	if (p->is_fresh)
		h->measure_at = now + MEASURE_MS;
	else
		p->measured = h->measured;
	p->job.run = run_probe;
	p->job.done = on_probed;
	p->housekeeping = h;
	h->probing = true;
	insert_workers_submit(h->workers, &p->job);
}

/* --- forgotten visitors and links -------------------------------------------
 *
 * A collector that takes a partition over reads the list first (recovery.h).  A
 * collector that already owns a partition loads new entries here: events can
 * arrive that are older than these entries.
 */

struct listing {
	struct insert_job job;
	struct housekeeping *housekeeping;
	struct forgotten_state known;
	int status;
	struct forgotten *list; /* NULL: no new entries */
	struct error err;
};

static void run_listing(struct insert_job *job, struct sink *sink)
{
	struct listing *l = (struct listing *)job;

	l->status =
		forgotten_load(sink_server(sink), &l->known, &l->list, &l->err);
}

static void on_listed(struct insert_job *job)
{
	struct listing *l = (struct listing *)job;
	struct housekeeping *h = l->housekeeping;

	h->listing = false;
	if (l->status == 0)
		l->status = enricher_forget(h->enricher, l->list, &l->err);
	if (l->status < 0)
		log_debug(h->log, "what is forgotten is not read",
			  log_err(&l->err));
	free(l);
}

static void submit_due_listing(struct housekeeping *h, int64_t now)
{
	struct listing *l;

	if (now < h->list_at || h->listing || h->breaker->open)
		return;
	h->list_at = now + LIST_MS;
	l = calloc(1, sizeof(*l));
	if (!l)
		return;
	l->job.run = run_listing;
	l->job.done = on_listed;
	l->housekeeping = h;
	l->known = enricher_forgotten(h->enricher);
	h->listing = true;
	insert_workers_submit(h->workers, &l->job);
}

/* --- status row ----------------------------------------------------------- */

struct telling {
	struct insert_job job;
	struct housekeeping *housekeeping;
	struct status_row *row;
	int status;
	struct error err;
};

static void run_telling(struct insert_job *job, struct sink *sink)
{
	struct telling *t = (struct telling *)job;

	t->status = status_row_insert(t->row, sink, &t->err);
}

static void on_told(struct insert_job *job)
{
	struct telling *t = (struct telling *)job;
	struct housekeeping *h = t->housekeeping;

	h->telling = false;
	if (t->status < 0)
		log_debug(h->log, "status not told", log_err(&t->err));
	status_row_free(t->row);
	free(t);
}

/* Sends the status row as soon as the guarantee is known. */
static void submit_due_status_row(struct housekeeping *h, int64_t now)
{
	struct telling *t;

	if (now < h->tell_at || h->telling || h->breaker->open ||
	    !*h->guarantee.text)
		return;
	h->tell_at = now + TELL_MS;
	t = calloc(1, sizeof(*t));
	if (!t)
		return;
	t->row = status_row_new(h->collector, &h->guarantee, h->partitions);
	if (!t->row) {
		free(t);
		return;
	}
	t->job.run = run_telling;
	t->job.done = on_told;
	t->housekeeping = h;
	h->telling = true;
	insert_workers_submit(h->workers, &t->job);
}

/* --- lag ------------------------------------------------------------------ */

static void on_log_end(void *arg, const char *topic, int32_t number,
		       int64_t end)
{
	struct partition *p = partitions_find(arg, topic, number);

	if (p)
		p->log_end = end;
}

/* A known log end stays valid until records are fetched again. */
static void ask_log_ends(struct housekeeping *h, int64_t now)
{
	struct partitions *all = h->partitions;
	struct error err = {0};
	bool any = false;

	for (size_t i = 0; i < all->count; i++) {
		struct partition *p = all->items[i];

		any = any || (partition_is_assigned(p) && p->paused);
		if (!partition_is_assigned(p) || !p->paused)
			p->log_end = 0;
	}
	if (!any || now < h->log_ends_at + LOG_ENDS_MS)
		return;
	h->log_ends_at = now;
	/* If no answer arrives, the metric stays as it is. */
	(void)kafka_consumer_ask_ends(h->consumer, ASK_ENDS_MS, on_log_end, all,
				      &err);
}

static void set_lag(const struct housekeeping *h, struct partition *p)
{
	int64_t from = p->position_known ? (int64_t)p->position : -1;
	int64_t end = kafka_consumer_log_end(h->consumer, p->topic, p->number);

	if (p->log_end > end)
		end = p->log_end;
	p->behind = -1;
	if (!partition_is_assigned(p) || end < 0 || from < 0)
		return;
	p->behind = end > from ? end - from : 0;
	metric_set(p->lag, p->behind);
}

void housekeeping_set_lag(struct housekeeping *h, int64_t now)
{
	ask_log_ends(h, now);
	for (size_t i = 0; i < h->partitions->count; i++)
		set_lag(h, h->partitions->items[i]);
}

/* --- periodic work -------------------------------------------------------- */

void housekeeping_init(struct housekeeping *h, struct health *health)
{
	h->guarantee_health = health_register(health, "guarantee");
	health_say(h->guarantee_health, "not known yet");
	h->clock_health = health_register(health, "clock");
	health_up(h->clock_health);
}

void housekeeping_update(struct housekeeping *h, int64_t now)
{
	submit_due_idle_report(h, now);
	submit_due_probe(h, now);
	submit_due_listing(h, now);
	submit_due_status_row(h, now);
}
