#include "linkstore/clicks_config.h"

#include <stddef.h>

#include "common/clock.h"

#define SETTING_STRUCT struct clicks_config
static const struct setting settings[] = {
	SETTING_DURATION(
		late_window, "7d", CLOCK_MINUTE, 3650 * CLOCK_DAY, AT_START,
		"How long after it a click may still come into its hour: "
		"collectors move the time of an event that is older to this "
		"long before Kafka stored it, and aggregators seal a day this "
		"long after its end (UTC), for quick answers about links."),
	SETTING_DURATION(
		edge_delay, "5s", 0, CLOCK_HOUR, AT_START,
		"How long a click may take from the redirector into Kafka; "
		"taken off `complete_until`.  What takes longer is late: "
		"counted, and reported."),
	{0},
};

const struct setting_section clicks_section = {
	.name = "clicks",
	.help = "What collectors and aggregators agree on about clicks.  The "
		"same for both.",
	.settings = settings,
};
