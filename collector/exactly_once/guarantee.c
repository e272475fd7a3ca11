#include "collector/exactly_once/guarantee.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/tsv.h"
#include "common/clock.h"

enum {
	WINDOW_USUAL = 10000,
};

__attribute__((format(printf, 2, 3))) static void less(struct guarantee *g,
						       const char *why, ...)
{
	int n = snprintf(g->text, sizeof(g->text), "at least once: ");
	va_list args;

	g->exactly_once = false;
	g->window = 0;
	va_start(args, why);
	vsnprintf(g->text + n, sizeof(g->text) - (size_t)n, why, args);
	va_end(args);
}

static void judge_user(const char *locked, struct guarantee *g)
{
	if (*locked)
		less(g, "this user may not set %s", locked);
}

static bool is_replicated(const char *engine)
{
	return strncmp(engine, "Replicated", 10) == 0 ||
	       strncmp(engine, "Shared", 6) == 0;
}

void guarantee_judge_table(const struct guarantee_table *t, struct guarantee *g)
{
	bool replicated = is_replicated(t->engine);
	uint64_t blocks = tsv_u64(t->window);
	uint64_t seconds = replicated ? tsv_u64(t->seconds) : GUARANTEE_FOREVER;

	g->replicated = g->replicated || replicated;
	if (!g->exactly_once)
		return;
	if (!strstr(t->engine, "MergeTree"))
		less(g, "table %s has the engine %s", t->name, t->engine);
	else if (!blocks)
		less(g, "table %s has %s_deduplication_window=0", t->name,
		     replicated ? "replicated" : "non_replicated");
	else if (!seconds)
		less(g,
		     "table %s has replicated_deduplication_window_seconds=0",
		     t->name);
	if (!g->exactly_once)
		return;
	if (blocks < g->window)
		g->window = blocks;
	if (seconds < g->seconds)
		g->seconds = seconds;
}

static void say(struct guarantee *g, const char *begin, const char *end)
{
	int n = snprintf(g->text, sizeof(g->text),
			 "%swindow %" PRIu64 " blocks", begin, g->window);

	if (g->seconds != GUARANTEE_FOREVER)
		n += snprintf(g->text + n, sizeof(g->text) - (size_t)n,
			      ", %" PRIu64 " s", g->seconds);
	snprintf(g->text + n, sizeof(g->text) - (size_t)n, "%s", end);
}

static void not_measured(struct guarantee *g, const char *why)
{
	char begin[200];

	snprintf(begin, sizeof(begin), "not measured: %s (", why);
	g->exactly_once = false;
	say(g, begin, " by the settings)");
	/* A block may take two entries, as it does in 26.2 to 26.5. */
	g->window /= 2;
}

void guarantee_conclude(const struct measured *measured, struct guarantee *g)
{
	if (!g->exactly_once)
		return;
	if (measured->done && *measured->flaw) {
		less(g, "%s", measured->flaw);
	} else if (g->replicated) {
		not_measured(g, "tables are replicated");
	} else if (!measured->done) {
		not_measured(g, measured->why);
	} else {
		g->window = measure_window(measured, g->window);
		say(g, "exactly once (measured: ", ")");
	}
}

static int ask_user(struct clickhouse *ch, struct guarantee *g,
		    struct error *err)
{
	static const char sql[] =
		"SELECT arrayStringConcat(groupArray(name), ', ') FROM "
		"(SELECT name FROM system.settings WHERE name IN "
		"('insert_deduplicate', 'insert_deduplication_token', "
		"'deduplicate_insert', 'async_insert') AND readonly "
		"ORDER BY name) FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *locked;
	int status = clickhouse_query(ch, sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, &locked, 1))
		judge_user(locked, g);
	else if (status == 0)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	return status;
}

/* What a table says for itself, or the server's own. */
#define SETTING(server, name)                                                  \
	"ifNull(nullIf(extract(engine_full, '[ ,]" name " = (\\\\d+)'), ''), " \
	"(SELECT any(value) FROM system." server " WHERE name = '" name "'))"

static int ask_tables(struct clickhouse *ch, struct guarantee *g,
		      struct error *err)
{
	static const char sql[] = "SELECT name, engine, "
		/* clang-format off */
		SETTING("merge_tree_settings",
			"non_replicated_deduplication_window") ", "
		SETTING("replicated_merge_tree_settings",
			"replicated_deduplication_window") ", "
		SETTING("replicated_merge_tree_settings",
			"replicated_deduplication_window_seconds")
		/* clang-format on */
		" FROM system.tables WHERE database = currentDatabase() "
		"AND name IN ('clicks', 'ingest_progress', 'links') "
		"ORDER BY name FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *f[5];
	size_t count = 0;
	int status = clickhouse_query(ch, sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	for (; status == 0 && tsv_next(&rows, f, 5); count++)
		guarantee_judge_table(
			&(struct guarantee_table){
				f[0], f[1], is_replicated(f[1]) ? f[3] : f[2],
				f[4]},
			g);
	buf_free(&answer);
	if (status == 0 && count != 3)
		return error_set(err, ERROR_REMOTE,
				 "tables are missing: run 'aggregator "
				 "migrate'");
	return status;
}

int guarantee_probe(struct sink *sink, const struct measured *measured,
		    struct guarantee *ret, struct error *err)
{
	struct clickhouse *ch = sink_server(sink);
	struct guarantee g = GUARANTEE_MOST;

	if (ask_user(ch, &g, err) < 0 || ask_tables(ch, &g, err) < 0)
		return error_wrap(err, "guarantee");
	guarantee_conclude(measured, &g);
	*ret = g;
	return 0;
}

int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second)
{
	uint64_t window = g->known ? g->window : WINDOW_USUAL;
	int64_t kept;

	if (window > WINDOW_USUAL * 1000)
		window = WINDOW_USUAL * UINT64_C(1000);
	kept = (int64_t)window * CLOCK_SECOND / parts_per_second;
	if (g->known && g->seconds < (uint64_t)(kept / CLOCK_SECOND))
		kept = (int64_t)g->seconds * CLOCK_SECOND;
	return kept / 2;
}
