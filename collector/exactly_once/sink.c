#include "collector/exactly_once/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/row.h"
#include "collector/exactly_once/batch.h"
#include "common/clickhouse/columns.h"
#include "common/clickhouse/rows.h"

/* More than twice what collector.batch_rows and batch_bytes can be. */
#define BLOCK_ROWS_MAX	"4000000"
#define BLOCK_BYTES_MAX "2147483648"

enum {
	/* The oldest version that is taken, year and month.  Before, a token
	 * was numbered by the part of the insert that it stood for: the rows of
	 * one day left out, those of the next were taken for other ones, and
	 * stored twice or not at all.  (Seen in 23.10, not in 24.8; the changes
	 * are those of ClickHouse 24.7.) */
	OLDEST_YEAR = 24,
	OLDEST_MONTH = 8,
	KEPT_MAX = 1 << 20, /* of memory, between two inserts */
	/* ms, between two answers about one start.  Who ran for two seconds and
	 * was started again is noticed; rows that were answered go only with a
	 * machine's power, and no machine is back so soon. */
	STARTED_APART = 1100,
};

struct sink {
	struct clickhouse *ch;
	struct columns *clicks;
	struct buf insert_clicks; /* the statement */
	struct buf block;	  /* the rows in columns */
	/* Of the server; not every version has the setting. */
	bool known;
	bool has_deduplicate_insert;
	int64_t started; /* when it was, as last asked; 0: not yet */
};

struct table {
	const char *name;
	const char *insert;
};

static const struct table tables[SINK_TABLE_COUNT] = {
	/* Most of the rows; they are sent in columns. */
	[SINK_CLICKS] = {"clicks", NULL},
	[SINK_PROGRESS] = {"ingest_progress",
			   "INSERT INTO ingest_progress (" PROGRESS_COLUMNS
			   ") FORMAT RowBinary"},
	[SINK_LINKS] = {"links", row_insert_links},
};

const char *sink_table_name(enum sink_table table)
{
	return tables[table].name;
}

static int prepare(struct sink *s, struct error *err)
{
	buf_printf(&s->insert_clicks, "INSERT INTO clicks (%s) FORMAT Native",
		   columns_names(s->clicks));
	return buf_cstr(&s->insert_clicks) ? 0 : error_set_nomem(err);
}

struct sink *sink_new(const struct clickhouse_config *config, struct error *err)
{
	struct sink *s = calloc(1, sizeof(*s));

	if (!s) {
		error_set_nomem(err);
		return NULL;
	}
	s->ch = clickhouse_new(config, err);
	s->clicks = s->ch ? columns_new(row_click_columns, err) : NULL;
	if (s->clicks && prepare(s, err) == 0)
		return s;
	sink_free(s);
	return NULL;
}

void sink_free(struct sink *s)
{
	if (!s)
		return;
	clickhouse_free(s->ch);
	columns_free(s->clicks);
	buf_free(&s->insert_clicks);
	buf_free(&s->block);
	free(s);
}

struct clickhouse *sink_server(struct sink *s)
{
	return s->ch;
}

/* --- the server ----------------------------------------------------------- */

static bool is_too_old(const char *version)
{
	char *dot;
	unsigned long year = strtoul(version, &dot, 10);
	unsigned long month = *dot == '.' ? strtoul(dot + 1, NULL, 10) : 0;

	return year < OLDEST_YEAR ||
	       (year == OLDEST_YEAR && month < OLDEST_MONTH);
}

static int check_version(void *arg, char **fields, struct error *err)
{
	bool *known = arg;

	*known = true;
	if (is_too_old(fields[0]))
		return error_set(err, ERROR_UNSAFE,
				 "ClickHouse %s is too old: %d.%d or later is "
				 "needed",
				 fields[0], OLDEST_YEAR, OLDEST_MONTH);
	return 0;
}

/* Alone, and in words that any version knows. */
static int ask_version(struct sink *s, struct error *err)
{
	bool known = false;

	if (clickhouse_rows(s->ch, "SELECT version()", NULL, "s", check_version,
			    &known, err) < 0)
		return -1;
	return known ? 0
		     : error_set(err, ERROR_PROTOCOL,
				 "ClickHouse does not tell its version");
}

static int ask_settings(struct sink *s, struct error *err)
{
	static const char sql[] = "SELECT count() FROM system.settings "
				  "WHERE name = 'deduplicate_insert'";
	uint64_t count = 0;

	if (clickhouse_numbers(s->ch, sql, NULL, &count, 1, err) < 0)
		return -1;
	s->has_deduplicate_insert = count > 0;
	return 0;
}

/* When the server was started, ms since 1970 by its own clock.  It tells the
 * time it has been running in whole seconds: the answers of one that runs on
 * differ by less than one. */
