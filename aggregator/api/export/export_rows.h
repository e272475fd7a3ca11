/*
 * export_rows.h - the columns of an export, and its rows as text.
 *
 * An export has the values that the API groups counts by, and nothing that
 * distinguishes one visitor from another: no address, no visitor's identity, no
 * user agent, cookies or query, no place finer than a city, and no referrer
 * beyond its host.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_ROWS_H
#define AGGREGATOR_API_EXPORT_EXPORT_ROWS_H

#include "aggregator/api/export/export_question.h"
#include "common/buf.h"

/* The kinds of the columns that aggregator/sql/export_page.sql selects, for
 * clickhouse_rows. */
extern const char *const export_kinds;

/* Reads the place of a row from its fields. */
void export_rows_place(char *const *fields, struct export_place *ret);

/* Writes the first line, if the format has one. */
void export_rows_head(struct buf *out, enum export_format format);

/* Write a row without its end, and the end with the cursor from which another
 * export may go on, or without one. */
void export_rows_put(struct buf *out, enum export_format format,
		     char *const *fields);
void export_rows_end(struct buf *out, enum export_format format,
		     const char *cursor);

#endif
