/*
 * posix_tz.h - the rule at the end of a TZif file, for times after its last
 * listed change, in the POSIX format of the variable TZ
 * ("CET-1CEST,M3.5.0,M10.5.0/3") with the extensions of RFC 8536 (hours from
 * -167 to 167).
 */
#ifndef AGGREGATOR_ZONE_POSIX_TZ_H
#define AGGREGATOR_ZONE_POSIX_TZ_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* The date and time at which an offset begins in a year, by the local time
 * before the change. */
struct posix_date {
	enum {
		POSIX_JULIAN,	/* Jn: 1 to 365, 29 February never counted */
		POSIX_ORDINAL,	/* n: 0 to 365 */
		POSIX_MONTH_DAY /* Mm.w.d: week 5 is the last */
	} kind;
	int month, week, day;
	int32_t time; /* seconds after midnight, may be negative */
};

struct posix_tz {
	int32_t standard; /* seconds east of UTC */
	bool has_dst;
	int32_t dst;
	struct posix_date dst_begin, dst_end;
};

/* Returns -1 with ERROR_INPUT if the text is not such a rule. */
int posix_tz_parse(struct posix_tz *tz, const char *text, struct error *err);

/* Return the time (seconds since 1970, UTC) of each of a year's two changes. */
int64_t posix_tz_dst_begin(const struct posix_tz *tz, int64_t year);
int64_t posix_tz_dst_end(const struct posix_tz *tz, int64_t year);

#endif
