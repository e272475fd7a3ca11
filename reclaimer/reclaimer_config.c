#include "reclaimer/reclaimer_config.h"

#include "common/clock.h"
#include "linkstore/config_check.h"

#define SETTING_STRUCT struct reclaimer_settings
static const struct setting settings_table[] = {
	SETTING_STRING(
		admin, "127.0.0.1:9084", AT_START,
		"Where /healthz, /readyz and /metrics are served during a run"),
	SETTING_DURATION(lock_ttl, "5s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "How long a run that was killed keeps the next one "
			 "out; a run renews it all the time"),
	SETTING_INT(chunk, "4096", 1, 65536, AT_START,
		    "Blocks looked at, closed and settled at once; bounds "
		    "memory and what a run that is killed leaves half done"),
	SETTING_INT(max_lost, "3", 0, INT64_C(1) << 40, AT_START,
		    "Blocks without a marker that a run passes over in a "
		    "space; one more and it stops, since Redis has lost data"),
	SETTING_INT(
		sample_every, "1000", 1, INT64_C(1) << 40, AT_START,
		"Of so many closed blocks one has its links looked up code by "
		"code before it is pooled, and at least one of each run"),
	SETTING_DURATION(progress_every, "10s", 100, CLOCK_HOUR, AT_START,
			 "How often a run says in the log how far it is, when "
			 "stderr is not a terminal"),
	SETTING_DURATION(overdue_after, "1d", CLOCK_MINUTE, 365 * CLOCK_DAY,
			 AT_START,
			 "Blocks due for longer than this are overdue in the "
			 "status: no run has come by"),
	SETTING_BOOL(record, "true", AT_START,
		     "Whether a run leaves a row per space in ClickHouse's "
		     "table reclaim_runs"),
	{0},
};

static const struct setting_section reclaimer_section = {
	.name = "reclaimer",
	.help = "The job that returns ended blocks to the pool.",
	.settings = settings_table,
};

#define GROUP(of, member)                                                      \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct reclaimer_config, member)            \
	}
#define BORROWED(of, member)                                                   \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct reclaimer_config, member),           \
		.borrowed = true                                               \
	}

const struct setting_group reclaimer_groups[] = {
	GROUP(app_log_section, app),
	GROUP(http_section, http),
	GROUP(redis_section, redis),
	GROUP(clickhouse_section, clickhouse),
	GROUP(links_section, links),
	GROUP(reclaimer_section, reclaimer),
	BORROWED(quarantine_redirector_section, bounds),
	BORROWED(quarantine_collector_section, bounds),
};
const size_t reclaimer_group_count =
	sizeof(reclaimer_groups) / sizeof(reclaimer_groups[0]);

int reclaimer_config_validate(const void *config, struct error *err)
{
	const struct reclaimer_config *c = config;

	if (links_config_validate(&c->links, err) < 0)
		return -1;
	return quarantine_check(c->links.quarantine, &c->bounds, err);
}
