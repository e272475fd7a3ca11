#include "reclaimer/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/output.h"
#include "reclaimer/options.h"
#include "reclaimer/past_runs.h"
#include "reclaimer/reclaimer_config.h"
#include "reclaimer/run_result.h"
#include "reclaimer/space/space_run.h"
#include "reclaimer/space/tally.h"

/* --- metrics ----------------------------------------------------------------
 */

struct run_metrics {
	struct metric *freed, *live, *lost, *gap, *skipped, *sampled;
	struct tally reported; /* for the current space, so far */
};

static struct metric *register_block_counter(struct metrics *metrics,
					     const char *labels)
{
	return metrics_counter(metrics, "shortloop_reclaimer_blocks_total",
			       labels, "Blocks looked at, by what they were.");
}

static void register_bound_gauge(struct metrics *metrics, const char *name,
				 const char *help, int64_t value)
{
	metric_set(metrics_gauge(metrics, name, NULL, help), value);
}

static void register_metrics(struct run_metrics *m, struct metrics *metrics,
			     const struct reclaimer_settings *settings)
{
	*m = (struct run_metrics){
		.freed = register_block_counter(metrics, "result=\"freed\""),
		.live = register_block_counter(metrics, "result=\"live\""),
		.lost = register_block_counter(metrics, "result=\"lost\""),
		.gap = register_block_counter(metrics, "result=\"gap\""),
		.skipped =
			register_block_counter(metrics, "result=\"skipped\""),
		.sampled = metrics_counter(
			metrics, "shortloop_reclaimer_sampled_blocks_total",
			NULL, "Closed blocks whose links were looked up."),
	};
	register_bound_gauge(metrics, "shortloop_reclaimer_chunk_blocks_max",
			     "Setting reclaimer.chunk.", settings->chunk);
	register_bound_gauge(metrics, "shortloop_reclaimer_lost_blocks_max",
			     "Setting reclaimer.max_lost.", settings->max_lost);
	register_bound_gauge(metrics, "shortloop_reclaimer_lock_ttl_seconds",
			     "Setting reclaimer.lock_ttl.",
			     settings->lock_ttl / CLOCK_SECOND);
}

static void begin_metrics(struct run_metrics *m)
{
	m->reported = (struct tally){0};
}

static void update_metrics(struct run_metrics *m, const struct tally *tally)
{
	const struct tally *reported = &m->reported;

	metric_add(m->freed, tally->freed - reported->freed);
	metric_add(m->live, tally->live - reported->live);
	metric_add(m->lost, tally->lost - reported->lost);
	metric_add(m->gap, tally->gap - reported->gap);
	metric_add(m->skipped, tally->skipped - reported->skipped);
	metric_add(m->sampled, tally->sampled - reported->sampled);
	m->reported = *tally;
}

/* --- progress ---------------------------------------------------------------
 */

/* Progress of the run: a bar if stderr is a terminal, otherwise a line in the
 * log now and then. */
struct progress {
	struct log *log;
	int64_t every; /* ms between lines in the log */
	struct bar bar;
};

#define BAR_EVERY 100 /* ms */

static void progress_begin(struct progress *p, struct log *log,
			   const char *space, int64_t every)
{
	*p = (struct progress){.log = log, .every = every};
	bar_begin(&p->bar, space, "blocks");
}

static void draw_progress_bar(struct progress *p, const struct tally *tally,
			      uint64_t total)
{
	char more[64];

	snprintf(more, sizeof(more), "%" PRIu64 " freed, %" PRIu64 " live",
		 tally->freed, tally->live);
	bar_draw(&p->bar, tally->scanned, total, more);
}

static void progress_show(struct progress *p, const struct tally *tally,
			  uint64_t total)
{
	int64_t now = clock_monotonic_ms();
	int64_t elapsed = now - p->bar.started;
	double rate;

	if (now - p->bar.shown < (p->bar.terminal ? BAR_EVERY : p->every))
		return;
	p->bar.shown = now;
	if (p->bar.terminal) {
		draw_progress_bar(p, tally, total);
		return;
	}
	rate = elapsed ? (double)tally->scanned * 1000.0 / (double)elapsed : 0;
	log_info(p->log, "reclaiming", log_str("space", p->bar.label),
		 log_int("scanned", (int64_t)tally->scanned),
		 log_int("of", (int64_t)total),
		 log_int("freed", (int64_t)tally->freed),
		 log_int("live", (int64_t)tally->live),
		 log_int("blocks_per_second", (int64_t)rate),
		 log_int("seconds_left",
			 bar_seconds_left(tally->scanned, total, elapsed)));
}

