/*
 * export_rows.h - the columns of an export, and its rows as text.
 *
 * An export has the values that the API groups counts by, and nothing that
 * distinguishes one visitor from another: no address, no visitor's identity, no
 * user agent or query, no place finer than a city, and no referrer beyond its
 * host.  Cookies and trace ids are there if the question asks for them, which
 * only some keys may.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_ROWS_H
#define AGGREGATOR_API_EXPORT_EXPORT_ROWS_H

#include "aggregator/api/export/export_question.h"
#include "common/buf.h"
#include "common/clickhouse/rows.h"

enum export_kind {
	KIND_TIME, /* ms since 1970 */
	KIND_ID,   /* a number that JavaScript cannot hold */
	KIND_NUMBER,
	KIND_TEXT,
	KIND_JSON,
};

/* The fields of a row's place come behind its columns. */
#define EXPORT_COLUMNS_MAX (CLICKHOUSE_FIELDS_MAX - 4)

/* The columns of an export: every dimension of the API (aggregator/dimension.h)
 * is one.  `also`: as in export_question. */
struct export_columns {
	const char *names[EXPORT_COLUMNS_MAX];
	enum export_kind kinds[EXPORT_COLUMNS_MAX];
	size_t count;
	/* For clickhouse_rows, those of the place included. */
	char letters[CLICKHOUSE_FIELDS_MAX + 1];
};
void export_columns_fill(struct export_columns *ret, unsigned also);

/* Fills the blank @more_columns@ of aggregator/sql/export_page.sql: dimensions,
 * then `also`. */
void export_columns_put_more(struct buf *sql, unsigned also);

/* Reads the place of a row from its fields. */
void export_rows_place(const struct export_columns *columns,
		       char *const *fields, struct export_place *ret);

/* Writes the first line, if the format has one. */
void export_rows_head(struct buf *out, enum export_format format,
		      unsigned also);

/* Write a row without its end, and the end with the cursor from which another
 * export may go on, or without one. */
void export_rows_put(struct buf *out, enum export_format format,
		     const struct export_columns *columns, char *const *fields);
void export_rows_end(struct buf *out, enum export_format format,
		     const char *cursor);

#endif
