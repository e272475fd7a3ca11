/*
 * zone.h - local time in any IANA time zone, from the system's tzdata.
 *
 * A loaded zone is read-only: any thread may use it.  Times are seconds since
 * 1970 (UTC); "local" seconds are counted on a local clock.  Changes are known
 * until the end of 2106, where ClickHouse's DateTime ends.
 */
#ifndef AGGREGATOR_ZONE_ZONE_H
#define AGGREGATOR_ZONE_ZONE_H

#include <stdint.h>

#include "common/error.h"

#define ZONE_NAME_MAX 64

struct zone;

/* `directory` has the TZif files ("/usr/share/zoneinfo"); `name` need not be
 * trusted.  ERROR_INPUT if the name is not a zone.  "UTC" needs no file. */
struct zone *zone_load(const char *directory, const char *name,
		       struct error *err);
void zone_free(struct zone *zone); /* NULL accepted */

const char *zone_name(const struct zone *zone);

/* Returns the seconds east of UTC at that time. */
int32_t zone_offset(const struct zone *zone, int64_t at);

/* Returns the first change of offset after `at`, or INT64_MAX. */
int64_t zone_next_change(const struct zone *zone, int64_t at);

/* Returns the last change of offset at or before `at`, or INT64_MIN. */
int64_t zone_last_change(const struct zone *zone, int64_t at);

/* Returns the first time at which a local clock shows `local` or later: if a
 * local time occurs twice, the first; if it is skipped, the end of the gap. */
int64_t zone_from_local(const struct zone *zone, int64_t local);

#define ZONE_TEXT_MAX 40
/* Writes RFC 3339 with the zone's offset, "Z" for UTC itself.  Returns
 * `text`. */
const char *zone_format(const struct zone *zone, int64_t at,
			char text[ZONE_TEXT_MAX]);

#endif
