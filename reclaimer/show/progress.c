#include "reclaimer/show/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

#define BAR_WIDTH 24
#define BAR_EVERY 100 /* ms */

void progress_begin(struct progress *p, struct log *log, const char *space,
		    int64_t every)
{
	int64_t now = clock_monotonic_ms();

	*p = (struct progress){
		.log = log,
		.space = space,
		.every = every,
		.bar = isatty(STDERR_FILENO),
		.started = now,
		.shown = now,
	};
}

int64_t progress_seconds_left(uint64_t scanned, uint64_t total, int64_t ms)
{
	if (!scanned || ms <= 0)
		return -1;
	if (scanned >= total)
		return 0;
	return (int64_t)((double)(total - scanned) * (double)ms /
				 (double)scanned / 1000 +
			 0.5);
}

/* "1:02:03", or nothing while it is not known. */
static const char *clock_text(int64_t seconds, char text[40])
{
	if (seconds < 0)
		return "-";
	if (seconds < 3600)
		snprintf(text, 40, "%" PRId64 ":%02" PRId64, seconds / 60,
			 seconds % 60);
	else
		snprintf(text, 40, "%" PRId64 ":%02" PRId64 ":%02" PRId64,
			 seconds / 3600, seconds / 60 % 60, seconds % 60);
	return text;
}

/* More may be found than was due at the start: blocks handed back in part. */
static int percent(uint64_t scanned, uint64_t total)
{
	if (!total)
		return 0;
	return scanned < total ? (int)(scanned * 100 / total) : 100;
}

static void draw(struct progress *p, const struct tally *tally, uint64_t total,
		 double rate, int64_t left)
{
	int done = percent(tally->scanned, total);
	int filled = done * BAR_WIDTH / 100;
	char text[40];

	fprintf(stderr, "\r\033[K%s [", p->space);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputc(i < filled ? '#' : '.', stderr);
	fprintf(stderr,
		"] %3d%%  %" PRIu64 " blocks, %.0f/s, %" PRIu64
		" freed, %" PRIu64 " live, %s left",
		done, tally->scanned, rate, tally->freed, tally->live,
		clock_text(left, text));
	fflush(stderr);
	p->drawn = true;
}

void progress_show(struct progress *p, const struct tally *tally,
		   uint64_t total)
{
	int64_t now = clock_monotonic_ms();
	int64_t elapsed = now - p->started, left;
	double rate;

	if (now - p->shown < (p->bar ? BAR_EVERY : p->every))
		return;
	p->shown = now;
	rate = elapsed ? (double)tally->scanned * 1000.0 / (double)elapsed : 0;
	left = progress_seconds_left(tally->scanned, total, elapsed);
	if (p->bar) {
		draw(p, tally, total, rate, left);
		return;
	}
	log_info(p->log, "reclaiming", log_str("space", p->space),
		 log_int("scanned", (int64_t)tally->scanned),
		 log_int("of", (int64_t)total),
		 log_int("freed", (int64_t)tally->freed),
		 log_int("live", (int64_t)tally->live),
		 log_int("blocks_per_second", (int64_t)rate),
		 log_int("seconds_left", left));
}

void progress_end(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
}
