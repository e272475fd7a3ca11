#include "collector/exactly_once/guarantee.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clickhouse/rowbinary.h"
#include "common/clickhouse/rows.h"
#include "common/clock.h"

/* --- measurement ---------------------------------------------------------- */

#define PREFIX	   "shortloop_guarantee_"
#define TEXT(x)	   #x
#define TEXT_OF(x) TEXT(x)

enum {
	ACCESS_DENIED = 497,
	NAME_MAX_LEN = 64,
};

struct scratch {
	struct sink *sink;
	char table[NAME_MAX_LEN];
	struct buf rows;
};

static int run_table_statement(struct scratch *s, const char *what,
			       const char *table, const char *rest,
			       struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql, "%s %s%s", what, table, rest);
	status = buf_cstr(&sql) ? clickhouse_query(sink_server(s->sink),
						   sql.data, NULL, NULL, err)
				: error_set_nomem(err);
	buf_free(&sql);
	return status;
}

static int drop_listed_table(void *arg, char **fields, struct error *err)
{
	return run_table_statement(arg, "DROP TABLE IF EXISTS", fields[0], "",
				   err);
}

/* Drops tables of collectors that were killed during a measurement. */
static int drop_left_over(struct scratch *s, struct error *err)
{
	static const char sql[] =
		"SELECT name FROM system.tables "
		"WHERE database = currentDatabase() "
		"AND startsWith(name, '" PREFIX "') "
		"AND metadata_modification_time < now() - INTERVAL 1 HOUR";

	return clickhouse_rows(sink_server(s->sink), sql, NULL, "s",
			       drop_listed_table, s, err);
}

/* Inserts one row per day. */
static int insert_days(struct scratch *s, const char *token, uint32_t first_day,
		       uint32_t days, struct error *err)
{
	buf_reset(&s->rows);
	for (uint32_t day = first_day; day < first_day + days; day++) {
		rowbinary_u32(&s->rows, day);
		rowbinary_u64(&s->rows, day);
	}
	if (s->rows.failed)
		return error_set_nomem(err);
	return sink_insert_into(s->sink, s->table, "day, n", token,
				s->rows.data, s->rows.len, err);
}

static int count_day_rows(struct scratch *s, uint32_t first_day,
			  uint32_t last_day, uint64_t *ret, struct error *err)
{
	struct buf sql = {0};
	int status;

	buf_printf(&sql,
		   "SELECT count() FROM %s WHERE day BETWEEN %" PRIu32
		   " AND %" PRIu32,
		   s->table, first_day, last_day);
	status = buf_cstr(&sql)
			 ? clickhouse_numbers(sink_server(s->sink), sql.data,
					      NULL, ret, 1, err)
			 : error_set_nomem(err);
	buf_free(&sql);
	return status;
}

/* Inserts a block of two days, then the same block again, then its second day
 * alone. */
static int try_again(struct scratch *s, struct measured *m, struct error *err)
{
	uint64_t rows = 0;

	for (int tries = 0; tries < 2; tries++)
		if (insert_days(s, "block", 1, 2, err) < 0)
			return -1;
	if (count_day_rows(s, 1, 2, &rows, err) < 0)
		return -1;
	if (rows != 2) {
		snprintf(m->flaw, sizeof(m->flaw),
			 "a block that is sent again is stored again");
		return 0;
	}
	if (insert_days(s, "block", 2, 1, err) < 0 ||
	    count_day_rows(s, 1, 2, &rows, err) < 0)
		return -1;
	if (rows != 2)
		snprintf(m->flaw, sizeof(m->flaw),
			 "a day of a block is not known by the block's token");
	return 0;
}

/* Measures when a token is forgotten.  Repeating the first insert is safe: a
 * token that is sent again and refused is not renewed. */
static int measure_token_lifetime(struct scratch *s, struct measured *m,
				  struct error *err)
{
	char token[32];
	uint64_t rows = 0;

	if (insert_days(s, "first", 3, 1, err) < 0)
		return -1;
	for (unsigned i = 1; i <= MEASURE_WINDOW; i++) {
		snprintf(token, sizeof(token), "other %u", i);
		if (insert_days(s, token, 4, 1, err) < 0 ||
		    insert_days(s, "first", 3, 1, err) < 0 ||
		    count_day_rows(s, 3, 3, &rows, err) < 0)
			return -1;
		m->outlived = i;
		if (rows > 1)
			break;
	}
	return 0;
}

