/* failure.h - ClickHouse's exception codes, texts and HTTP statuses. */
#ifndef STACK_CLICKHOUSE_FAILURE_H
#define STACK_CLICKHOUSE_FAILURE_H

#include <stddef.h>

#include "common/error.h"

/* The codes of this program's own answers; the engine adds more. */
enum failure_code {
	FAILURE_UNKNOWN_TYPE_OF_QUERY = 78,
	FAILURE_BAD_ARGUMENTS = 36,
	FAILURE_NOT_IMPLEMENTED = 48,
	FAILURE_SYNTAX_ERROR = 62,
	FAILURE_UNKNOWN_SETTING = 115,
	FAILURE_QUERY_IS_TOO_LARGE = 229,
	FAILURE_READONLY = 164,
	FAILURE_TOO_MANY_QUERIES = 202,
	FAILURE_CANNOT_DECOMPRESS = 271,
	FAILURE_SAME_ID_IS_RUNNING = 216,
	FAILURE_SESSION_NOT_FOUND = 372,
	FAILURE_QUERY_WAS_CANCELLED = 394,
	FAILURE_SESSION_IS_LOCKED = 373,
	FAILURE_AUTHENTICATION = 516,
	FAILURE_STD_EXCEPTION = 1001,
};

/* Sets err to ERROR_INPUT with "Code: N. DB::Exception: TEXT. (NAME)".
 * Returns -1. */
int failure_set(struct error *err, enum failure_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns the N of "Code: N.  ..." at the start of a text, or 1001. */
int failure_code_of(const char *text);

/* Returns ClickHouse's HTTP status for that code. */
int failure_http_status(int code);

#endif
