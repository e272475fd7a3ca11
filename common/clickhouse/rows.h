/*
 * rows.h - asks ClickHouse and reads the answer row by row.  The statement has
 * no FORMAT clause, or FORMAT TabSeparated, which is the server's default.
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
	CLICKHOUSE_FIELDS_MAX = 32
};

/* `fields` are unescaped and writable; they are gone after the call.  Returns
 * -1, with err filled, to end the reading. */
typedef int clickhouse_row_fn(void *arg, char **fields, struct error *err);

/*
 * Calls `fn` for each row, in order.  `columns` says what each has, a letter a
 * column, up to CLICKHOUSE_FIELDS_MAX:
 *   n  a whole number, or NULL, which reads as 0
 *   d  a number that may have a fraction
 *   s  any text
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

/* The same for a question whose answer is always one row; ERROR_PROTOCOL when
 * it is not. */
int clickhouse_row(struct clickhouse *ch, const char *sql,
		   const struct clickhouse_param *params, const char *columns,
		   clickhouse_row_fn *fn, void *arg, struct error *err);

/* `columns` of so many whole numbers, at most CLICKHOUSE_FIELDS_MAX. */
const char *clickhouse_number_columns(size_t count);

/* The `count` numbers of an answer that is one row; ERROR_PROTOCOL when it is
 * not. */
int clickhouse_numbers(struct clickhouse *ch, const char *sql,
		       const struct clickhouse_param *params, uint64_t *ret,
		       size_t count, struct error *err);

/* The server's clock, ms since 1970. */
int clickhouse_now(struct clickhouse *ch, int64_t *ret_ms, struct error *err);

#endif
