/*
 * quarantine.h - the time that a reclaimed block waits before it is issued
 * again (links.quarantine), and the settings of other programs that it must
 * exceed.
 *
 * A block ends after each of its links, and no entry of a redirector's cache
 * outlives its link.  Quarantine is a second safeguard: before a code has a new
 * owner, caches have dropped the old owner's link and its clicks are delivered.
 *
 * The redirector and the collector have these settings in their own tables; the
 * reclaimer borrows them (setting_group.borrowed) for a comparison.  They are
 * defined once here, so that all programs have the same defaults.
 */
#ifndef LINKSTORE_QUARANTINE_H
#define LINKSTORE_QUARANTINE_H

#include <stdint.h>

#include "common/clock.h"
#include "common/config/setting.h"
#include "common/error.h"

/* Entries of a settings table. */
#define SETTING_CACHE_TTL                                                      \
	SETTING_DURATION(cache_ttl, "10s", 0, CLOCK_HOUR, AT_START,            \
			 "How long a link is served from memory without a "    \
			 "look-up.  Edits and deletions are seen within a "    \
			 "second; those that no allocator made take as long, " \
			 "and up to cache_stale where Redis cannot be "        \
			 "reached")
#define SETTING_CACHE_NEGATIVE_TTL                                             \
	SETTING_DURATION(cache_negative_ttl, "1s", 0, CLOCK_MINUTE, AT_START,  \
			 "How long the absence of a link is remembered; a "    \
			 "code may be given out meanwhile")
#define SETTING_CACHE_STALE                                                    \
	SETTING_DURATION(cache_stale, "1h", 0, 30 * CLOCK_DAY, AT_START,       \
			 "How long cached links go on redirecting while "      \
			 "Redis is away, never beyond their own end")
#define SETTING_PERMANENT_MAX_AGE                                              \
	SETTING_DURATION(                                                      \
		permanent_max_age, "1h", 0, 365 * CLOCK_DAY, AT_START,         \
		"How long a browser may keep a 301 or 308 and visit unseen")
#define SETTING_MAX_LAG                                                        \
	SETTING_DURATION(max_lag, "1d", 0, 90 * CLOCK_DAY, AT_START,           \
			 "The longest that a click may take into ClickHouse, " \
			 "outages included: have an alarm before that.  "      \
			 "links.quarantine must be longer")

struct quarantine_bounds {
	/* Settings of section `redirector`, ms. */
	int64_t cache_ttl;
	int64_t cache_negative_ttl;
	int64_t cache_stale;
	int64_t permanent_max_age;
	/* Settings of section `collector`, ms. */
	int64_t max_lag;
};

/* Both fill a struct quarantine_bounds; for groups that are borrowed. */
extern const struct setting_section quarantine_redirector_section;
extern const struct setting_section quarantine_collector_section;

/* Sets ERROR_CONFIG with both settings' names unless `quarantine` (ms) is
 * longer than each bound. */
int quarantine_check(int64_t quarantine, const struct quarantine_bounds *bounds,
		     struct error *err);

#endif
