/*
 * forget_columns.h - the values that forgetting leaves in the columns of
 * `clicks` and of the archive, as assignments of an ALTER TABLE ... UPDATE.
 * They are those of the tables of columns, schemas/click_columns.inc and
 * schemas/link_columns.inc.
 */
#ifndef AGGREGATOR_FORGET_FORGET_COLUMNS_H
#define AGGREGATOR_FORGET_FORGET_COLUMNS_H

#include "common/buf.h"

/* Of rows of `clicks`: those of a forgotten visitor, and what is left where the
 * condition `is_link` holds, too. */
void forget_columns_put_clicks(struct buf *sql, const char *is_link);
/* Of rows of the archive. */
void forget_columns_put_links(struct buf *sql);

#endif
