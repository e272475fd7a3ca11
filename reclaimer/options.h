/* options.h - the options of the command line. */
#ifndef RECLAIMER_OPTIONS_H
#define RECLAIMER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/error.h"

/* For app_spec. */
extern const struct app_option reclaimer_options[];

struct options {
	const char *space; /* NULL: every configured one */
	bool dry_run;
	bool json;
	bool deep;
	bool repair;
	/* The ranges due on a day, or up to its end. */
	const char *day;     /* "2026-11-21"; NULL: all that are due */
	int64_t from, until; /* ms: what that means; 0: no bound */
	int64_t wait;	     /* ms for another run; DURATION_NEVER; 0: not */
	uint64_t rate;	     /* blocks per second; 0: no limit */
	uint64_t max_blocks; /* per space; 0: no limit */
	uint64_t sample;     /* blocks; 0: as many as is usual */
	uint64_t days;	     /* 0: as many as is usual */
	const char *blocks;  /* "A-B" or "A"; NULL */
	const char *reason;  /* NULL */
};

/* ERROR_USAGE when a value is no number, no day, or lacks what it goes with. */
int options_read(const struct app *app, struct options *ret_options,
		 struct error *err);

#endif
