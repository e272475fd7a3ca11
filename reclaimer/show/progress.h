/*
 * progress.h - how far a run is: a bar when stderr is a terminal, a line in
 * the log now and then when it is not.
 */
#ifndef RECLAIMER_SHOW_PROGRESS_H
#define RECLAIMER_SHOW_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log.h"
#include "reclaimer/space/tally.h"

struct progress {
	struct log *log;
	const char *space;
	uint64_t total; /* blocks due, or 0: not known */
	int64_t every;	/* ms between lines in the log */
	bool bar;
	int64_t started, shown; /* monotonic ms */
};

/* True when a bar will be drawn, for which the total is worth asking for. */
bool progress_wants_total(void);

void progress_begin(struct progress *p, struct log *log, const char *space,
		    uint64_t total, int64_t every);
void progress_show(struct progress *p, const struct tally *tally);
void progress_end(struct progress *p);

#endif
