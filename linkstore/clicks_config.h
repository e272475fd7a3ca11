/*
 * clicks_config.h - the `clicks` section: what collectors and aggregators have
 * to agree on about clicks.
 *
 * Both read this one section of the shared file, so that they cannot disagree.
 */
#ifndef LINKSTORE_CLICKS_CONFIG_H
#define LINKSTORE_CLICKS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/setting.h"

/* Of a day that ended at E, a collector puts no click into it that Kafka stored
 * later than E + late_window, and an aggregator seals it then. */
struct clicks_config {
	int64_t late_window; /* ms */
	int64_t edge_delay;  /* ms */
};

/*
 * A click is late if Kafka stored it more than edge_delay after its time.
 *
 * `complete_until` is edge_delay before what all partitions have reported, so a
 * click that is not late lies behind it only once it is stored and counted:
 * what comes behind it is late, without exception.
 */
static inline bool click_is_late(const struct clicks_config *config,
				 int64_t ts_ms, int64_t append_ms)
{
	return append_ms - ts_ms > config->edge_delay;
}

extern const struct setting_section clicks_section; /* "clicks" */

#endif
