/*
 * failure.h - evaluates an answer of ClickHouse that is not a success.  Pure:
 * no I/O.  Codes: ClickHouse's ErrorCodes.cpp, by number.
 */
#ifndef COMMON_CLICKHOUSE_FAILURE_H
#define COMMON_CLICKHOUSE_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* For error_outside, in place of an error that contains ClickHouse's text or
 * address. */
#define CLICKHOUSE_FAILED                                                      \
	"ClickHouse is away or refused this; the log of the program says why"

/* Returns the number in "Code: 62. DB::Exception: ..." wherever a body has
 * it, or 0. */
int clickhouse_code_of_body(const char *body, size_t len);

/* Returns true if the same request may succeed later without any change. */
bool clickhouse_code_is_passing(int code);
bool clickhouse_status_is_passing(long http_status);

/*
 * Fills err from an answer: `code` is the exception code (0: none was given),
 * the text is the body's first line, cut to fit.  Returns -1.
 */
int clickhouse_failure_set(struct error *err, long http_status, int code,
			   const char *body, size_t len);

#endif
