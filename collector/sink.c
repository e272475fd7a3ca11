#include "collector/sink.h"

#include <stdlib.h>

#include "collector/batch.h"
#include "collector/enrich/row.h"
#include "common/clickhouse/columns.h"

/* More than twice what collector.batch_rows and batch_bytes can be. */
#define BLOCK_ROWS_MAX	"4000000"
#define BLOCK_BYTES_MAX "2147483648"

enum {
	KEPT_MAX = 1 << 20 /* of memory, between two inserts */
};

struct sink {
	struct clickhouse *ch;
	struct columns *clicks;
	struct buf insert_clicks; /* the statement */
	struct buf block;	  /* the rows in columns */
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
	[SINK_LINKS] = {"links", "INSERT INTO links (" LINK_COLUMNS
				 ") FORMAT RowBinary"},
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
	s->clicks = s->ch ? columns_new(CLICK_COLUMNS, err) : NULL;
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

int sink_probe(struct sink *s, struct error *err)
{
	static const char *const queries[SINK_TABLE_COUNT] = {
		"SELECT epoch FROM clicks LIMIT 0",
		"SELECT epoch, lost FROM ingest_progress LIMIT 0",
		"SELECT epoch FROM links LIMIT 0",
	};

	for (size_t i = 0; i < SINK_TABLE_COUNT; i++)
		if (clickhouse_query(s->ch, queries[i], NULL, NULL, err) < 0)
			return -1;
	return 0;
}

/* What a large block took is given back: some wait for long. */
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

int sink_insert(struct sink *s, enum sink_table table, const char *token,
		const void *rows, size_t len, struct error *err)
{
	const struct clickhouse_param params[] = {
		{"insert_deduplication_token", token},
		{"insert_deduplicate", "1"},
		{"async_insert", "0"},
		{"max_insert_block_size", BLOCK_ROWS_MAX},
		{"min_insert_block_size_rows", BLOCK_ROWS_MAX},
		{"min_insert_block_size_bytes", BLOCK_BYTES_MAX},
		{"input_format_parallel_parsing", "0"},
		/* A year of few events is one block, of a part a day. */
		{"max_partitions_per_insert_block", "0"},
		{NULL, NULL},
	};

	const char *insert = tables[table].insert;
	int status = 0;

	if (table == SINK_CLICKS) {
		if (encode_clicks(s, rows, len, err) < 0)
			return -1;
		insert = s->insert_clicks.data;
		rows = s->block.data;
		len = s->block.len;
	}
	if (clickhouse_insert(s->ch, insert, params, rows, len, err) < 0)
		status = error_wrap(err, "insert into %s", tables[table].name);
	buf_empty(&s->block, KEPT_MAX);
	return status;
}
