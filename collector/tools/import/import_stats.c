#include "collector/tools/import/import_stats.h"

#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/safe_text.h"

enum {
	BAR_EVERY_MS = 100,
	LINE_EVERY_MS = 5000,
};

void import_stats_begin(struct import_stats *s, const char *file, FILE *rejects,
			struct log *log)
{
	*s = (struct import_stats){
		.file = file, .rejects = rejects, .log = log};
	bar_begin(&s->bar, file, "bytes");
	s->started = s->shown = clock_monotonic_ms();
}

void import_stats_unreadable(struct import_stats *s, const char *line,
			     size_t len, const struct error *why)
{
	if (s->unreadable < IMPORT_STATS_REASONS_MAX) {
		s->reasons[s->unreadable].line = s->lines;
		s->reasons[s->unreadable].why = *why;
	}
	s->unreadable++;
	if (!s->rejects)
		return;
	fwrite(line, 1, len, s->rejects);
	fputc('\n', s->rejects);
}

static void keep_example(char to[IMPORT_STATS_EXAMPLE_MAX],
			 struct access_text t)
{
	if (!*to)
		safe_text(to, IMPORT_STATS_EXAMPLE_MAX, t.data, t.len);
}

void import_stats_click(struct import_stats *s,
			const struct access_visit *visit)
{
	s->clicks++;
	s->no_address += visit->ip_len ? 0 : 1;
	s->no_agent += visit->user_agent.len ? 0 : 1;
	if (visit->odd_client.len) {
		s->odd_client++;
		keep_example(s->odd_example, visit->odd_client);
	}
	if (!s->first_ms || visit->time_ms < s->first_ms)
		s->first_ms = visit->time_ms;
	if (visit->time_ms > s->last_ms)
		s->last_ms = visit->time_ms;
}

void import_stats_no_code(struct import_stats *s,
			  const struct access_visit *visit)
{
	s->no_code++;
	keep_example(s->path_example, visit->path);
}

void import_stats_misplaced(struct import_stats *s, uint64_t count,
			    const char *host, const char *code)
{
	char text[IMPORT_STATS_EXAMPLE_MAX];

	snprintf(text, sizeof(text), "%s/%s", host, code);
	s->misplaced += count;
	keep_example(s->misplaced_example,
		     (struct access_text){text, strlen(text)});
}

/* --- refusals ------------------------------------------------------------- */

static int refuse_import(struct import_stats *s, struct error *err,
			 const char *what, const char *hint)
{
	s->refused = true;
	return error_set(err, ERROR_INPUT,
			 "of %" PRIu64 " lines %s; nothing was imported: %s",
			 s->lines, what, hint);
}

int import_stats_check(struct import_stats *s, struct error *err)
{
	if (s->unreadable && s->unreadable + s->blank + s->remarks == s->lines)
		return refuse_import(s, err, "none could be read",
				     "name the format with --format");
	if (!s->clicks)
		return refuse_import(
			s, err, "none names a code",
			"see --path-prefix and --format; --force takes "
			"it as it is");
	if (s->no_address == s->clicks)
		return refuse_import(
			s, err, "none has a client's address",
			"all visitors would be one, in no place; name "
			"the field with --format or --json-keys, or take "
			"it as it is with --force");
	if (s->no_agent == s->clicks)
		return refuse_import(
			s, err, "none has a user agent",
			"all visitors would be robots; name the field "
			"with --format or --json-keys, or take it as it "
			"is with --force");
	return 0;
}

static double per_second(const struct import_stats *s)
{
	int64_t ms = clock_monotonic_ms() - s->started;

	return ms > 0 ? (double)s->lines * 1000 / (double)ms : 0;
}

static void log_progress(const struct import_stats *s, uint64_t done,
			 uint64_t size)
{
	int64_t ms = clock_monotonic_ms() - s->started;

	log_info(s->log, "importing", log_str("file", s->file),
		 log_int("bytes", (int64_t)done), log_int("of", (int64_t)size),
		 log_int("lines", (int64_t)s->lines),
		 log_int("lines_per_second", (int64_t)per_second(s)),
		 log_int("unreadable", (int64_t)s->unreadable),
		 log_int("seconds_left", bar_seconds_left(done, size, ms)));
}

