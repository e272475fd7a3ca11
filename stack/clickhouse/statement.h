/*
 * statement.h - what a request's SQL asks for, before the engine sees it.
 *
 * The engine is given an INSERT's data as a file, because it would look for the
 * end of data that follows the query at a newline, which binary formats
 * contain. So the place where data starts has to be found here, and the place
 * where the file is named.  Pure.
 */
#ifndef STACK_CLICKHOUSE_STATEMENT_H
#define STACK_CLICKHOUSE_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "common/error.h"

#define STATEMENT_FORMAT_MAX 64

struct statement {
	bool has_data; /* an INSERT whose rows follow it */
	bool reads;    /* SELECT, SHOW and the like: writes nothing */
	/* The format of the rows that follow, or the one its FORMAT clause
	 * names for the answer; "" when it names none. */
	char format[STATEMENT_FORMAT_MAX];
	/* Offsets into the text, with has_data: where FROM INFILE goes, where
	 * the clauses after it end, and where the data starts. */
	size_t splice, clauses_end, data;
	/* Where DROP says SYNC; equal when it does not.  The engine runs no
	 * thread that removes what was dropped, and would wait for ever. */
	size_t sync_start, sync_end;
};

/*
 * Several statements at once, files of the server named by the client, and
 * data for input() are refused as ClickHouse's HTTP interface does: err is
 * ERROR_INPUT in ClickHouse's own form, "Code: 62. DB::Exception: ...".
 */
int statement_parse(struct statement *st, const char *text, size_t len,
		    struct error *err);

/* Appends the INSERT, reading its data from the file at `path` (no quotes or
 * backslashes in it). */
void statement_insert_from(const struct statement *st, const char *text,
			   const char *path, struct buf *out);

#endif
