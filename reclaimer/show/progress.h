/*
 * progress.h - how far a run is: a bar when stderr is a terminal, a line in
 * the log now and then when it is not.
 */
#ifndef RECLAIMER_SHOW_PROGRESS_H
#define RECLAIMER_SHOW_PROGRESS_H

#include <stdint.h>

#include "common/bar.h"
#include "common/log.h"
#include "reclaimer/space/tally.h"

struct progress {
	struct log *log;
	int64_t every; /* ms between lines in the log */
	struct bar bar;
};

void progress_begin(struct progress *p, struct log *log, const char *space,
		    int64_t every);
/* `total`: blocks that there will be, as far as is known. */
void progress_show(struct progress *p, const struct tally *tally,
		   uint64_t total);
void progress_end(struct progress *p);

#endif
