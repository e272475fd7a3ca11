/*
 * statement.h - splits a file of SQL into its statements.
 */
#ifndef AGGREGATOR_MIGRATE_STATEMENT_H
#define AGGREGATOR_MIGRATE_STATEMENT_H

#include <stdbool.h>

#include "common/buf.h"

/*
 * Appends the next statement, without its final `;` and surrounding blanks and
 * comments, and moves *sql behind it.  A `;` in a string, a quoted name or a
 * "--" comment does not end a statement.  Returns false if only blanks and
 * comments are left.
 */
bool statement_next(const char **sql, struct buf *out);

#endif
