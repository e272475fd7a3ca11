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
	/* Selects only ranges that are due on a day, or up to its end. */
	const char *day;     /* "2026-11-21"; NULL: all that are due */
	int64_t from, until; /* ms: the bounds of that; 0: no bound */
	int64_t wait;  /* ms for another run; DURATION_NEVER; 0: do not wait */
	uint64_t rate; /* blocks per second; 0: no limit */
	uint64_t max_blocks; /* per space; 0: no limit */
	uint64_t sample;     /* blocks; 0: the default */
	uint64_t days;	     /* 0: the default */
	const char *blocks;  /* "A-B" or "A"; NULL */
	const char *reason;  /* NULL */
};

/* ERROR_USAGE if a value is invalid, or an option lacks another that it
 * needs. */
int options_read(const struct app *app, struct options *ret_options,
		 struct error *err);

#endif
