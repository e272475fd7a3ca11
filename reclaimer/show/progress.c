#include "reclaimer/show/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

#define BAR_WIDTH 30
#define BAR_EVERY 100 /* ms */

bool progress_wants_total(void)
{
	return isatty(STDERR_FILENO);
}

void progress_begin(struct progress *p, struct log *log, const char *space,
		    uint64_t total, int64_t every)
{
	int64_t now = clock_monotonic_ms();

	*p = (struct progress){log, space, total, every, progress_wants_total(),
			       now, now};
}

/* More may be found than was due at the start: blocks handed back in part. */
static int percent(const struct progress *p, uint64_t scanned)
{
	if (!p->total)
		return 0;
	return scanned < p->total ? (int)(scanned * 100 / p->total) : 100;
}

static void draw(const struct progress *p, const struct tally *tally,
		 double rate)
{
	int done = percent(p, tally->scanned);
	int filled = done * BAR_WIDTH / 100;

	fprintf(stderr, "\r\033[K%s [", p->space);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < filled ? '#' : '.', stderr);
	fprintf(stderr,
		"] %3d%%  %" PRIu64 " blocks, %" PRIu64 " freed, %.0f/s", done,
		tally->scanned, tally->freed, rate);
	fflush(stderr);
}

void progress_show(struct progress *p, const struct tally *tally)
{
	int64_t now = clock_monotonic_ms();
	int64_t elapsed = now - p->started;
	double rate;

	if (now - p->shown < (p->bar ? BAR_EVERY : p->every))
		return;
	p->shown = now;
	rate = elapsed ? (double)tally->scanned * 1000.0 / (double)elapsed : 0;
	if (p->bar) {
		draw(p, tally, rate);
		return;
	}
	log_info(p->log, "reclaiming", log_str("space", p->space),
		 log_int("scanned", (int64_t)tally->scanned),
		 log_int("freed", (int64_t)tally->freed),
		 log_int("live", (int64_t)tally->live),
		 log_int("blocks_per_second", (int64_t)rate));
}

void progress_end(struct progress *p)
{
	if (p->bar)
		fputs("\r\033[K", stderr);
}
