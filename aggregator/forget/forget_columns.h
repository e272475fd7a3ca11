/*
 * forget_columns.h - the values that forgetting leaves in the columns of
 * `clicks` and of the archive, as assignments of an ALTER TABLE ... UPDATE.
 * They are those of the tables of columns, schemas/click_columns.inc and
 * schemas/link_columns.inc.
 */
#ifndef AGGREGATOR_FORGET_FORGET_COLUMNS_H
#define AGGREGATOR_FORGET_FORGET_COLUMNS_H

#include "common/buf.h"

/* Writes those for `clicks`: what a forgotten visitor leaves, and what a
 * forgotten link leaves where the condition `is_link` holds. */
void forget_columns_put_clicks(struct buf *sql, const char *is_link);
/* Writes those for `sampled_clicks`, of a visitor or a link. */
void forget_columns_put_sample(struct buf *sql);
/* Writes those for the archive, `links`. */
void forget_columns_put_links(struct buf *sql);

#endif
