#include "reclaimer/advise/advise_command.h"

#include <stdlib.h>

#include "linkstore/space/record.h"
#include "reclaimer/advise/advice_report.h"
#include "reclaimer/session.h"

#define SAMPLE 200 /* blocks */

struct job {
	struct app *app;
	struct session session;
	struct sampling *samplings;
	struct advised *advised;
};

static bool on_pause(void *arg, uint64_t blocks, uint64_t wanted)
{
	struct job *job = arg;

	(void)blocks;
	(void)wanted;
	return app_should_stop(job->app, 0);
}

static int advise_space(struct job *job, size_t i, uint64_t wanted,
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
	advise(s, &ledger, &job->advised[i].advice);
	return 0;
}

static int run(struct job *job, const struct options *options,
	       struct error *err)
{
	size_t count = job->session.space_count;
	uint64_t wanted = options->sample ? options->sample : SAMPLE;

	job->samplings = calloc(count + 1, sizeof(*job->samplings));
	job->advised = calloc(count + 1, sizeof(*job->advised));
	if (!job->samplings || !job->advised)
		return error_set_nomem(err);
	for (size_t i = 0; i < count; i++)
		if (advise_space(job, i, wanted, err) < 0)
			return -1;
	return (options->json ? advice_json : advice_text)(job->advised, count,
							   err);
}

int reclaimer_advise(struct app *app, const struct reclaimer_config *config,
		     const struct options *options, struct error *err)
{
	struct job job = {.app = app};
	int status = session_open(&job.session, config, options, err);

	if (status == 0)
		status = run(&job, options, err);
	free(job.samplings);
	free(job.advised);
	session_close(&job.session);
	return status;
}
