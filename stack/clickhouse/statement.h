/*
 * statement.h - parses a request's SQL before it goes to the engine.
 *
 * The engine gets an INSERT's data as a file, because it would search for the
 * end of data that follows the query at a newline, which binary formats
 * contain.  So this finds where the data starts, and where the file has to be
 * named.  Pure.
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
	bool reads;    /* SELECT, SHOW and the like: it does not write */
	/* The format of the rows that follow, or that of the answer from the
	 * FORMAT clause; "" if there is none. */
	char format[STATEMENT_FORMAT_MAX];
	/* Offsets into the text, with has_data: where FROM INFILE is inserted,
	 * where the clauses after it end, and where the data starts. */
	size_t splice, clauses_end, data;
	/* The place of SYNC in a DROP; equal if there is none.  The engine runs
	 * no thread that removes dropped tables, and would wait for ever. */
	size_t sync_start, sync_end;
};

/*
 * Parses one statement.  Several statements at once, files of the server named
 * by the client, and data for input() are refused, as by ClickHouse's HTTP
 * interface: err is ERROR_INPUT in ClickHouse's own form, "Code: 62.
 * DB::Exception: ...".
 */
int statement_parse(struct statement *st, const char *text, size_t len,
		    struct error *err);

/* Appends the INSERT, with its data read from the file at `path` (no quotes or
 * backslashes in it). */
void statement_insert_from(const struct statement *st, const char *text,
			   const char *path, struct buf *out);

#endif
