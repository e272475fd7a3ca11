#include "collector/ingest/probe.h"

#include <stdio.h>

#include "collector/exactly_once/stored.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* Until it is known, or the server was another one meanwhile. */
static int measure(struct probe *p, struct sink *sink, struct error *err)
{
	bool known = p->measured.done || *p->measured.why;

	return known ? 0 : measure_tokens(sink, &p->measured, err);
}

/* Nothing goes by this host's clock but the log; who reads that should know. */
static void compare_clocks(struct probe *p, struct sink *sink)
{
	int64_t before = clock_real_ms(), server;
	struct error err = {0};

	if (clickhouse_now(sink_server(sink), &server, &err) < 0)
		return;
	p->clock_known = true;
	p->clock_ahead_ms = before + (clock_real_ms() - before) / 2 - server;
}

void probe_run(struct insert_job *job, struct sink *sink)
{
	struct probe *p = (struct probe *)job;
	struct error err = {0};

	p->status = sink_probe(sink, &p->err);
	if (p->status == 0)
		compare_clocks(p, sink);
	if (p->status == 0 &&
	    (measure(p, sink, &err) < 0 ||
	     guarantee_probe(sink, &p->measured, &p->guarantee, &err) < 0))
		snprintf(p->guarantee.text, sizeof(p->guarantee.text),
			 "not known: %.150s", err.text);
}
