/*
 * rows.h - queries ClickHouse and reads the answer row by row.  The statement
 * has no FORMAT clause, or FORMAT TabSeparated, which is the server's default.
 */
#ifndef COMMON_CLICKHOUSE_ROWS_H
#define COMMON_CLICKHOUSE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/clickhouse/tsv.h"
#include "common/error.h"

enum {
	CLICKHOUSE_FIELDS_MAX = 64
};

/* `fields` are unescaped and writable, and valid during the call.  Returns -1,
 * with err filled, to stop reading. */
typedef int clickhouse_row_fn(void *arg, char **fields, struct error *err);

/*
 * Calls `fn` for each row, in order.  `columns` has a letter for each column,
 * up to CLICKHOUSE_FIELDS_MAX:
 *  n  a whole number, or NULL, which reads as 0
 *  d  a number that may have a fraction
 *  s  any text
 * A row of another shape is ERROR_PROTOCOL, which names it.  `params` as in
 * clickhouse_query.  `fn` may use `ch`.
 */
int clickhouse_rows(struct clickhouse *ch, const char *sql,
		    const struct clickhouse_param *params, const char *columns,
		    clickhouse_row_fn *fn, void *arg, struct error *err);

/* The same for an answer of clickhouse_query.  The fields point into `answer`,
 * which is rewritten in place, and live as long as it does. */
int clickhouse_rows_of(struct buf *answer, const char *columns,
		       clickhouse_row_fn *fn, void *arg, struct error *err);

/* The same for a query whose answer is always one row; ERROR_PROTOCOL
 * otherwise. */
int clickhouse_row(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, const char *columns,
		   clickhouse_row_fn *fn, void *arg, struct error *err);

/* Returns `columns` for `count` whole numbers, at most
 * CLICKHOUSE_FIELDS_MAX. */
const char *clickhouse_number_columns(size_t count);

/* Reads the `count` numbers of an answer that is one row; ERROR_PROTOCOL
 * otherwise. */
int clickhouse_numbers(struct clickhouse *ch, const char *sql,
		       const struct clickhouse_param *params, uint64_t *ret,
		       size_t count, struct error *err);

/* Reads the server's clock, in ms since 1970. */
int clickhouse_now(struct clickhouse *ch, int64_t *ret_ms, struct error *err);

#endif
