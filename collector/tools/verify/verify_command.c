/*
 * verify_command.c - `collector verify`: is every event that Kafka got counted
 * once?
 *
 * Per partition, what Kafka holds against the rows of ClickHouse and the dead
 * letters, offset by offset; times against ClickHouse's clock; then what was
 * settled against the rows.  Changes nothing, and may run while everything else
 * does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/commands.h"
#include "collector/exactly_once/stored.h"
#include "collector/tools/verify/verify_report.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

#define FINDINGS_NAMED 100000 /* 5 MB of them */
#define PARTITIONS_MAX 100000
/* A letter is put away after its event was stored, by another clock. */
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

/* By ClickHouse's clock: that of a host which is slow would leave out what came
 * last. */
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

/* --- the work ------------------------------------------------------------- */

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
	return v->reader ? window_init(&v->window, err) : -1;
}

static bool on_letters(void *arg)
{
	struct verify *v = arg;

	bar_show(&v->bar, v->letters.read, 0);
	return app_should_stop(v->app, 0);
}

static int read_letters(struct verify *v, struct error *err)
{
	uint32_t partitions = v->partitions;

	for (size_t i = 0; i < v->span_count; i++)
		if (v->spans[i].where.partition >= partitions &&
		    v->spans[i].where.partition < PARTITIONS_MAX)
			partitions = v->spans[i].where.partition + 1;
	bar_begin(&v->bar, "dead letters", "letters");
	return letters_read(&v->letters, v->reader, v->config->kafka.topic_dlq,
			    v->topic, partitions,
			    v->from > LETTER_MARGIN ? v->from - LETTER_MARGIN
						    : 0,
			    on_letters, v, err);
}

static int check_spans(struct verify *v, struct error *err)
{
	int status = 0;

	bar_begin(&v->bar, v->label, "offsets");
	for (size_t i = 0; status == 0 && i < v->span_count; i++) {
		struct span *span = &v->spans[i];

		snprintf(v->label, sizeof(v->label), "partition %" PRIu32,
			 span->where.partition);
		status = span->held ? verify_held(v, span, err)
				    : verify_told(v, span, err);
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
		if (v->spans[i].held && v->spans[i].newest)
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

static int run(struct verify *v, struct error *err)
{
	/* What is due is asked for first, the letters after it: what is due has
	 * its letter by then. */
	if (open_parts(v, err) < 0 || end_range(v, err) < 0 ||
	    verify_plan(v, err) < 0 || read_letters(v, err) < 0 ||
	    check_spans(v, err) < 0 || check_clocks(v, err) < 0)
		return -1;
	return v->links ? 0 : check_settled(v, err);
}

static void close_parts(struct verify *v)
{
	kafka_reader_free(v->reader);
	kafka_reader_free(v->again);
	clickhouse_free(v->ask.ch);
	ask_release(&v->ask);
	letters_free(&v->letters);
	window_release(&v->window);
	findings_release(&v->findings);
	settled_free(&v->settled);
	clocks_free(&v->clocks);
	free(v->spans);
	free(v->epochs);
}

int collector_verify(struct app *app, const struct collector_config *config,
		     struct error *err)
{
	struct verify v = {.app = app,
			   .config = config,
			   .show_all = app_option_value(app, "all") != NULL,
			   .findings = {.max = FINDINGS_NAMED}};
	int64_t start = clock_monotonic_ms();
	double seconds;
	int status;

	if (read_range(&v, err) < 0 || read_topic(&v, err) < 0)
		return -1;
	status = run(&v, err);
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
