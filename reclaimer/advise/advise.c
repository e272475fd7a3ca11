#include "reclaimer/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/output.h"
#include "linkstore/space/space_record.h"
#include "reclaimer/advise/advice.h"
#include "reclaimer/advise/sampling.h"
#include "reclaimer/session.h"

struct advised {
	const struct sampling *sampling;
	struct advice advice;
};

/* --- text ---------------------------------------------------------------- */

static void put_percent_with_error(struct table *t, const struct estimate *e)
{
	char text[48];

	snprintf(text, sizeof(text), "%.1f +- %.1f", 100 * e->mean,
		 100 * e->error);
	table_text(t, text);
}

static void put_number_with_error(struct table *t, double number, double error)
{
	char text[64];

	if (error > 0)
		snprintf(text, sizeof(text), "%.0f +- %.0f", number, error);
	else
		snprintf(text, sizeof(text), "%.0f", number);
	table_text(t, text);
}

/* Writes it in the largest unit that it has at least two of. */
static void wait_for(struct table *t, double ms)
{
	static const int64_t units[] = {CLOCK_DAY, CLOCK_HOUR, CLOCK_MINUTE,
					CLOCK_SECOND};
	char text[DURATION_TEXT_MAX];
	size_t i = 0;

	if (ms < 0) {
		table_text(t, "-");
		return;
	}
	while (units[i] > CLOCK_SECOND && ms < 2 * (double)units[i])
		i++;
	table_text(t, duration_format((int64_t)round(ms / (double)units[i]) *
					      units[i],
				      text));
}

static int print_sizes(const struct advice *a, struct error *err)
{
	struct table *t =
		table_new("block size||trapped %|codes given back|>markers|"
			  ">marker MiB|>reads/day|>read s/day|>opens/million|"
			  "waiting for the end");

	for (size_t i = 0; i < a->size_count; i++) {
		const struct size_advice *s = &a->sizes[i];
		char size[16];

		snprintf(size, sizeof(size), "%" PRIu32, s->size);
		table_text(t, size);
		table_text(t, i == a->best && a->enough ? "advised"
			      : i == a->present		? "now"
							: "");
		put_percent_with_error(t, &s->trapped);
		put_number_with_error(t, s->given_back,
				      i == a->present ? 0
						      : s->given_back_error);
		table_number(t, (uint64_t)llround(s->markers));
		table_decimal(t, s->marker_bytes / 1048576);
		table_number(t, (uint64_t)llround(s->reads_per_day));
		table_decimal(t, s->read_seconds_per_day);
		table_number(t, (uint64_t)llround(s->opens_per_million));
		wait_for(t, s->wait);
	}
	return output_table(t, err);
}

static int print_intervals(const struct advice *a, struct error *err)
{
	struct table *t = table_new("scan every||from end to reuse|>codes idle|"
				    ">runs/day");

	for (size_t i = 0; i < INTERVALS; i++) {
		const struct interval_advice *it = &a->intervals[i];

		wait_for(t, (double)it->interval);
		table_text(t, i == a->best_interval ? "advised" : "");
		wait_for(t, it->delay);
		table_number(t, (uint64_t)llround(it->idle));
		table_decimal(t, it->runs_per_day);
	}
	return output_table(t, err);
}

static int print_text(const struct advised *spaces, size_t count,
		      struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct sampling *s = spaces[i].sampling;
		const struct advice *a = &spaces[i].advice;

		printf("%sspace %s: %" PRIu64 " live blocks looked into, of "
		       "about %.0f; %.0f blocks reclaimed a day\n\n",
		       i ? "\n" : "", s->space->name, s->figures.blocks,
		       a->live_blocks, a->freed_per_day);
		if (print_sizes(a, err) < 0)
			return -1;
		printf("\nBlock size: %s.\n", a->size_reason);
		if (a->best != a->present)
			puts("It is fixed when a space is created: take it for "
			     "the next one.");
		putchar('\n');
		if (print_intervals(a, err) < 0)
			return -1;
		printf("\nScan: %s.\n", a->interval_reason);
	}
	return 0;
}

/* --- JSON ---------------------------------------------------------------- */

static json_t *number_json(double value)
{
	return json_real(round(value * 1e6) / 1e6);
}

