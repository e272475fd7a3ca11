/* options.h - what the command line asks of a run or a status. */
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
	bool status;	   /* `status` rather than `run` */
	const char *space; /* NULL: every configured one */
	bool dry_run;
	bool json;
	uint64_t rate;	     /* blocks per second; 0: no limit */
	uint64_t max_blocks; /* per space; 0: no limit */
};

/* ERROR_USAGE when a value is no number, or does not go with the command. */
int options_read(const struct app *app, struct options *ret_options,
		 struct error *err);

#endif
