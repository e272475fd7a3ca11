/*
 * columns.h - converts rows in RowBinary to one block of ClickHouse's Native
 * format: column by column, with dictionaries for repeated values.
 *
 * A block is smaller to compress and to send, and costs the server a fifth of
 * the work, since otherwise it looks up every text of every row.  Formats:
 * ClickHouse docs, "Native", and SerializationLowCardinality.cpp.  Not
 * thread-safe.
 */
#ifndef COMMON_CLICKHOUSE_COLUMNS_H
#define COMMON_CLICKHOUSE_COLUMNS_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

struct columns;

/*
 * `description`: "name Type, name Type" in the order of the rows.  Adjacent
 * columns of LowCardinality(String) are looked up together, which is best if
 * one determines the other; a semicolon in place of the comma separates them.
 * Types: those of fixed width up to 8 bytes, UUID, IPv6, FixedString(N),
 * String, LowCardinality(String), Array(LowCardinality(String)),
 * Map(LowCardinality(String), String).  The type is that of the block; the
 * server converts it to the table's, so that LowCardinality(String) is right
 * for a String that repeats and Int8 for an Enum8.  ERROR_CONFIG for others.
 */
struct columns *columns_new(const char *description, struct error *err);
void columns_free(struct columns *c); /* NULL accepted */

/* Returns "name, name", for "INSERT INTO t (...)". */
const char *columns_names(const struct columns *c);

/*
 * Appends the rows as a block; the same rows make the same bytes.  ERROR_INPUT
 * if they do not fit the description.  Memory is kept for the next call.
 */
int columns_encode(struct columns *c, const void *rows, size_t len,
		   struct buf *out, struct error *err);

/* Frees that memory. */
void columns_forget(struct columns *c);

#endif