void import_stats_show(struct import_stats *s, uint64_t done, uint64_t size)
{
	int64_t now = clock_monotonic_ms();
	char more[64];

	if (now - s->shown < (s->bar.terminal ? BAR_EVERY_MS : LINE_EVERY_MS))
		return;
	s->shown = now;
	if (!s->bar.terminal) {
		log_progress(s, done, size);
		return;
	}
	snprintf(more, sizeof(more), "%" PRIu64 " lines, %.0f/s", s->lines,
		 per_second(s));
	bar_draw(&s->bar, done, size, more);
}

void import_stats_hide(struct import_stats *s)
{
	bar_end(&s->bar);
}

static void print_count(uint64_t n, const char *what)
{
	if (n)
		printf("  %" PRIu64 " %s\n", n, what);
}

static void report_times(const struct import_stats *s)
{
	char first[RFC3339_TEXT_MAX], last[RFC3339_TEXT_MAX];

	if (s->first_ms)
		printf("  from %s to %s\n", rfc3339_format(s->first_ms, first),
		       rfc3339_format(s->last_ms, last));
}

static void report_unreadable(const struct import_stats *s)
{
	print_count(s->unreadable, "could not be read:");
	for (uint64_t i = 0; i < s->unreadable && i < IMPORT_STATS_REASONS_MAX;
	     i++)
		printf("    line %" PRIu64 ": %s\n", s->reasons[i].line,
		       s->reasons[i].why.text);
	if (s->unreadable > IMPORT_STATS_REASONS_MAX)
		printf("    and %" PRIu64 " more%s\n",
		       s->unreadable - IMPORT_STATS_REASONS_MAX,
		       s->rejects ? "" : "; --rejects FILE keeps them");
}

/* These three numbers are reported for every log: if all clicks lack one of
 * them, the log was read wrongly. */
static void report_absent(const struct import_stats *s)
{
	printf("  without an address: %" PRIu64 ", without a user agent: "
	       "%" PRIu64 ", without a code: %" PRIu64 "\n",
	       s->no_address, s->no_agent,
	       s->elsewhere + s->no_code + s->no_request);
	if (s->odd_client)
		printf("  %" PRIu64 " name a client that is no address, as "
		       "'%s': the peer's address was taken\n",
		       s->odd_client, s->odd_example);
}

static void report_elsewhere(const struct import_stats *s)
{
	print_count(s->no_request, "are no requests");
	print_count(s->elsewhere, "are not below the path prefix");
	if (s->no_code)
		printf("  %" PRIu64 " are elsewhere: they name no code, as "
		       "%s\n",
		       s->no_code, s->path_example);
}

static void report_misplaced(const struct import_stats *s)
{
	if (s->misplaced)
		printf("  %" PRIu64 " name a link of another domain, as %s: "
		       "they are clicks of no link\n",
		       s->misplaced, s->misplaced_example);
}

void import_stats_report(struct import_stats *s, const char *format,
			 const char *topic, const char *unknown)
{
	int64_t ms = clock_monotonic_ms() - s->started;
	bool stored = !s->dry_run && !s->refused;

	printf("%s (%s, %s): %" PRIu64 " lines in %.1f s, %.0f/s\n", s->file,
	       format, s->dry_run ? "dry run" : topic, s->lines,
	       (double)ms / 1000, per_second(s));
	printf("  %" PRIu64 " %s clicks\n", s->clicks - s->stored,
	       stored ? "became" : "would become");
	report_times(s);
	report_absent(s);
	print_count(s->before, "had been imported before");
	print_count(s->stored, "had been stored by an import that was ended");
	report_elsewhere(s);
	report_misplaced(s);
	print_count(s->blank, "are blank");
	print_count(s->remarks, "are about the log");
	report_unreadable(s);
	if (*unknown)
		printf("  not understood: %s\n", unknown);
	if (s->unfinished)
		puts("  the last line has no end yet: it is left for the next "
		     "import");
	fflush(stdout);
}
