#include "aggregator/aggregator_config.h"

#define API(field)    offsetof(struct aggregator_settings, field)
#define SETTLE(field) offsetof(struct aggregator_settings, field)
#define DAYS(n)	      ((n)*INT64_C(86400000))

static const struct setting settings[] = {
	{.key = "listen",
	 .type = SETTING_STRING,
	 .offset = API(listen),
	 .fallback = "127.0.0.1:8082",
	 .help = "Where the API and the dashboard are served: host:port."},
	{.key = "admin",
	 .type = SETTING_STRING,
	 .offset = offsetof(struct aggregator_settings, admin),
	 .fallback = "127.0.0.1:9083",
	 .help = "Where /healthz, /readyz and /metrics are served."},
	{.key = "threads",
	 .type = SETTING_INT,
	 .offset = API(threads),
	 .fallback = "1",
	 .min = 1,
	 .max = 64,
	 .help = "Event loops that serve connections."},
	{.key = "workers",
	 .type = SETTING_INT,
	 .offset = API(workers),
	 .fallback = "4",
	 .min = 1,
	 .max = 256,
	 .help = "Queries that ClickHouse is asked at once."},
	{.key = "queue_max",
	 .type = SETTING_INT,
	 .offset = API(queue_max),
	 .fallback = "256",
	 .min = 1,
	 .max = 1000000,
	 .help = "Requests that wait for a worker; beyond, the answer is 503."},
	{.key = "buckets_max",
	 .type = SETTING_INT,
	 .offset = API(buckets_max),
	 .fallback = "3000",
	 .min = 1,
	 .max = 10000,
	 .help = "Intervals in one answer."},
	{.key = "groups_max",
	 .type = SETTING_INT,
	 .offset = API(groups_max),
	 .fallback = "1000",
	 .min = 1,
	 .max = 10000,
	 .help = "The largest `limit` of groups and of top codes."},
	{.key = "exact_rows_max",
	 .type = SETTING_INT,
	 .offset = API(exact_rows_max),
	 .fallback = "5000000",
	 .min = 1,
	 .max = INT64_MAX,
	 .help = "Rows up to which a link's visitors are counted exactly; "
		 "beyond, the answer is marked approximate."},
	{.key = "drain_timeout",
	 .type = SETTING_DURATION,
	 .offset = API(drain_timeout),
	 .fallback = "10s",
	 .min = 0,
	 .max = 600000,
	 .help = "How long requests may take to finish after SIGTERM."},
	{.key = "web_root",
	 .type = SETTING_PATH,
	 .offset = API(web_root),
	 .fallback = "/usr/local/share/shortloop/web",
	 .help = "The dashboard's files; read at start."},
	{.key = "zoneinfo",
	 .type = SETTING_PATH,
	 .offset = API(zoneinfo),
	 .fallback = "/usr/share/zoneinfo",
	 .help = "The time zones (package tzdata)."},
	{.key = "settle_every",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(settle_every),
	 .fallback = "15s",
	 .min = 100,
	 .max = 3600000,
	 .help = "How often hours with new clicks are settled."},
	{.key = "settle_timeout",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(settle_timeout),
	 .fallback = "10m",
	 .min = 1000,
	 .max = DAYS(1),
	 .help = "How long one statement of settling may take: an hour or a "
		 "day of clicks is counted in one."},
	{.key = "resettle_every",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(resettle_every),
	 .fallback = "1h",
	 .max = DAYS(7),
	 .help = "How often at most a closed day is settled again because of "
		 "late clicks."},
	{.key = "day_grace",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(day_grace),
	 .fallback = "10m",
	 .max = DAYS(7),
	 .help = "How long after its end (UTC) a day is first settled."},
	{.key = "recheck_every",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(recheck_every),
	 .fallback = "1h",
	 .min = 1000,
	 .max = DAYS(30),
	 .help = "How often all of the ingest progress is compared with what "
		 "was settled, rather than what is new."},
	{.key = "progress_overlap",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(progress_overlap),
	 .fallback = "10m",
	 .max = DAYS(7),
	 .help = "How much of the ingest progress is read again each time: "
		 "half of it is how far the clocks of ClickHouse's replicas "
		 "may differ, half how long an insert may take."},
	{.key = "edge_delay",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(edge_delay),
	 .fallback = "5s",
	 .max = 3600000,
	 .help = "How long a click may take from the redirector into Kafka; "
		 "taken off `complete_until`."},
	{.key = "lease",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(lease),
	 .fallback = "30s",
	 .min = 1000,
	 .max = 3600000,
	 .help = "How long an aggregator that fell silent keeps others from "
		 "settling."},
	{.key = "clean_every",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(clean_every),
	 .fallback = "10m",
	 .min = 1000,
	 .max = DAYS(7),
	 .help = "How often superseded rows are deleted."},
	{.key = "keep_superseded",
	 .type = SETTING_DURATION,
	 .offset = SETTLE(keep_superseded),
	 .fallback = "15m",
	 .min = 1000,
	 .max = DAYS(30),
	 .help = "How long superseded rows stay, for answers being computed "
		 "from them; longer than the longest query."},
	{.key = "values_max",
	 .type = SETTING_INT,
	 .offset = SETTLE(values_max),
	 .fallback = "10000",
	 .min = 1,
	 .max = 1000000,
	 .help = "Values kept of a dimension (links, cities, referrers ...) "
		 "and hour; the others are summed up."},
	{0},
};

static const struct setting_section aggregator_section = {
	"aggregator",
	"Settles clicks into statistics, and serves them and the dashboard.",
	settings};

#define GROUP(of, field)                                                       \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct aggregator_config, field)            \
	}

const struct setting_group aggregator_groups[] = {
	GROUP(app_log_section, app),
	GROUP(http_section, http),
	GROUP(redis_section, redis),
	GROUP(clickhouse_section, clickhouse),
	GROUP(aggregator_section, aggregator),
};
const size_t aggregator_group_count =
	sizeof(aggregator_groups) / sizeof(aggregator_groups[0]);

int aggregator_config_validate(const void *config, struct error *err)
{
	const struct aggregator_config *c = config;

	if (c->aggregator.keep_superseded <= c->clickhouse.query_timeout)
		return error_set(err, ERROR_CONFIG,
				 "aggregator.keep_superseded must be longer "
				 "than clickhouse.query_timeout: a query could "
				 "lose rows while it reads them");
	return 0;
}
