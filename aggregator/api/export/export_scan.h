/*
 * export_scan.h - the rows of an export, some thousands at a time, each time by
 * a query of its own: ClickHouse holds nothing while a client is slow.
 *
 * The order is UTC days, within a day links, and within a link time.  That is
 * the order of the table, so that a query reads on where the last one ended.  A
 * query covers one day, or several days if few rows are found, or a portion of
 * a day's links if they are many.  Days of which the table has no rows are
 * skipped.
 */
#ifndef AGGREGATOR_API_EXPORT_EXPORT_SCAN_H
#define AGGREGATOR_API_EXPORT_EXPORT_SCAN_H

#include <stdbool.h>

#include "aggregator/api/access.h"
#include "aggregator/api/export/export_links.h"
#include "aggregator/api/export/export_question.h"
#include "common/buf.h"
#include "common/clickhouse/clickhouse.h"
#include "common/error.h"

struct export_scan {
	struct export_range range;
	const struct access *access; /* of the caller */
	struct export_links links;   /* owned */
	bool all_links;		     /* `links` is not used */
	const char *url;	     /* digest of the rows' URL; "": any */
	const char *visitor;	     /* identity of their visitor; "": any */
	unsigned also;		     /* columns, as in export_question */
	/* The position. */
	struct export_place last; /* the last row so far */
	bool begun;		  /* there were rows */
	int64_t day;		  /* start of the next query, ms */
	int64_t span;		  /* days that it covers */
	size_t next_link;	  /* its start in `links` */
	bool after;		  /* it begins behind `last` */
	uint64_t found;		  /* rows of the span so far */
	bool seek;		  /* `day` may have no rows */
};

/* Begins, or goes on behind `after` unless it is NULL.  `range`, `access`,
 * `links`, `url`, `visitor` and `also` have to be set. */
void export_scan_start(struct export_scan *s, const struct export_place *after);
void export_scan_release(struct export_scan *s);

bool export_scan_is_done(const struct export_scan *s);

/* Returns the place behind the rows so far, for a cursor: the last row, or,
 * before there is one, the place where the first may be.  The scan must not be
 * done. */
struct export_place export_scan_place(const struct export_scan *s);

/* Appends up to `max` of the next rows, as ClickHouse writes export_page.sql,
 * and steps on.  It may append fewer, or none, although there are more. */
int export_scan_next(struct export_scan *s, struct clickhouse *ch, size_t max,
		     struct buf *answer, size_t *ret_rows, struct error *err);

#endif
