#include "collector/tools/import/tally.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"

enum {
	BAR_EVERY_MS = 100,
	LINE_EVERY_MS = 5000,
};

void tally_begin(struct tally *t, const char *file, FILE *rejects,
		 struct log *log)
{
	*t = (struct tally){.file = file, .rejects = rejects, .log = log};
	bar_begin(&t->bar, file, "bytes");
	t->started = t->shown = clock_monotonic_ms();
}

void tally_unreadable(struct tally *t, const char *line, size_t len,
		      const struct error *why)
{
	if (t->unreadable < TALLY_REASONS_MAX) {
		t->reasons[t->unreadable].line = t->lines;
		t->reasons[t->unreadable].why = *why;
	}
	t->unreadable++;
	if (!t->rejects)
		return;
	fwrite(line, 1, len, t->rejects);
	fputc('\n', t->rejects);
}

void tally_click(struct tally *t, int64_t time_ms)
{
	t->clicks++;
	if (!t->first_ms || time_ms < t->first_ms)
		t->first_ms = time_ms;
	if (time_ms > t->last_ms)
		t->last_ms = time_ms;
}

static double per_second(const struct tally *t)
{
	int64_t ms = clock_monotonic_ms() - t->started;

	return ms > 0 ? (double)t->lines * 1000 / (double)ms : 0;
}

static void say(const struct tally *t, uint64_t done, uint64_t size)
{
	int64_t ms = clock_monotonic_ms() - t->started;

	log_info(t->log, "importing", log_str("file", t->file),
		 log_int("bytes", (int64_t)done), log_int("of", (int64_t)size),
		 log_int("lines", (int64_t)t->lines),
		 log_int("lines_per_second", (int64_t)per_second(t)),
		 log_int("unreadable", (int64_t)t->unreadable),
		 log_int("seconds_left", bar_seconds_left(done, size, ms)));
}

void tally_show(struct tally *t, uint64_t done, uint64_t size)
{
	int64_t now = clock_monotonic_ms();
	char more[64];

	if (now - t->shown < (t->bar.terminal ? BAR_EVERY_MS : LINE_EVERY_MS))
		return;
	t->shown = now;
	if (!t->bar.terminal) {
		say(t, done, size);
		return;
	}
	snprintf(more, sizeof(more), "%" PRIu64 " lines, %.0f/s", t->lines,
		 per_second(t));
	bar_draw(&t->bar, done, size, more);
}

void tally_hide(struct tally *t)
{
	bar_end(&t->bar);
}

static void count(uint64_t n, const char *what)
{
	if (n)
		printf("  %" PRIu64 " %s\n", n, what);
}

static void report_times(const struct tally *t)
{
	char first[RFC3339_TEXT_MAX], last[RFC3339_TEXT_MAX];

	if (t->first_ms)
		printf("  from %s to %s\n", rfc3339_format(t->first_ms, first),
		       rfc3339_format(t->last_ms, last));
}

static void report_unreadable(const struct tally *t)
{
	count(t->unreadable, "could not be read:");
	for (uint64_t i = 0; i < t->unreadable && i < TALLY_REASONS_MAX; i++)
		printf("    line %" PRIu64 ": %s\n", t->reasons[i].line,
		       t->reasons[i].why.text);
	if (t->unreadable > TALLY_REASONS_MAX)
		printf("    and %" PRIu64 " more%s\n",
		       t->unreadable - TALLY_REASONS_MAX,
		       t->rejects ? "" : "; --rejects FILE keeps them");
}

void tally_report(struct tally *t, const char *format, const char *topic)
{
	int64_t ms = clock_monotonic_ms() - t->started;

	printf("%s (%s, %s): %" PRIu64 " lines in %.1f s, %.0f/s\n", t->file,
	       format, t->dry_run ? "dry run" : topic, t->lines,
	       (double)ms / 1000, per_second(t));
	printf("  %" PRIu64 " %s clicks\n", t->clicks - t->stored,
	       t->dry_run ? "would become" : "became");
	report_times(t);
	count(t->before, "had been imported before");
	count(t->stored, "had been stored by an import that was ended");
	count(t->no_request, "are no requests");
	count(t->elsewhere, "are not below the path prefix");
	count(t->blank, "are blank");
	report_unreadable(t);
	if (t->unfinished)
		puts("  the last line has no end yet: it is left for the next "
		     "import");
	fflush(stdout);
}
