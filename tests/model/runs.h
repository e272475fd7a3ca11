/*
 * runs.h - the reclaimers of the model: real runs (reclaimer/space/), each in a
 * thread of its own behind a stepper, up to two at once, complete or cut short.
 */
#ifndef TESTS_MODEL_RUNS_H
#define TESTS_MODEL_RUNS_H

#include <pthread.h>

#include "reclaimer/space/space_run.h"
#include "tests/model/stepper.h"
#include "tests/model/world.h"

#define RUNS_MAX 2

struct one_run {
	bool active;
	bool disturbed; /* cut, or Redis restarted: the run may fail */
	pthread_t thread;
	int done_fd;
	struct stepper *stepper;
	char address[96]; /* the stepper's */
	struct redis_config redis_config;
	struct reclaimer_settings settings;
	struct clock_check clock;
	struct space_run run;
	struct tally tally;
	bool interrupted;
	int status;
	struct error err;
};

struct runs {
	struct world *world;
	struct one_run all[RUNS_MAX];
	uint64_t begun, whole, cut, refused, busy, commands;
	struct tally total;
};

void runs_init(struct runs *r, struct world *w);
void runs_free(struct runs *r);

/* Begins a run over a space if another one is allowed. */
void runs_begin(struct runs *r, size_t space);
/* Lets one run do a few commands; sometimes ends it there. */
void runs_go_on(struct runs *r);
/* Lets all runs finish. */
void runs_finish(struct runs *r);
/* Redis was restarted during the runs. */
void runs_disturb(struct runs *r);
/* Does a complete run, with no other beside it. */
void runs_whole(struct runs *r, size_t space);

#endif
