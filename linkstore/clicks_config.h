/*
 * clicks_config.h - the `clicks` section: what collectors and aggregators have
 * to agree on about clicks.
 *
 * Both read this one section of the shared file, so that they cannot disagree.
 */
#ifndef LINKSTORE_CLICKS_CONFIG_H
#define LINKSTORE_CLICKS_CONFIG_H

#include <stdint.h>

#include "common/config/setting.h"

/* Of a day that ended at E, a collector puts no click into it that Kafka stored
 * later than E + late_window, and an aggregator seals it then. */
struct clicks_config {
	int64_t late_window; /* ms */
};

extern const struct setting_section clicks_section; /* "clicks" */

#endif