static int create_scratch_table(struct scratch *s, struct measured *m,
				struct error *err)
{
	static const char rest[] =
		" (day UInt32, n UInt64) ENGINE = MergeTree "
		"PARTITION BY day ORDER BY n "
		"SETTINGS non_replicated_deduplication_window = " TEXT_OF(
			MEASURE_WINDOW);
	snprintf(s->table, sizeof(s->table), PREFIX "%08x%08x",
		 (unsigned)randombytes_random(),
		 (unsigned)randombytes_random());
	if (run_table_statement(s, "CREATE TABLE", s->table, rest, err) == 0)
		return 0;
	if (clickhouse_last_code(sink_server(s->sink)) != ACCESS_DENIED)
		return -1;
	snprintf(m->why, sizeof(m->why), "this user may not CREATE TABLE");
	*err = (struct error){0};
	return 1;
}

int measure_tokens(struct sink *sink, struct measured *ret, struct error *err)
{
	struct scratch s = {.sink = sink};
	struct measured m = {0};
	struct error ignored;
	int status = create_scratch_table(&s, &m, err);

	if (status == 0) {
		status = try_again(&s, &m, err);
		if (status == 0 && !*m.flaw)
			status = measure_token_lifetime(&s, &m, err);
		m.done = status == 0;
		/* A later measurement drops a table that stays. */
		run_table_statement(&s, "DROP TABLE IF EXISTS", s.table, "",
				    &ignored);
		if (status == 0)
			status = drop_left_over(&s, err);
	}
	buf_free(&s.rows);
	if (status < 0)
		return error_wrap(err, "measuring");
	*ret = m;
	return 0;
}

/* Returns how many inserts of others a token survives in a table that keeps
 * `window` tokens by its settings. */
static uint64_t measured_window(const struct measured *m, uint64_t window)
{
	return window / MEASURE_WINDOW * m->outlived +
	       window % MEASURE_WINDOW * m->outlived / MEASURE_WINDOW;
}

/* --- evaluation ----------------------------------------------------------- */

enum {
	WINDOW_USUAL = 10000,
};

__attribute__((format(printf, 2, 3))) static void
lower_guarantee(struct guarantee *g, const char *why, ...)
{
	int n = snprintf(g->text, sizeof(g->text), "at least once: ");
	va_list args;

	g->exactly_once = false;
	g->window = 0;
	va_start(args, why);
	vsnprintf(g->text + n, sizeof(g->text) - (size_t)n, why, args);
	va_end(args);
}

static int judge_user(void *arg, char **fields, struct error *err)
{
	const char *locked = fields[0];

	(void)err;
	if (*locked)
		lower_guarantee(arg, "this user may not set %s", locked);
	return 0;
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
		lower_guarantee(g, "table %s has the engine %s", t->name,
				t->engine);
	else if (!blocks)
		lower_guarantee(g, "table %s has %s_deduplication_window=0",
				t->name,
				replicated ? "replicated" : "non_replicated");
	else if (!seconds)
		lower_guarantee(g,
				"table %s has "
				"replicated_deduplication_window_seconds=0",
				t->name);
	if (!g->exactly_once)
		return;
	if (blocks < g->window)
		g->window = blocks;
	if (seconds < g->seconds)
		g->seconds = seconds;
}

static void write_window_text(struct guarantee *g, const char *begin,
			      const char *end)
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
	write_window_text(g, begin, " by the settings)");
	/* A block may take two entries, as it does in 26.2 to 26.5. */
	g->window /= 2;
}

void guarantee_conclude(const struct measured *measured, struct guarantee *g)
{
	if (!g->exactly_once)
		return;
	if (measured->done && *measured->flaw) {
		lower_guarantee(g, "%s", measured->flaw);
	} else if (g->replicated) {
		not_measured(g, "tables are replicated");
	} else if (!measured->done) {
		not_measured(g, measured->why);
	} else {
		g->window = measured_window(measured, g->window);
		write_window_text(g, "exactly once (measured: ", ")");
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
		"ORDER BY name)";

	return clickhouse_rows(ch, sql, NULL, "s", judge_user, g, err);
}

/* The setting of the table, or else of the server. */
#define SETTING(server, name)                                                  \
	"ifNull(nullIf(extract(engine_full, '[ ,]" name " = (\\\\d+)'), ''), " \
	"(SELECT any(value) FROM system." server " WHERE name = '" name "'))"

struct tables {
	struct guarantee *guarantee;
	size_t count;
};

static int judge_row(void *arg, char **f, struct error *err)
{
	struct tables *t = arg;

	(void)err;
	t->count++;
	guarantee_judge_table(
		&(struct guarantee_table){
			f[0], f[1], is_replicated(f[1]) ? f[3] : f[2], f[4]},
		t->guarantee);
	return 0;
}

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
		"ORDER BY name";
	struct tables t = {.guarantee = g};

	if (clickhouse_rows(ch, sql, NULL, "sssss", judge_row, &t, err) < 0)
		return -1;
	if (t.count != 3)
		return error_set(err, ERROR_REMOTE,
				 "tables are missing: run 'aggregator "
				 "migrate'");
	return 0;
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
