#include "collector/exactly_once/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/enrich/row.h"
#include "collector/exactly_once/batch.h"
#include "common/clickhouse/columns.h"
#include "common/clickhouse/rows.h"

/* More than twice the maxima of collector.batch_rows and batch_bytes. */
#define BLOCK_ROWS_MAX	"4000000"
#define BLOCK_BYTES_MAX "2147483648"

enum {
	/* The oldest version that is accepted, year and month.  Older ones
	 * numbered a token by the part of the insert that it stood for: if the
	 * rows of one day were left out, those of the next day were taken for
	 * other ones, and stored twice or not at all.  (Seen in 23.10, not in
	 * 24.8; the changes are those of ClickHouse 24.7.) */
	OLDEST_YEAR = 24,
	OLDEST_MONTH = 8,
	KEPT_MAX = 1 << 20, /* bytes kept between two inserts */
	/* ms: start times that differ by more belong to two starts.  This
	 * detects the restart of a server that ran for two seconds.
	 * Acknowledged rows are lost only when a machine loses power, and no
	 * machine restarts so fast. */
	STARTED_APART = 1100,
};

struct sink {
	struct clickhouse *ch;
	struct columns *clicks;
	struct buf insert_clicks; /* the statement's text */
	struct buf block;	  /* the rows as columns */
	/* `known`: the server was checked.  Not every version has the
	 * setting. */
	bool known;
	bool has_deduplicate_insert;
	/* When it was started, at the last query; 0: unknown. */
	int64_t started;
};

struct sink_table_sql {
	const char *name;
	const char *insert;
};

static const struct sink_table_sql tables[SINK_TABLE_COUNT] = {
	/* Most rows are clicks; they are sent as columns. */
	[SINK_CLICKS] = {"clicks", NULL},
	[SINK_PROGRESS] = {"ingest_progress",
			   "INSERT INTO ingest_progress (" PROGRESS_COLUMNS
			   ") FORMAT RowBinary"},
	[SINK_LINKS] = {"links", row_insert_links},
	[SINK_CREATIONS] = {"created_links", row_insert_creations},
};

const char *sink_table_name(enum sink_table table)
{
	return tables[table].name;
}

static int prepare_clicks_statement(struct sink *s, struct error *err)
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
	if (s->clicks && prepare_clicks_statement(s, err) == 0)
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

/* This query stands alone, and any version understands it. */
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

/* Queries when the server was started, ms since 1970 by its own clock.  The
 * server returns its uptime in whole seconds: answers about the same start
 * differ by less than one second. */
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

/* The server may be another one now, so that nothing is known of it. */
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
		"SELECT lost, link_partitions FROM ingest_progress LIMIT 0",
		"SELECT epoch FROM links LIMIT 0",
		"SELECT link_id FROM created_links LIMIT 0",
		/* These columns came with the migration after the one that lets
		 * the server set when a row of ingest_progress was stored. */
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

/* --- inserts -------------------------------------------------------------- */

/* The memory of a large batch is freed: the next batch may come much later. */
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

static int send_insert_statement(struct sink *s, const char *table,
				 const char *statement, const char *token,
				 const void *data, size_t len,
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
		/* A block of few events may span a year, with one part per
		 * day. */
		{"max_partitions_per_insert_block", "0"},
		{NULL, NULL}, /* deduplicate_insert, if the server has it */
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
	status = send_insert_statement(s, tables[table].name, statement, token,
				       rows, len, err);
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
	status = buf_cstr(&statement)
			 ? send_insert_statement(s, table, statement.data,
						 token, rows, len, err)
			 : error_set_nomem(err);
	buf_free(&statement);
	return status;
}
