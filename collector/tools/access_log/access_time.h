/* access_time.h - the times that access logs have. */
#ifndef COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_TIME_H
#define COLLECTOR_TOOLS_ACCESS_LOG_ACCESS_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum {
	ACCESS_TIME_MAX = 63 /* bytes of a time */
};

/*
 * Reads, as milliseconds since 1970 (UTC):
 *	17/May/2015:10:05:03 +0000	brackets around it are accepted
 *	2015-05-17T10:05:03+00:00	RFC 3339; a blank for the T, slashes,
 *					no colon in the offset, a comma before
 *					fractions, of which there may be any
 *	Sun, 17 May 2015 10:05:03 GMT	and Sun May 17 10:05:03 2015
 *	1431857103.123			seconds; of 12 digits or more before the
 *					point ms, of 15 us, of 18 ns
 * and, where `pattern` is not NULL, what strptime(3) makes of it.  A time that
 * names no zone is of UTC; of the process' zone (TZ) if `local`.  A time before
 * 1970 or after CLOCK_REAL_MAX is ERROR_INPUT.
 */
int access_time_read(const char *text, size_t len, const char *pattern,
		     bool local, int64_t *ret_ms, struct error *err);

#endif