static void progress_end(struct progress *p)
{
	bar_end(&p->bar);
}

struct run_command {
	struct app *app;
	const struct reclaimer_config *config;
	const struct options *options;
	struct linkstore *store;
	struct redis *redis;
	struct clock_check clock;
	struct health_check *redis_health;
	struct run_metrics metrics;
	struct progress progress;
	struct run_result *results;
	size_t count;
	const struct run_result *worst; /* the worst failed; NULL: none */
	bool interrupted;
};

/* --- summary ----------------------------------------------------------------
 */

/* Writes a row of the summary on stdout. */

static void add_row(struct table *t, const struct run_result *o)
{
	double rate =
		o->seconds > 0 ? (double)o->tally.scanned / o->seconds : 0;

	table_text(t, o->space);
	table_number(t, o->tally.scanned);
	table_number(t, o->tally.freed);
	table_number(t, o->tally.live);
	table_number(t, o->tally.lost);
	table_number(t, o->tally.gap);
	table_number(t, o->tally.skipped);
	table_decimal(t, o->seconds);
	table_number(t, (uint64_t)llround(rate));
}

static void print_notes(const struct run_command *run)
{
	if (run->options->dry_run)
		puts("A dry run: nothing was changed.");
	if (run->interrupted)
		puts("Interrupted: the next run goes on from here.");
	for (size_t i = 0; i < run->count; i++) {
		const struct run_result *o = &run->results[i];

		if (o->failed)
			printf("Stopped: %s\n", o->error.text);
	}
}

static int print_text(const struct run_command *run, struct error *err)
{
	struct table *t = table_new(
		run->options->dry_run
			? "space|>due|>would free|>live|>lost|>gap|>skipped|>"
			  "seconds|>blocks/s"
			: "space|>due|>freed|>live|>lost|>gap|>skipped|>"
			  "seconds|>blocks/s");

	for (size_t i = 0; i < run->count; i++)
		add_row(t, &run->results[i]);
	if (output_table(t, err) < 0)
		return -1;
	print_notes(run);
	return 0;
}

static json_t *result_json(const struct run_result *o)
{
	const struct tally *t = &o->tally;
	json_t *object = json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:b}", "space",
		o->space, "scanned", (json_int_t)t->scanned, "freed",
		(json_int_t)t->freed, "live", (json_int_t)t->live, "lost",
		(json_int_t)t->lost, "skipped", (json_int_t)t->skipped, "gap",
		(json_int_t)t->gap, "sampled", (json_int_t)t->sampled,
		"seconds", round(o->seconds * 1000) / 1000, "interrupted",
		(int)o->interrupted);

	if (o->failed)
		json_object_set_new(object, "error",
				    json_string(o->error.text));
	return object;
}

static int print_json(const struct run_command *run, struct error *err)
{
	json_t *spaces = json_array();

	for (size_t i = 0; i < run->count; i++)
		json_array_append_new(spaces, result_json(&run->results[i]));
	return output_json(json_pack("{s:b, s:b, s:o}", "dry_run",
				     (int)run->options->dry_run, "interrupted",
				     (int)run->interrupted, "spaces", spaces),
			   err);
}

/* --- spaces -----------------------------------------------------------------
 */

static bool on_pause(void *arg, const struct tally *tally, uint64_t total,
		     int timeout_ms)
{
	struct run_command *run = arg;

	health_up(run->redis_health);
	update_metrics(&run->metrics, tally);
	progress_show(&run->progress, tally, total);
	return app_should_stop(run->app, timeout_ms);
}

static void on_waiting(void *arg, const struct error *why)
{
	struct run_command *run = arg;

	log_info(app_log(run->app), "waiting for another run to end",
		 log_err(why));
}

static void run_space(struct run_command *run, const struct link_space *space,
		      struct run_result *o)
{
	const struct space_run job = {
		.settings = &run->config->reclaimer,
		.redis = run->redis,
		.clock = &run->clock,
		.space = space,
		.span = {run->options->from, run->options->until},
		.dry_run = run->options->dry_run,
		.rate = run->options->rate,
		.max_blocks = run->options->max_blocks,
		.wait = run->options->wait,
		.pause = on_pause,
		.waiting = on_waiting,
		.arg = run,
	};
	int64_t start = clock_monotonic_ns();

	*o = (struct run_result){.space = space->name,
				 .started = clock_real_ms()};
	begin_metrics(&run->metrics);
	progress_begin(&run->progress, app_log(run->app), space->name,
		       run->config->reclaimer.progress_every);
	o->failed = space_run(&job, &o->tally, &o->interrupted, &o->error) < 0;
	progress_end(&run->progress);
	update_metrics(&run->metrics, &o->tally);
	o->seconds = (double)(clock_monotonic_ns() - start) / 1e9;
	o->finished = clock_real_ms();
}

