/*
 * statement.h - fills the blanks of a statement whose text stands in a file.
 *
 * A blank is "@name@".  It stands for a piece of SQL that a program computes: a
 * list of dimensions, a condition that only some statements have.  Values are
 * no blanks but parameters, which the server reads: nothing that comes from
 * outside is ever put into a blank.
 */
#ifndef COMMON_CLICKHOUSE_STATEMENT_H
#define COMMON_CLICKHOUSE_STATEMENT_H

#include "common/buf.h"

struct statement_blank {
	const char *name;
	const char *sql; /* NULL: nothing stands there */
};

/*
 * Appends `text` with its blanks filled.  `blanks` ends with a name that is
 * NULL.  What a blank is filled with is not searched for blanks.  A blank that
 * is not in `blanks` sets `failed` of the buffer.
 */
void statement_put(struct buf *sql, const char *text,
		   const struct statement_blank *blanks);

/*
 * Returns a piece that was computed for a blank, for as long as `piece` stays
 * as it is.  If there was no memory for it, sets `failed` of the buffer `sql`:
 * a statement without it would mean something else.
 */
const char *statement_piece(struct buf *sql, struct buf *piece);

#endif
