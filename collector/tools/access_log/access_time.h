/* access_time.h - reads the times in access logs. */
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
 *	2015-05-17T10:05:03+00:00	RFC 3339; also with a blank for the T,
 *					slashes, no colon in the offset, a comma
 *					before the optional fraction
 *	Sun, 17 May 2015 10:05:03 GMT	and Sun May 17 10:05:03 2015
 *	1431857103.123			seconds; with 12 digits or more before
 *					the point ms, with 15 us, with 18 ns
 * and, if `pattern` is not NULL, what strptime(3) makes of it.  A time without
 * a zone is in UTC, or in the process' zone (TZ) if `local`.  A time before
 * 1970 or after CLOCK_REAL_MAX is ERROR_INPUT.
 */
int access_time_read(const char *text, size_t len, const char *pattern,
		     bool local, int64_t *ret_ms, struct error *err);

#endif
