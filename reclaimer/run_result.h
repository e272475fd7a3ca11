/*
 * run_result.h - the result of a run over one space: for the summary, JSON and
 * reclaim_runs.
 */
#ifndef RECLAIMER_RUN_RESULT_H
#define RECLAIMER_RUN_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "reclaimer/space/tally.h"

struct run_result {
	const char *space;
	struct tally tally;
	int64_t started, finished; /* ms since 1970 */
	double seconds;
	bool interrupted;
	bool failed;
	struct error error; /* valid if `failed` */
};

#endif
