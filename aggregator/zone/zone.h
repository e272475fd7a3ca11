/*
 * zone.h - local time in any IANA time zone, from the system's tzdata.
 *
 * A loaded zone is only read: any thread may use it.  Instants are seconds
 * since 1970 (UTC); "local" seconds are what a clock on the wall would count.
 * Changes are known until the end of 2106, where ClickHouse's DateTime ends.
 */
#ifndef AGGREGATOR_ZONE_ZONE_H
#define AGGREGATOR_ZONE_ZONE_H

#include <stdint.h>

#include "common/error.h"

#define ZONE_NAME_MAX 64

struct zone;

/*
 * `directory` is where the TZif files lie ("/usr/share/zoneinfo"); `name` may
 * come from anybody.  A name that is no zone is ERROR_INPUT.  "UTC" is known
 * without a file.
 */
struct zone *zone_load(const char *directory, const char *name,
		       struct error *err);
void zone_free(struct zone *zone); /* NULL accepted */

const char *zone_name(const struct zone *zone);

/* Seconds east of UTC at that instant. */
int32_t zone_offset(const struct zone *zone, int64_t at);

/* The first change of offset after `at`, or INT64_MAX. */
int64_t zone_next_change(const struct zone *zone, int64_t at);

/* The last change of offset at or before `at`, or INT64_MIN. */
int64_t zone_last_change(const struct zone *zone, int64_t at);

/*
 * The first instant at which the wall shows `local` or later: of a time shown
 * twice the first, of a time that is skipped the end of the gap.
 */
int64_t zone_from_local(const struct zone *zone, int64_t local);

#define ZONE_TEXT_MAX 40
/* RFC 3339 with the zone's offset, "Z" for UTC itself.  Returns `text`. */
const char *zone_format(const struct zone *zone, int64_t at,
			char text[ZONE_TEXT_MAX]);

#endif
