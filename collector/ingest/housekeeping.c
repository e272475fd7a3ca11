/* ingest/housekeeping.c - what is done now and then, whether events come or not.  Internal
 * to ingest/collector.c. */
#include <stdio.h>
#include <stdlib.h>

#include "collector/ingest/flow.h"
#include "common/clock.h"

enum {
	MEASURE_MS = 3600 * 1000, /* what the server does is tried so often */
	CLOCK_OFF_MS = 60 * 1000  /* worth a remark */
};

static void on_reported(struct courier_job *job, void *arg)
{
	struct idle_report *r = (struct idle_report *)job;
	struct collector *c = arg;

	c->reporting = false;
	if (r->counted) {
		c->schedule.partitions[SINK_CLICKS] =
			r->partitions[SINK_CLICKS];
		c->schedule.partitions[SINK_LINKS] = r->partitions[SINK_LINKS];
		schedule_share(&c->schedule, &c->slots);
	}
	if (r->status < 0)
		log_debug(c->log, "idle partitions not reported",
			  log_err(&r->err));
	idle_report_free(r);
}

static void report(struct collector *c, int64_t now)
{
	struct idle_report *r;

	if (now < c->report_at || c->reporting || c->blocked ||
	    !atomic_load(&c->kafka_up))
		return;
	c->report_at = now + c->settings->report_every;
	r = idle_report_new(&c->slots);
	if (!r)
		return;
	r->job.done = on_reported;
	r->consumer = c->consumer;
	r->metrics = &c->metrics;
	r->collector = c->name;
	r->topics[SINK_CLICKS] = c->config->kafka.topic_clicks;
	r->topics[SINK_LINKS] = c->config->kafka.topic_links;
	c->reporting = true;
	couriers_submit(c->couriers, &r->job);
}

static void say_guarantee(struct collector *c, const struct guarantee *g)
{
	bool changed = strcmp(c->guarantee.text, g->text) != 0;

	c->guarantee = *g;
	metric_set(c->metrics.exactly_once, g->exactly_once);
	health_say(c->guarantee_health, g->text);
	if (changed && g->exactly_once)
		log_info(c->log, "guarantee", log_str("holds", g->text));
	else if (changed)
		log_warn(c->log, "guarantee", log_str("holds", g->text));
}

static void say_clock(struct collector *c, int64_t ahead_ms)
{
	bool wrong = ahead_ms > CLOCK_OFF_MS || ahead_ms < -CLOCK_OFF_MS;
	char text[100];

	metric_set(c->metrics.clock_ahead, ahead_ms / 1000);
	if (!wrong) {
		health_up(c->clock_health);
		c->clock_wrong = false;
		return;
	}
	snprintf(text, sizeof(text),
		 "this host's is %lld s %s ClickHouse's; nothing goes by it",
		 llabs((long long)ahead_ms / 1000),
		 ahead_ms > 0 ? "ahead of" : "behind");
	health_say(c->clock_health, text);
	if (!c->clock_wrong)
		log_warn(c->log, "clocks differ", log_str("clock", text));
	c->clock_wrong = true;
}

static void on_probed(struct courier_job *job, void *arg)
{
	struct idle_probe *p = (struct idle_probe *)job;
	struct collector *c = arg;

	c->probing = false;
	if (p->status == 0) {
		c->measured = p->measured;
		say_guarantee(c, &p->guarantee);
		if (p->clock_known)
			say_clock(c, p->clock_ahead_ms);
		flow_clickhouse_is_up(c);
		c->probe_at = clock_monotonic_ms() + IDLE_PROBE_MS;
	} else {
		flow_clickhouse_is_down(c, &p->err);
	}
	free(p);
}

static void probe(struct collector *c, int64_t now)
{
	struct idle_probe *p;

	if (now < c->probe_at || c->probing || c->blocked)
		return;
	c->probe_at = now + CLOCK_SECOND;
	p = calloc(1, sizeof(*p));
	if (!p)
		return;
	if (now < c->measure_at)
		p->measured = c->measured;
	else
		c->measure_at = now + MEASURE_MS;
	p->job.run = idle_probe_run;
	p->job.done = on_probed;
	c->probing = true;
	couriers_submit(c->couriers, &p->job);
}

void upkeep_look(struct collector *c, int64_t now)
{
	report(c, now);
	probe(c, now);
}
