/* options.h - what the command line asks for. */
#ifndef RECLAIMER_OPTIONS_H
#define RECLAIMER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/error.h"

/* For app_spec. */
extern const struct app_command reclaimer_commands[];
extern const struct app_option reclaimer_options[];

struct options {
	const char *space; /* NULL: every configured one */
	bool dry_run;
	bool json;
	bool deep;
	bool repair;
	uint64_t rate;	     /* blocks per second; 0: no limit */
	uint64_t max_blocks; /* per space; 0: no limit */
	uint64_t sample;     /* blocks; 0: as many as is usual */
	uint64_t days;	     /* 0: as many as is usual */
	const char *blocks;  /* "A-B" or "A"; NULL */
	const char *reason;  /* NULL */
};

/* ERROR_USAGE when a value is no number. */
int options_read(const struct app *app, struct options *ret_options,
		 struct error *err);

#endif
