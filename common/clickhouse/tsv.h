/*
 * tsv.h - reads ClickHouse's TabSeparated format.  Format: ClickHouse docs,
 * "Formats: TabSeparated".
 */
#ifndef COMMON_CLICKHOUSE_TSV_H
#define COMMON_CLICKHOUSE_TSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

/* Start from tsv_rows(&answer); the fields point into the buffer, which is
 * rewritten in place. */
struct tsv {
	char *p;
	char *end;
	bool bad; /* a row had another number of fields */
};

struct tsv tsv_rows(struct buf *answer);

/*
 * Takes the next row: exactly `count` fields, unescaped and NUL-terminated.
 * Returns false at the end, or when the row has another shape (`bad` is then
 * set).  A NULL value reads as "".
 */
bool tsv_next(struct tsv *t, char **fields, size_t count);

/* Returns the number in a field of digits; 0 if it is no number (rows.h checks
 * that before). */
uint64_t tsv_u64(const char *field);
int64_t tsv_i64(const char *field);

#endif