/* Returns true if the failure concerns this space only. */
static bool is_of_this_space(const struct error *err)
{
	return err->code == ERROR_UNSAFE || err->code == ERROR_BUSY ||
	       err->code == ERROR_NOT_OWNER || err->code == ERROR_DAMAGED ||
	       err->code == ERROR_CONFIG || err->code == ERROR_NOTFOUND;
}

/* Keeps the worst failure, which decides the exit status and is logged at the
 * end; logs the others. */
static void note_failure(struct run_command *run, const struct run_result *o)
{
	const struct run_result *lesser = o;

	if (o->error.code == ERROR_REMOTE)
		health_down(run->redis_health, o->error.text);
	if (!run->worst || error_is_worse(&o->error, &run->worst->error)) {
		lesser = run->worst;
		run->worst = o;
	}
	if (lesser)
		log_error(app_log(run->app), "failed",
			  log_str("space", lesser->space),
			  log_err(&lesser->error));
}

static int run_spaces(struct run_command *run, struct error *err)
{
	size_t spaces = linkstore_space_count(run->store);

	for (size_t i = 0; i < spaces && !run->interrupted; i++) {
		const struct link_space *space = linkstore_space(run->store, i);
		struct run_result *o = &run->results[run->count];

		if (run->options->space &&
		    space != linkstore_space_named(run->store,
						   run->options->space))
			continue;
		/* Links without a block need no reclaiming. */
		if (!link_space_has_blocks(space))
			continue;
		run_space(run, space, o);
		run->count++;
		run->interrupted = o->interrupted;
		if (!o->failed)
			continue;
		note_failure(run, o);
		if (!is_of_this_space(&o->error))
			break;
	}
	if (!run->worst)
		return 0;
	*err = run->worst->error;
	return -1;
}

static int print_summary(const struct run_command *run, struct error *err)
{
	return run->options->json ? print_json(run, err) : print_text(run, err);
}

/* The table is only for information: the blocks are free without it. */
static void record_run_results(const struct run_command *run)
{
	struct error err;

	if (run->options->dry_run || !run->config->reclaimer.record ||
	    !run->count)
		return;
	if (past_runs_write(&run->config->clickhouse, run->results, run->count,
			    &err) < 0)
		log_warn(app_log(run->app),
			 "this run is not recorded in reclaim_runs",
			 log_err(&err));
}

static int prepare_run(struct run_command *run, struct error *err)
{
	const struct options *options = run->options;
	const struct reclaimer_config *config = run->config;

	run->store = linkstore_new(&config->links, err);
	if (!run->store)
		return -1;
	if (options->space &&
	    !linkstore_space_named(run->store, options->space)) {
		error_set(err, ERROR_USAGE,
			  "--space: there is no space '%.40s' in the "
			  "configuration",
			  options->space);
		return -1;
	}
	if (options->space && !link_space_has_blocks(linkstore_space_named(
				      run->store, options->space))) {
		error_set(err, ERROR_USAGE,
			  "--space: %s has no blocks to reclaim: its links go "
			  "by themselves",
			  options->space);
		return -1;
	}
	run->redis =
		redis_new(&config->redis, linkstore_scripts(run->store), err);
	if (!run->redis)
		return -1;
	run->results = calloc(linkstore_space_count(run->store),
			      sizeof(*run->results));
	if (!run->results) {
		error_set_nomem(err);
		return -1;
	}
	run->clock.log = app_log(run->app);
	if (config->reclaimer.record)
		run->clock.clickhouse = &config->clickhouse;
	run->redis_health = health_register(app_health(run->app), "redis");
	register_metrics(&run->metrics, app_metrics(run->app),
			 &config->reclaimer);
	return app_serve_admin(run->app, config->reclaimer.admin, &config->http,
			       err);
}

int reclaimer_run(struct app *app, const void *config, struct error *err)
{
	struct options options;
	struct run_command run = {
		.app = app, .config = config, .options = &options};
	struct error ignored;
	int status = options_read(app, &options, err);

	if (status == 0)
		status = prepare_run(&run, err);
	if (status == 0) {
		status = run_spaces(&run, err);
		if (print_summary(&run, status < 0 ? &ignored : err) < 0)
			status = -1;
		record_run_results(&run);
	}
	free(run.results);
	redis_free(run.redis);
	linkstore_free(run.store);
	return status;
}
