#include "reclaimer/reclaimer_config.h"

#include "common/clock.h"
#include "linkstore/config_check.h"

#define FIELD(member) .offset = offsetof(struct reclaimer_settings, member)

static const struct setting settings_table[] = {
	{.key = "admin",
	 .type = SETTING_STRING,
	 FIELD(admin),
	 .fallback = "127.0.0.1:9084",
	 .help = "Where /healthz, /readyz and /metrics are served during a "
		 "run"},
	{.key = "lock_ttl",
	 .type = SETTING_DURATION,
	 FIELD(lock_ttl),
	 .fallback = "5s",
	 .min = CLOCK_SECOND,
	 .max = CLOCK_HOUR,
	 .help = "How long a run that was killed keeps the next one out; a run "
		 "renews it all the time"},
	{.key = "chunk",
	 .type = SETTING_INT,
	 FIELD(chunk),
	 .fallback = "4096",
	 .min = 1,
	 .max = 65536,
	 .help = "Blocks looked at, closed and settled at once; bounds memory "
		 "and what a run that is killed leaves half done"},
	{.key = "max_lost",
	 .type = SETTING_INT,
	 FIELD(max_lost),
	 .fallback = "3",
	 .max = INT64_C(1) << 40,
	 .help = "Blocks without a marker that a run passes over in a space; "
		 "one more and it stops, since Redis has lost data"},
	{.key = "sample_every",
	 .type = SETTING_INT,
	 FIELD(sample_every),
	 .fallback = "1000",
	 .min = 1,
	 .max = INT64_C(1) << 40,
	 .help = "Of so many closed blocks one has its links looked up code by "
		 "code before it is pooled, and at least one of each run"},
	{.key = "progress_every",
	 .type = SETTING_DURATION,
	 FIELD(progress_every),
	 .fallback = "10s",
	 .min = 100,
	 .max = CLOCK_HOUR,
	 .help = "How often a run says in the log how far it is, when stderr "
		 "is not a terminal"},
	{.key = "overdue_after",
	 .type = SETTING_DURATION,
	 FIELD(overdue_after),
	 .fallback = "1d",
	 .min = CLOCK_MINUTE,
	 .max = 365 * CLOCK_DAY,
	 .help = "Blocks due for longer than this are overdue in the status: "
		 "no run has come by"},
	{.key = "record",
	 .type = SETTING_BOOL,
	 FIELD(record),
	 .fallback = "true",
	 .help = "Whether a run leaves a row per space in ClickHouse's table "
		 "reclaim_runs"},
	{0},
};

static const struct setting_section reclaimer_section = {
	"reclaimer", "The job that returns ended blocks to the pool.",
	settings_table};

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
