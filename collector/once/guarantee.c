#include "collector/once/guarantee.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/tsv.h"
#include "common/clock.h"

enum {
	/* Tokens for tables that are not replicated. */
	VERSION_YEAR = 22,
	VERSION_MONTH = 2,
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

static void judge_server(const char *version, const char *locked,
			 struct guarantee *g)
{
	char *dot;
	unsigned long year = strtoul(version, &dot, 10);
	unsigned long month = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;

	if (year < VERSION_YEAR ||
	    (year == VERSION_YEAR && month < VERSION_MONTH))
		less(g, "ClickHouse %s knows no tokens", version);
	else if (*locked)
		less(g, "this user may not set %s", locked);
}

static void judge_table(const char *name, const char *engine,
			const char *window, struct guarantee *g)
{
	bool replicated = strncmp(engine, "Replicated", 10) == 0 ||
			  strncmp(engine, "Shared", 6) == 0;
	uint64_t blocks = tsv_u64(window);

	if (!g->exactly_once)
		return;
	if (!strstr(engine, "MergeTree"))
		less(g, "table %s has the engine %s", name, engine);
	else if (!blocks)
		less(g, "table %s has %s_deduplication_window=0", name,
		     replicated ? "replicated" : "non_replicated");
	else if (blocks < g->window)
		g->window = blocks;
}

static int ask_server(struct clickhouse *ch, struct guarantee *g,
		      struct error *err)
{
	static const char sql[] =
		"SELECT version(), (SELECT arrayStringConcat(groupArray(name), "
		"', ') FROM (SELECT name FROM system.settings WHERE name IN "
		"('insert_deduplicate', 'insert_deduplication_token', "
		"'async_insert') AND readonly ORDER BY name)) "
		"FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *f[2];
	int status = clickhouse_query(ch, sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	if (status == 0 && tsv_next(&rows, f, 2))
		judge_server(f[0], f[1], g);
	else if (status == 0)
		status = error_set(err, ERROR_PROTOCOL,
				   "an answer of another shape");
	buf_free(&answer);
	return status;
}

static int ask_tables(struct clickhouse *ch, struct guarantee *g,
		      struct error *err)
{
	/* What a table says for itself, or the server's own. */
	static const char sql[] =
		"WITH engine LIKE 'Replicated%' OR engine LIKE 'Shared%' AS r "
		"SELECT name, engine, if(r, "
		"extract(engine_full, "
		"'[ ,]replicated_deduplication_window = (\\\\d+)'), "
		"extract(engine_full, "
		"'[ ,]non_replicated_deduplication_window = (\\\\d+)')) AS "
		"said, "
		"if(said != '', said, if(r, (SELECT any(value) FROM "
		"system.merge_tree_settings WHERE name = "
		"'replicated_deduplication_window'), (SELECT any(value) FROM "
		"system.merge_tree_settings WHERE name = "
		"'non_replicated_deduplication_window'))) "
		"FROM system.tables WHERE database = currentDatabase() "
		"AND name IN ('clicks', 'ingest_progress', 'links') "
		"ORDER BY name FORMAT TabSeparated";
	struct buf answer = {0};
	struct tsv rows;
	char *f[4];
	size_t count = 0;
	int status = clickhouse_query(ch, sql, NULL, &answer, err);

	rows = tsv_rows(&answer);
	for (; status == 0 && tsv_next(&rows, f, 4); count++)
		judge_table(f[0], f[1], f[3], g);
	buf_free(&answer);
	if (status == 0 && count != 3)
		return error_set(err, ERROR_REMOTE,
				 "tables are missing: run 'aggregator "
				 "migrate'");
	return status;
}

int guarantee_probe(struct clickhouse *ch, struct guarantee *ret,
		    struct error *err)
{
	struct guarantee g = {
		.known = true, .exactly_once = true, .window = UINT64_MAX};

	if (ask_server(ch, &g, err) < 0 || ask_tables(ch, &g, err) < 0)
		return error_wrap(err, "guarantee");
	if (g.exactly_once)
		snprintf(g.text, sizeof(g.text),
			 "exactly once (window %" PRIu64 " blocks)", g.window);
	*ret = g;
	return 0;
}

int64_t guarantee_retry_ms(const struct guarantee *g, int64_t parts_per_second)
{
	uint64_t window = g->known ? g->window : WINDOW_USUAL;

	if (window > WINDOW_USUAL * 1000)
		window = WINDOW_USUAL * UINT64_C(1000);
	return (int64_t)window * CLOCK_SECOND / parts_per_second / 2;
}
