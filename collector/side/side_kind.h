/*
 * side_kind.h - what differs between side topics: how a record becomes rows.
 */
#ifndef COLLECTOR_SIDE_SIDE_KIND_H
#define COLLECTOR_SIDE_SIDE_KIND_H

#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

struct side_metric {
	const char *name, *help;
};

struct side_kind {
	const char *name; /* of the health check, and part of the group */
	const char *client_id;
	const char *what;   /* the records, in errors */
	const char *insert; /* the statement that inserts rows */
	size_t rows_max;    /* per insert */
	/* Appends the rows of a record, and adds their number to *row_count.
	 * ERROR_INPUT: the record is invalid.  After a failure nothing is
	 * appended. */
	int (*append)(struct buf *rows, size_t *row_count, const void *record,
		      size_t len, struct error *err);
	struct side_metric stored, failures, passed;
};

#endif
