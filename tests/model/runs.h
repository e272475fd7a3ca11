/*
 * runs.h - the reclaimers of the model: real runs (reclaimer/space/), each in a
 * thread of its own behind a stepper, up to two at once, whole or cut short.
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
	bool disturbed; /* cut, or Redis restarted: it may fail */
	pthread_t thread;
	int done_fd;
	struct stepper *stepper;
	char address[96]; /* of the stepper */
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

/* Begins one of a space, if there may be another. */
void runs_begin(struct runs *r, size_t space);
/* Lets one of them go on by a few commands; now and then ends it there. */
void runs_go_on(struct runs *r);
/* Lets all of them come to their end. */
void runs_finish(struct runs *r);
/* Redis was restarted under them. */
void runs_disturb(struct runs *r);
/* A whole run, alone. */
void runs_whole(struct runs *r, size_t space);

#endif