static int ask_started(struct sink *s, struct error *err)
{
	uint64_t started = 0;

	if (clickhouse_numbers(s->ch,
			       "SELECT toUnixTimestamp64Milli(now64(3)) - "
			       "uptime() * 1000",
			       NULL, &started, 1, err) < 0)
		return -1;
	s->started = (int64_t)started;
	return 0;
}

int sink_ask_restarted(struct sink *s, bool *ret, struct error *err)
{
	int64_t before = s->started, apart;

	if (ask_started(s, err) < 0)
		return -1;
	apart = s->started - before;
	*ret = before && (apart > STARTED_APART || apart < -STARTED_APART);
	return 0;
}

/* Nothing is known of the server any more: it may be another one. */
static void sink_forget(struct sink *s)
{
	s->known = false;
}

int sink_check(struct sink *s, struct error *err)
{
	if (s->known)
		return 0;
	if (ask_version(s, err) < 0 || ask_settings(s, err) < 0 ||
	    (!s->started && ask_started(s, err) < 0))
		return -1;
	s->known = true;
	return 0;
}

int sink_probe(struct sink *s, struct error *err)
{
	static const char *const queries[] = {
		"SELECT epoch FROM clicks LIMIT 0",
		"SELECT epoch, lost FROM ingest_progress LIMIT 0",
		"SELECT epoch FROM links LIMIT 0",
		/* Came with the migration after the one that has the server
		 * say when a row of ingest_progress was stored. */
		"SELECT gap, reason FROM ingest_epochs LIMIT 0",
		"SELECT visits_until FROM forgotten LIMIT 0",
	};

	sink_forget(s);
	if (sink_check(s, err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		if (clickhouse_query(s->ch, queries[i], NULL, NULL, err) < 0)
			return -1;
	return 0;
}

/* --- inserting ------------------------------------------------------------ */

/* What a large batch took is given back: some wait for long. */
static int encode_clicks(struct sink *s, const void *rows, size_t len,
			 struct error *err)
{
	int status;

	buf_reset(&s->block);
	status = columns_encode(s->clicks, rows, len, &s->block, err);
	if (len > KEPT_MAX)
		columns_forget(s->clicks);
	return status < 0 ? error_wrap(err, "rows of clicks") : 0;
}

void sink_query_id(const char *table, const char *token, char id[SINK_ID_MAX])
{
	snprintf(id, SINK_ID_MAX, "shortloop:%s:%s", table, token);
}

static int insert(struct sink *s, const char *table, const char *statement,
		  const char *token, const void *data, size_t len,
		  struct error *err)
{
	char id[SINK_ID_MAX];
	struct clickhouse_param params[] = {
		{"query_id", id},
		{"insert_deduplication_token", token},
		{"insert_deduplicate", "1"},
		{"async_insert", "0"},
		{"max_insert_threads", "1"},
		{"max_insert_block_size", BLOCK_ROWS_MAX},
		{"min_insert_block_size_rows", BLOCK_ROWS_MAX},
		{"min_insert_block_size_bytes", BLOCK_BYTES_MAX},
		{"input_format_parallel_parsing", "0"},
		/* A year of few events is one block, of a part a day. */
		{"max_partitions_per_insert_block", "0"},
		{NULL, NULL}, /* deduplicate_insert, where the server has it */
		{NULL, NULL},
	};
	struct clickhouse_param *own =
		&params[sizeof(params) / sizeof(params[0]) - 2];
	int status;

	if (sink_check(s, err) < 0)
		return -1;
	if (s->has_deduplicate_insert)
		*own = (struct clickhouse_param){"deduplicate_insert",
						 "enable"};
	sink_query_id(table, token, id);
	status = clickhouse_insert(s->ch, statement, params, data, len, err);
	if (status == 0)
		return 0;
	sink_forget(s);
	return error_wrap(err, "insert into %s", table);
}

int sink_insert(struct sink *s, enum sink_table table, const char *token,
		const void *rows, size_t len, struct error *err)
{
	const char *statement = tables[table].insert;
	int status;

	if (table == SINK_CLICKS) {
		if (encode_clicks(s, rows, len, err) < 0)
			return -1;
		statement = s->insert_clicks.data;
		rows = s->block.data;
		len = s->block.len;
	}
	status =
		insert(s, tables[table].name, statement, token, rows, len, err);
	buf_empty(&s->block, KEPT_MAX);
	return status;
}

int sink_insert_into(struct sink *s, const char *table, const char *columns,
		     const char *token, const void *rows, size_t len,
		     struct error *err)
{
	struct buf statement = {0};
	int status;

	buf_printf(&statement, "INSERT INTO %s (%s) FORMAT RowBinary", table,
		   columns);
	status = buf_cstr(&statement) ? insert(s, table, statement.data, token,
					       rows, len, err)
				      : error_set_nomem(err);
	buf_free(&statement);
	return status;
}
