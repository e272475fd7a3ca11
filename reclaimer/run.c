#include "reclaimer/run.h"

#include <stdlib.h>

#include "common/clock.h"
#include "reclaimer/counts.h"
#include "reclaimer/history.h"
#include "reclaimer/outcome.h"
#include "reclaimer/show/progress.h"
#include "reclaimer/show/report.h"
#include "reclaimer/space/space_run.h"

struct job {
	struct app *app;
	const struct reclaimer_config *config;
	const struct options *options;
	struct linkstore *store;
	struct redis *redis;
	struct health_check *redis_health;
	struct counts counts;
	struct progress progress;
	struct outcome *outcomes;
	size_t count;
	bool interrupted;
};

static bool on_pause(void *arg, const struct tally *tally, uint64_t total,
		     int timeout_ms)
{
	struct job *job = arg;

	health_up(job->redis_health);
	counts_update(&job->counts, tally);
	progress_show(&job->progress, tally, total);
	return app_should_stop(job->app, timeout_ms);
}

static void on_waiting(void *arg, const struct error *why)
{
	struct job *job = arg;

	log_info(app_log(job->app), "waiting for another run to end",
		 log_err(why));
}

static void run_space(struct job *job, const struct link_space *space,
		      struct outcome *o)
{
	struct space_run run = {
		.settings = &job->config->reclaimer,
		.redis = job->redis,
		.space = space,
		.span = {job->options->from, job->options->until},
		.dry_run = job->options->dry_run,
		.rate = job->options->rate,
		.max_blocks = job->options->max_blocks,
		.wait = job->options->wait,
		.pause = on_pause,
		.waiting = on_waiting,
		.arg = job,
	};
	int64_t start = clock_monotonic_ns();

	*o = (struct outcome){.space = space->name, .started = clock_real_ms()};
	counts_next_space(&job->counts);
	progress_begin(&job->progress, app_log(job->app), space->name,
		       job->config->reclaimer.progress_every);
	o->failed = space_run(&run, &o->tally, &o->interrupted, &o->error) < 0;
	progress_end(&job->progress);
	counts_update(&job->counts, &o->tally);
	o->seconds = (double)(clock_monotonic_ns() - start) / 1e9;
	o->finished = clock_real_ms();
}

/* True when the other spaces may fare better. */
static bool is_of_this_space(const struct error *err)
{
	return err->code == ERROR_UNSAFE || err->code == ERROR_BUSY ||
	       err->code == ERROR_CONFIG || err->code == ERROR_NOTFOUND;
}

/* Keeps the first failure, which decides the exit status and is logged at the
 * end, and logs the others. */
static int note(struct job *job, const struct outcome *o, int status,
		struct error *err)
{
	if (!o->failed)
		return status;
	if (o->error.code == ERROR_REMOTE)
		health_down(job->redis_health, o->error.text);
	if (status == 0)
		*err = o->error;
	else
		log_error(app_log(job->app), "failed",
			  log_str("space", o->space), log_err(&o->error));
	return -1;
}

static int run_spaces(struct job *job, struct error *err)
{
	size_t spaces = linkstore_space_count(job->store);
	int status = 0;

	for (size_t i = 0; i < spaces && !job->interrupted; i++) {
		const struct link_space *space = linkstore_space(job->store, i);
		struct outcome *o = &job->outcomes[job->count];

		if (job->options->space &&
		    space != linkstore_space_named(job->store,
						   job->options->space))
			continue;
		/* Links without a block go by themselves. */
		if (!link_space_has_blocks(space))
			continue;
		run_space(job, space, o);
		job->count++;
		job->interrupted = o->interrupted;
		status = note(job, o, status, err);
		if (o->failed && !is_of_this_space(&o->error))
			break;
	}
	return status;
}

static int report(const struct job *job, struct error *err)
{
	struct report report = {job->outcomes, job->count,
				job->options->dry_run, job->interrupted};

	return job->options->json ? report_json(&report, err)
				  : report_text(&report, err);
}

/* The archive is for people: without it the blocks are as free. */
static void record(const struct job *job)
{
	struct error err;

	if (job->options->dry_run || !job->config->reclaimer.record ||
	    !job->count)
		return;
	if (history_write(&job->config->clickhouse, job->outcomes, job->count,
			  &err) < 0)
		log_warn(app_log(job->app),
			 "this run is not recorded in reclaim_runs",
			 log_err(&err));
}

static int prepare(struct job *job, struct error *err)
{
	const struct options *options = job->options;
	const struct reclaimer_config *config = job->config;

	job->store = linkstore_new(&config->links, err);
	if (!job->store)
		return -1;
	if (options->space &&
	    !linkstore_space_named(job->store, options->space)) {
		error_set(err, ERROR_USAGE,
			  "--space: there is no space '%.40s' in the "
			  "configuration",
			  options->space);
		return -1;
	}
	if (options->space && !link_space_has_blocks(linkstore_space_named(
				      job->store, options->space))) {
		error_set(err, ERROR_USAGE,
			  "--space: %s has no blocks to reclaim: its links go "
			  "by themselves",
			  options->space);
		return -1;
	}
	job->redis = redis_new(&config->redis, err);
	if (!job->redis)
		return -1;
	job->outcomes = calloc(linkstore_space_count(job->store),
			       sizeof(*job->outcomes));
	if (!job->outcomes) {
		error_set_nomem(err);
		return -1;
	}
	job->redis_health = health_register(app_health(job->app), "redis");
	counts_register(&job->counts, app_metrics(job->app),
			&config->reclaimer);
	return app_serve_admin(job->app, config->reclaimer.admin, &config->http,
			       err);
}

int reclaimer_run(struct app *app, const struct reclaimer_config *config,
		  const struct options *options, struct error *err)
{
	struct job job = {.app = app, .config = config, .options = options};
	struct error ignored;
	int status = prepare(&job, err);

	if (status == 0) {
		status = run_spaces(&job, err);
		if (report(&job, status < 0 ? &ignored : err) < 0)
			status = -1;
		record(&job);
	}
	free(job.outcomes);
	redis_free(job.redis);
	linkstore_free(job.store);
	return status;
}
