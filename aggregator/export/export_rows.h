/*
 * export_rows.h - the columns of an export, and its rows as text.
 *
 * An export has what the API breaks counts down by, and nothing that tells one
 * visitor from another: no address, no visitor's identity, no user agent,
 * cookies, query, place finer than a city, and no referrer beyond its host.
 */
#ifndef AGGREGATOR_EXPORT_EXPORT_ROWS_H
#define AGGREGATOR_EXPORT_EXPORT_ROWS_H

#include "aggregator/export/export_question.h"
#include "common/buf.h"

/* What is selected of `clicks`, as clickhouse_rows takes it. */
extern const char *const export_select;
extern const char *const export_kinds;

/* Where the row is, by its fields. */
void export_rows_place(char *const *fields, struct export_place *ret);

/* The first line, where the format has one. */
void export_rows_head(struct buf *out, enum export_format format);

/* A row without its end, which says where another export may go on, or
 * nothing. */
void export_rows_put(struct buf *out, enum export_format format,
		     char *const *fields);
void export_rows_end(struct buf *out, enum export_format format,
		     const char *cursor);

#endif
