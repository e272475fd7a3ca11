#include "common/bar.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

enum {
	WIDTH = 24,
	EVERY_MS = 100,
};

void bar_begin(struct bar *b, const char *label, const char *unit)
{
	int64_t now = clock_monotonic_ms();

	*b = (struct bar){
		.label = label,
		.unit = unit,
		.terminal = isatty(STDERR_FILENO),
		.started = now,
		.shown = now,
	};
}

int64_t bar_seconds_left(uint64_t done, uint64_t total, int64_t ms)
{
	if (!done || ms <= 0)
		return -1;
	if (done >= total)
		return 0;
	return (int64_t)((double)(total - done) * (double)ms / (double)done /
				 1000 +
			 0.5);
}

/* Returns "1:02:03", or "-" if the time is not known. */
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

/* `done` may exceed `total`, which was only known at the start. */
static int percent_done(uint64_t done, uint64_t total)
{
	if (!total)
		return 0;
	return done < total ? (int)(100.0 * (double)done / (double)total) : 100;
}

void bar_draw(struct bar *b, uint64_t done, uint64_t total, const char *more)
{
	int64_t elapsed = clock_monotonic_ms() - b->started;
	int part = percent_done(done, total);
	char text[40];

	fprintf(stderr, "\r\033[K%s [", b->label);
	for (int i = 0; i < WIDTH; i++)
		fputc(i < part * WIDTH / 100 ? '#' : '.', stderr);
	fprintf(stderr, "] %3d%%  %" PRIu64 " %s, %.0f/s%s%s, %s left", part,
		done, b->unit,
		elapsed > 0 ? (double)done * 1000.0 / (double)elapsed : 0.0,
		more ? ", " : "", more ? more : "",
		clock_text(bar_seconds_left(done, total, elapsed), text));
	fflush(stderr);
	b->drawn = true;
}

void bar_show(struct bar *b, uint64_t done, uint64_t total)
{
	int64_t now;

	if (!b->terminal)
		return;
	now = clock_monotonic_ms();
	if (now - b->shown < EVERY_MS)
		return;
	b->shown = now;
	bar_draw(b, done, total, NULL);
}

void bar_end(struct bar *b)
{
	if (b->drawn)
		fputs("\r\033[K", stderr);
	b->drawn = false;
}
