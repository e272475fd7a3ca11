/*
 * clicks_config.h - the `clicks` section: the settings of clicks that
 * collectors and aggregators share.
 *
 * Both read this one section of the shared file, so that they cannot disagree.
 */
#ifndef LINKSTORE_CLICKS_CONFIG_H
#define LINKSTORE_CLICKS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/setting.h"

/* For a day that ended at E, a collector stores no click that Kafka stored
 * later than E + late_window, and an aggregator seals the day then. */
struct clicks_config {
	int64_t late_window; /* ms */
	int64_t edge_delay;  /* ms */
};

/*
 * Returns whether a click is late: Kafka stored it more than edge_delay after
 * its time.
 *
 * `complete_until` is edge_delay before the time up to which all partitions
 * have reported.  So a click that is not late is before `complete_until` only
 * after it was stored and counted, and every click that arrives behind it is
 * late.
 */
static inline bool click_is_late(const struct clicks_config *config,
				 int64_t ts_ms, int64_t append_ms)
{
	return append_ms - ts_ms > config->edge_delay;
}

extern const struct setting_section clicks_section; /* "clicks" */

#endif
