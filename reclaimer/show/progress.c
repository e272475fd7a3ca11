#include "reclaimer/show/progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"

#define BAR_EVERY 100 /* ms */

void progress_begin(struct progress *p, struct log *log, const char *space,
		    int64_t every)
{
	*p = (struct progress){.log = log, .every = every};
	bar_begin(&p->bar, space, "blocks");
}

static void draw(struct progress *p, const struct tally *tally, uint64_t total)
{
	char more[64];

	snprintf(more, sizeof(more), "%" PRIu64 " freed, %" PRIu64 " live",
		 tally->freed, tally->live);
	bar_draw(&p->bar, tally->scanned, total, more);
}

void progress_show(struct progress *p, const struct tally *tally,
		   uint64_t total)
{
	int64_t now = clock_monotonic_ms();
	int64_t elapsed = now - p->bar.started;
	double rate;

	if (now - p->bar.shown < (p->bar.terminal ? BAR_EVERY : p->every))
		return;
	p->bar.shown = now;
	if (p->bar.terminal) {
		draw(p, tally, total);
		return;
	}
	rate = elapsed ? (double)tally->scanned * 1000.0 / (double)elapsed : 0;
	log_info(p->log, "reclaiming", log_str("space", p->bar.label),
		 log_int("scanned", (int64_t)tally->scanned),
		 log_int("of", (int64_t)total),
		 log_int("freed", (int64_t)tally->freed),
		 log_int("live", (int64_t)tally->live),
		 log_int("blocks_per_second", (int64_t)rate),
		 log_int("seconds_left",
			 bar_seconds_left(tally->scanned, total, elapsed)));
}

void progress_end(struct progress *p)
{
	bar_end(&p->bar);
}
