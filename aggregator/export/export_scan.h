/*
 * export_scan.h - the rows of an export, some thousands at a time, each by a
 * question of its own: nothing is held in ClickHouse while a client is slow.
 *
 * The order is one of UTC days, in a day of links, and of a link of time: that
 * of the table, so that a question reads on where the last one ended.  A day at
 * a time is asked for, or several where few rows are found, or the links of a
 * day in portions where they are many.  Days of which the table has no rows are
 * passed over.
 */
#ifndef AGGREGATOR_EXPORT_EXPORT_SCAN_H
#define AGGREGATOR_EXPORT_EXPORT_SCAN_H

#include <stdbool.h>

#include "aggregator/export/export_links.h"
#include "aggregator/export/export_question.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct export_scan {
	struct export_range range;
	struct export_links links; /* owned */
	bool all_links;		   /* `links` does not matter */
	/* Where it is. */
	struct export_place last; /* of the rows so far */
	bool begun;		  /* there were any */
	int64_t day;		  /* where the next question begins, ms */
	int64_t span;		  /* days that it is about */
	size_t next_link;	  /* where it begins in `links` */
	bool after;		  /* it begins behind `last` */
	uint64_t found;		  /* rows of the span so far */
	bool seek;		  /* `day` may be one without any rows */
};

/* `range` and `links` are set.  Begins, or goes on behind `after` unless it is
 * NULL. */
void export_scan_start(struct export_scan *s, const struct export_place *after);
void export_scan_release(struct export_scan *s);

bool export_scan_is_done(const struct export_scan *s);

/* Behind what there was so far, for a cursor: the last row, or, before there is
 * one, the place where the first may be.  Of a scan that is not done. */
struct export_place export_scan_place(const struct export_scan *s);

/* Appends up to `max` of the next rows, as ClickHouse writes export_select of
 * them, and steps on; fewer also where there are more.  There may be none yet.
 */
int export_scan_next(struct export_scan *s, struct clickhouse *ch, size_t max,
		     struct buf *answer, size_t *ret_rows, struct error *err);

#endif
