/* access_time.h - the times that access logs have. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_TIME_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Reads, as milliseconds since 1970 (UTC):
 *	17/May/2015:10:05:03 +0000	brackets around it are accepted
 *	2015-05-17T10:05:03+00:00	RFC 3339; a blank for the T, no colon in
 *					the offset, a comma before fractions
 *	1431857103.123			seconds; 13 digits are ms, 16 are us
 * and, where `pattern` is not NULL, what strptime(3) makes of it (UTC unless
 * it has %z).  A time before 1970 or after CLOCK_REAL_MAX is ERROR_INPUT.
 */
int access_time_read(const char *text, size_t len, const char *pattern,
		     int64_t *ret_ms, struct error *err);

#endif
