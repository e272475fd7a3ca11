#include "reclaimer/verify/verify_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "linkstore/space/record.h"
#include "linkstore/space/sight.h"
#include "reclaimer/hand/who.h"
#include "reclaimer/session.h"
#include "reclaimer/verify/archive_links.h"
#include "reclaimer/verify/link_survey.h"
#include "reclaimer/verify/repair.h"
#include "reclaimer/verify/verify_report.h"

/* Long enough for the archive to answer in. */
#define REPAIR_LOCK_TTL CLOCK_MINUTE

struct verify {
	struct app *app;
	const struct reclaimer_config *config;
	const struct options *options;
	struct session session;
	struct clickhouse *archive; /* NULL without --repair */
	const char *space;
	const char *unit; /* of progress: "blocks", "keys" */
	bool bar;
	int64_t shown; /* monotonic ms */
};

/* --- progress ------------------------------------------------------------- */

#define BAR_EVERY 100 /* ms */

static bool on_pause(void *arg, uint64_t done, uint64_t total, int timeout_ms)
{
	struct verify *v = arg;
	int64_t now = clock_monotonic_ms();
	int percent = total && done < total
			      ? (int)(100.0 * (double)done / (double)total)
			      : 100;

	if (v->bar && now - v->shown >= BAR_EVERY) {
		v->shown = now;
		fprintf(stderr, "\r\033[K%s %3d%%  %" PRIu64 " %s", v->space,
			percent, done, v->unit);
	} else if (!v->bar &&
		   now - v->shown >= v->config->reclaimer.progress_every) {
		v->shown = now;
		log_info(app_log(v->app), "verifying",
			 log_str("space", v->space),
			 log_int(v->unit, (int64_t)done),
			 log_int("percent", percent));
	}
	return app_should_stop(v->app, timeout_ms);
}

static void end_progress(const struct verify *v)
{
	if (v->bar)
		fputs("\r\033[K", stderr);
}

/* --- one space ------------------------------------------------------------ */

/* Evictions are a finding to those who look, and a refusal to those who would
 * change something. */
static int check_sight(const struct verify *v, struct survey *s,
		       struct error *err)
{
	struct finding f = {.trouble = TROUBLE_EVICTS};
	struct error why;

	if (reclaim_check_sight(s->redis, s->space, &why) == 0)
		return 0;
	if (why.code != ERROR_UNSAFE || v->options->repair) {
		*err = why;
		return -1;
	}
	snprintf(f.detail, sizeof(f.detail), "%.*s", FINDING_DETAIL_MAX - 1,
		 why.text);
	return findings_add(&s->findings, &f, err);
}

static int repair(struct verify *v, struct survey *s, struct verified *result,
		  struct error *err)
{
	char who[HAND_WHO_MAX];
	struct repair r = {
		.survey = s,
		.lock = s->lock,
		.archive = v->archive,
		.note = {who, "reclaimer verify --repair"},
	};
	int status;

	who_am_i(who);
	status = repair_run(&r, err);
	result->freed = r.freed;
	result->kept = r.kept;
	result->repaired = status == 0;
	return status;
}

static int look(struct verify *v, struct survey *s, struct verified *result,
		struct error *err)
{
	struct space_movement space;

	v->unit = "blocks";
	/* What is gone for good is no finding: nothing can be said. */
	if (space_read_movement(s->redis, s->space, &space, err) < 0 ||
	    space_check(s->redis, s->space, SPACE_TO_RECLAIM, err) < 0 ||
	    check_sight(v, s, err) < 0)
		return -1;
	result->survey = s;
	if (survey_run(s, err) < 0)
		return -1;
	if (v->options->deep) {
		v->unit = "keys";
		result->deep = true;
		if (link_survey(s, &result->links, err) < 0)
			return -1;
	}
	return v->options->repair ? repair(v, s, result, err) : 0;
}

static int verify_space(struct verify *v, struct survey *s,
			struct verified *result)
{
	int64_t start = clock_monotonic_ms();
	struct reclaim_lock lock;
	struct error unlock;
	int status = 0;

	v->space = s->space->name;
	v->shown = start;
	*result = (struct verified){.space = s->space->name};
	if (v->options->repair) {
		status = reclaim_lock_take(s->redis, s->space, REPAIR_LOCK_TTL,
					   &lock, &result->error);
		if (status == 0)
			s->lock = &lock;
	}
	if (status == 0)
		status = look(v, s, result, &result->error);
	if (s->lock)
		reclaim_lock_release(s->redis, s->lock, &unlock);
	s->lock = NULL;
	end_progress(v);
	result->failed = status < 0;
	result->seconds = (double)(clock_monotonic_ms() - start) / 1000.0;
	return status;
}

/* --- all spaces ----------------------------------------------------------- */

static struct survey *
survey_new(struct verify *v, const struct link_space *space, struct error *err)
{
	struct survey *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->redis = v->session.redis;
	s->space = space;
	s->rate = v->options->rate;
	s->pause = on_pause;
	s->arg = v;
	s->wants_lost = v->options->repair;
	return s;
}

/* Keeps the first failure; 1 when there are findings. */
static int verify_spaces(struct verify *v, struct survey **surveys,
			 struct verified *results, struct error *err)
{
	int status = 0;

	for (size_t i = 0; i < v->session.space_count; i++) {
		surveys[i] = survey_new(v, v->session.spaces[i], err);
		if (!surveys[i])
			return -1;
		if (verify_space(v, surveys[i], &results[i]) < 0) {
			if (status >= 0)
				*err = results[i].error;
			status = -1;
		} else if (findings_left(&surveys[i]->findings) &&
			   status == 0) {
			status = 1;
		}
	}
	return status;
}

static int verify_and_tell(struct verify *v, struct error *err)
{
	size_t count = v->session.space_count;
	struct survey **surveys = calloc(count + 1, sizeof(void *));
	struct verified *results = calloc(count + 1, sizeof(*results));
	struct error ignored;
	int status = -1;

	if (!surveys || !results) {
		error_set_nomem(err);
		goto out;
	}
	status = verify_spaces(v, surveys, results, err);
	if ((v->options->json ? verify_json : verify_text)(
		    results, count, status < 0 ? &ignored : err) < 0)
		status = -1;
out:
	for (size_t i = 0; surveys && i < count; i++) {
		if (surveys[i])
			survey_free(surveys[i]);
		free(surveys[i]);
	}
	free(surveys);
	free(results);
	return status;
}

static int open_archive(struct verify *v, struct error *err)
{
	if (!v->options->repair)
		return 0;
	v->archive = clickhouse_new(&v->config->clickhouse, err);
	return v->archive ? archive_probe(v->archive, err) : -1;
}

int reclaimer_verify(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err)
{
	struct verify v = {
		.app = app,
		.config = config,
		.options = options,
		.bar = isatty(STDERR_FILENO),
	};
	int status = session_open(&v.session, config, options, err);

	if (status == 0)
		status = open_archive(&v, err);
	if (status == 0)
		status = verify_and_tell(&v, err);
	clickhouse_free(v.archive);
	session_close(&v.session);
	return status;
}
