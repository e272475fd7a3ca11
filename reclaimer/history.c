#include "reclaimer/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/output.h"
#include "linkstore/config_check.h"
#include "reclaimer/options.h"
#include "reclaimer/past_runs.h"
#include "reclaimer/reclaimer_config.h"

#define DAYS	      7 /* default of --days */
#define RUNS_MAX_TEXT 100
#define RUNS_MAX_JSON 10000

/* The query, and reasons why fewer runs may be found than there were. */
struct history {
	struct run_query query;
	bool recording; /* runs are recorded at present */
	bool unknown;	/* --space names a space that is not configured */
};

/* --- text ---------------------------------------------------------------- */

static void add_sums(struct table *t, const struct run_sums *s)
{
	table_number(t, s->scanned);
	table_number(t, s->freed);
	table_number(t, s->live);
	table_number(t, s->lost);
	table_number(t, s->gap);
	table_number(t, s->skipped);
	table_decimal(t, s->seconds);
}

static int print_runs(const struct run_rows *rows, struct error *err)
{
	struct table *t =
		table_new("started|space|>scanned|>freed|>live|>lost|>gap|>"
			  "skipped|>seconds|result");

	for (size_t i = 0; i < rows->run_count; i++) {
		const struct run_row *r = &rows->runs[i];

		table_text(t, r->started);
		table_text(t, r->space);
		add_sums(t, &r->sums);
		table_text(t, *r->error	       ? r->error
			      : r->interrupted ? "interrupted"
					       : "ok");
	}
	return output_table(t, err);
}

static int print_days(const struct run_rows *rows, struct error *err)
{
	struct table *t =
		table_new("day (UTC)|space|>runs|>failed|>scanned|>freed|>live|"
			  ">lost|>gap|>skipped|>seconds");

	for (size_t i = 0; i < rows->day_count; i++) {
		const struct day_row *d = &rows->days[i];

		table_text(t, d->day);
		table_text(t, d->space);
		table_number(t, d->runs);
		table_number(t, d->failed);
		add_sums(t, &d->sums);
	}
	return output_table(t, err);
}

static void print_notes(const struct history *h)
{
	if (!h->recording)
		puts("Runs are not recorded at present: reclaimer.record is "
		     "off.");
	if (h->unknown)
		printf("Space %s is not in the configuration.\n",
		       h->query.space);
}

static int print_text(const struct history *h, const struct run_rows *rows,
		      struct error *err)
{
	print_notes(h);
	if (!rows->day_count) {
		printf("No run is recorded in the last %" PRIu64 " days.\n",
		       h->query.days);
		return 0;
	}
	if (print_runs(rows, err) < 0)
		return -1;
	if (rows->run_total > rows->run_count)
		printf("and %" PRIu64 " runs before these\n",
		       rows->run_total - rows->run_count);
	puts("\nBy day, in blocks:");
	return print_days(rows, err);
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *sums_json(const struct run_sums *s)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f}", "scanned",
			 (json_int_t)s->scanned, "freed", (json_int_t)s->freed,
			 "live", (json_int_t)s->live, "lost",
			 (json_int_t)s->lost, "gap", (json_int_t)s->gap,
			 "skipped", (json_int_t)s->skipped, "seconds",
			 round(s->seconds * 1000) / 1000);
}

static json_t *run_json(const struct run_row *r)
{
	json_t *o = sums_json(&r->sums);

	json_object_set_new(o, "space", json_string(r->space));
	json_object_set_new(o, "started", json_string(r->started));
	json_object_set_new(o, "interrupted", json_boolean(r->interrupted));
	json_object_set_new(o, "error", json_string(r->error));
	json_object_set_new(o, "host", json_string(r->host));
	return o;
}

static json_t *day_json(const struct day_row *d)
{
	json_t *o = sums_json(&d->sums);

	json_object_set_new(o, "space", json_string(d->space));
	json_object_set_new(o, "day", json_string(d->day));
	json_object_set_new(o, "runs", json_integer((json_int_t)d->runs));
	json_object_set_new(o, "failed", json_integer((json_int_t)d->failed));
	return o;
}

static int print_json(const struct history *h, const struct run_rows *rows,
		      struct error *err)
{
	json_t *runs = json_array(), *days = json_array();

	for (size_t i = 0; i < rows->run_count; i++)
		json_array_append_new(runs, run_json(&rows->runs[i]));
	for (size_t i = 0; i < rows->day_count; i++)
		json_array_append_new(days, day_json(&rows->days[i]));
	return output_json(json_pack("{s:I, s:b, s:b, s:o, s:o}", "total",
				     (json_int_t)rows->run_total, "recording",
				     (int)h->recording, "configured",
				     (int)!h->unknown, "runs", runs, "days",
				     days),
			   err);
}

static int print_history(const struct reclaimer_config *config,
			 const struct options *options, struct error *err)
{
	const struct history h = {
		.query = {.space = options->space,
			  .days = options->days ? options->days : DAYS,
			  .runs_max = options->json ? RUNS_MAX_JSON
						    : RUNS_MAX_TEXT},
		.recording = config->reclaimer.record,
		.unknown =
			options->space &&
			!links_config_has_space(&config->links, options->space),
	};
	struct run_rows rows = {0};
	struct clickhouse *ch = clickhouse_new(&config->clickhouse, err);
	int status = ch ? past_runs_by_day(ch, &h.query, &rows, err) : -1;

	if (status == 0)
		status = options->json ? print_json(&h, &rows, err)
				       : print_text(&h, &rows, err);
	past_runs_free(&rows);
	clickhouse_free(ch);
	return status;
}

int reclaimer_history(struct app *app, const void *config, struct error *err)
{
	struct options options;

	if (options_read(app, &options, err) < 0)
		return -1;
	return print_history(config, &options, err);
}