static json_t *size_json(const struct size_advice *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "block_size", json_integer(s->size));
	json_object_set_new(o, "trapped", number_json(s->trapped.mean));
	json_object_set_new(o, "trapped_error", number_json(s->trapped.error));
	json_object_set_new(o, "codes_given_back", number_json(s->given_back));
	json_object_set_new(o, "codes_given_back_error",
			    number_json(s->given_back_error));
	json_object_set_new(o, "markers", number_json(s->markers));
	json_object_set_new(o, "marker_bytes", number_json(s->marker_bytes));
	json_object_set_new(o, "reads_per_day", number_json(s->reads_per_day));
	json_object_set_new(o, "read_seconds_per_day",
			    number_json(s->read_seconds_per_day));
	json_object_set_new(o, "opens_per_million_links",
			    number_json(s->opens_per_million));
	json_object_set_new(o, "wait_seconds",
			    s->wait < 0 ? json_null()
					: number_json(s->wait / 1000));
	return o;
}

static json_t *interval_json(const struct interval_advice *i)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "interval_seconds",
			 (double)i->interval / 1000, "reuse_delay_seconds",
			 i->delay / 1000, "codes_idle", i->idle, "runs_per_day",
			 i->runs_per_day);
}

static json_t *space_json(const struct advised *it)
{
	const struct sampling *s = it->sampling;
	const struct advice *a = &it->advice;
	json_t *sizes = json_array(), *intervals = json_array(), *o;

	for (size_t i = 0; i < a->size_count; i++)
		json_array_append_new(sizes, size_json(&a->sizes[i]));
	for (size_t i = 0; i < INTERVALS; i++)
		json_array_append_new(intervals,
				      interval_json(&a->intervals[i]));
	o = json_pack("{s:s, s:I, s:I, s:I, s:f, s:f}", "space", s->space->name,
		      "sampled", (json_int_t)s->figures.blocks, "live_codes",
		      (json_int_t)s->figures.live_codes, "block_size",
		      (json_int_t)s->figures.block_size, "live_blocks",
		      a->live_blocks, "freed_per_day", a->freed_per_day);
	json_object_set_new(o, "sizes", sizes);
	json_object_set_new(o, "intervals", intervals);
	json_object_set_new(
		o, "advice",
		json_pack(
			"{s:b, s:I, s:s, s:f, s:s}", "enough", (int)a->enough,
			"block_size", (json_int_t)a->sizes[a->best].size,
			"block_size_reason", a->size_reason, "interval_seconds",
			(double)a->intervals[a->best_interval].interval / 1000,
			"interval_reason", a->interval_reason));
	return o;
}

static int print_json(const struct advised *spaces, size_t count,
		      struct error *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, space_json(&spaces[i]));
	return output_json(json_pack("{s:o}", "spaces", list), err);
}

/* --- sampling --------------------------------------------------------------
 */

#define SAMPLE 200 /* blocks */

struct advise_job {
	struct session session;
	struct sampling *samplings;
	struct advised *advised;
};

static bool on_pause(void *arg, uint64_t blocks, uint64_t wanted)
{
	struct advise_job *job = arg;

	(void)blocks;
	(void)wanted;
	return app_should_stop(job->session.app, 0);
}

static int advise_space(struct advise_job *job, size_t i, uint64_t wanted,
			struct error *err)
{
	const struct link_space *space = job->session.spaces[i];
	struct sampling *s = &job->samplings[i];
	struct space_ledger ledger;

	*s = (struct sampling){
		.redis = job->session.redis,
		.space = space,
		.wanted = wanted,
		.pause = on_pause,
		.arg = job,
	};
	if (space_check(s->redis, space, SPACE_TO_RECLAIM, err) < 0 ||
	    sampling_run(s, err) < 0 ||
	    space_read_ledger(s->redis, space, &ledger, err) < 0)
		return -1;
	job->advised[i].sampling = s;
	advice_make(s, &ledger, &job->advised[i].advice);
	return 0;
}

static int advise_spaces(struct advise_job *job, struct error *err)
{
	const struct options *options = &job->session.options;
	size_t count = job->session.space_count;
	uint64_t wanted = options->sample ? options->sample : SAMPLE;

	job->samplings = calloc(count + 1, sizeof(*job->samplings));
	job->advised = calloc(count + 1, sizeof(*job->advised));
	if (!job->samplings || !job->advised)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (advise_space(job, i, wanted, err) < 0)
			return -1;
	return (options->json ? print_json : print_text)(job->advised, count,
							 err);
}

int reclaimer_advise(struct app *app, const void *config, struct error *err)
{
	struct advise_job job = {0};
	int status = session_open(&job.session, app, config, err);

	if (status == 0)
		status = advise_spaces(&job, err);
	free(job.samplings);
	free(job.advised);
	session_close(&job.session);
	return status;
}
