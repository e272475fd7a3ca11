#include "collector/ingest/housekeeping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/ingest/idle_report.h"
#include "collector/ingest/probe.h"
#include "common/clock.h"

enum {
	PROBE_IDLE_MS = 5000,	  /* when nothing was inserted for so long */
	MEASURE_MS = 3600 * 1000, /* what the server does is tried so often */
	CLOCK_OFF_MS = 60 * 1000  /* worth a remark */
};

void housekeeping_init(struct housekeeping *h, struct health *health)
{
	h->guarantee_health = health_register(health, "guarantee");
	health_say(h->guarantee_health, "not known yet");
	h->clock_health = health_register(health, "clock");
	health_up(h->clock_health);
}

/* --- partitions without events -----------------------------------------------
 */

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

static void report(struct housekeeping *h, int64_t now)
{
	struct idle_report *r;

	if (now < h->report_at || h->reporting || h->breaker->open ||
	    !connections_kafka_up(h->connections))
		return;
	h->report_at = now + h->config->collector.report_every;
	r = idle_report_new(h->partitions);
	if (!r)
		return;
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

/* --- ClickHouse --------------------------------------------------------------
 */

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
		/* This one has measured it. */
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

static void probe(struct housekeeping *h, int64_t now)
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
	p->job.run = probe_run;
	p->job.done = on_probed;
	p->housekeeping = h;
	h->probing = true;
	insert_workers_submit(h->workers, &p->job);
}

void housekeeping_update(struct housekeeping *h, int64_t now)
{
	report(h, now);
	probe(h, now);
}
