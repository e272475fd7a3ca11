#include "aggregator/aggregator_config.h"

#include "common/clock.h"
#include "common/http/cors.h"
#include "linkstore/config_check.h"

#define SETTING_STRUCT struct aggregator_settings
static const struct setting settings[] = {
	SETTING_STRING(
		listen, "127.0.0.1:8082", AT_START,
		"Where the API and the dashboard are served: host:port."),
	SETTING_STRING(admin, "127.0.0.1:9083", AT_START,
		       "Where /healthz, /readyz and /metrics are served."),
	SETTING_INT(threads, "1", 1, 64, AT_START,
		    "Event loops that serve connections."),
	SETTING_INT(workers, "8", 1, 256, AT_START,
		    "Queries that run in ClickHouse at once; one key may have "
		    "half of them."),
	SETTING_INT(
		queue_max, "256", 1, 1000000, AT_START,
		"Requests that wait for a worker; beyond, the answer is 503."),
	SETTING_DURATION(
		answer_timeout, "10s", 100, CLOCK_HOUR, AT_START,
		"How long an answer may take, the wait for a worker included; "
		"beyond, it is 503.  Not of exports."),
	SETTING_INT(key_questions_max, "32", 1, 1000000, AT_START,
		    "Requests of one key that wait or are being answered; "
		    "beyond, the answer is 429."),
	SETTING_INT(exports_max, "8", 1, 10000, AT_START,
		    "Exports at once; beyond, the answer is 429.  Each takes "
		    "up to 48 MiB."),
	SETTING_INT(key_exports_max, "2", 1, 10000, AT_START,
		    "Exports of one key at once; beyond, the answer is 429."),
	SETTING_INT(export_workers, "1", 1, 64, AT_START,
		    "Queries of exports that run at once, with two threads of "
		    "ClickHouse each."),
	SETTING_INT(export_links_max, "1000000", 1, 100000000, AT_START,
		    "Links that an export may be of that is not of all links: "
		    "28 bytes of memory each."),
	SETTING_INT(buckets_max, "3000", 1, 10000, AT_START,
		    "Intervals in one answer."),
	SETTING_INT(groups_max, "1000", 1, 10000, AT_START,
		    "The largest `limit` of groups and of top codes."),
	SETTING_INT(exact_rows_max, "5000000", 1, INT64_MAX, AT_START,
		    "Rows up to which a link's visitors are counted exactly; "
		    "beyond, the answer is marked approximate."),
	SETTING_INT(raw_rows_max, "50000000", 1, INT64_MAX, AT_START,
		    "Rows of clicks that a question may read which settled "
		    "counts do not answer: filters, two dimensions, one link's "
		    "groups, an owner's links; beyond, the answer is 400."),
	SETTING_INT(owner_rows_max, "1000000", 0, INT64_MAX, AT_START,
		    "Rows of clicks up to which an owner's clicks by a "
		    "dimension are counted row by row, with the visitors of "
		    "each value; beyond, from tables by owner and day, which "
		    "have no visitors of values."),
	SETTING_SIZE(answer_cache, "16MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for answers over settled counts.  Each is kept "
		     "for a minute at most, since dashboards repeat their "
		     "questions; 0: none."),
	SETTING_DURATION(drain_timeout, "10s", 0, 10 * CLOCK_MINUTE, AT_START,
			 "How long requests may take to finish after SIGTERM."),
	SETTING_STRINGS(cors_origins,
			OPTIONAL_LIKE("[https://stats.example.com]"), AT_START,
			"Origins whose pages may read answers in a browser "
			"(CORS), as scheme://host or scheme://host:port; \"*\" "
			"alone: all. The dashboard needs none."),
	SETTING_PATH(web_root, DATADIR "/web", AT_START,
		     "The dashboard's files; read at start."),
	SETTING_PATH(zoneinfo, "/usr/share/zoneinfo", AT_START,
		     "The time zones (package tzdata)."),
	SETTING_DURATION(watermark_every, "1s", 100, CLOCK_MINUTE, AT_START,
			 "How often the collectors' reports are read, for "
			 "`complete_until` of links' counts."),
	SETTING_PATH(keys_file, OPTIONAL_LIKE("/etc/shortloop/api.keys"),
		     RELOADS,
		     "API keys: name, roles and the key's SHA-256, one a line, "
		     "as the allocator has them; it may be its file.  Without "
		     "it, every client that reaches the API may query the "
		     "clicks of all accounts."),
	SETTING_STRING(
		key_rate, "100/s", AT_START,
		"How often a key may ask whose line in keys_file has no rate=, "
		"a second (/s), minute (/m) or hour (/h); none: as often as it "
		"likes.  Not of keys with the role admin."),
	SETTING_INT(
		key_burst, "1000", 1, RATE_COUNT_MAX, AT_START,
		"How many requests such a key may make at once after a rest."),
	SETTING_INT(shares_max, "1000", 1, SHARES_MOST, AT_START,
		    "Shares (POST /v1/shares) that an account may have at a "
		    "time; beyond, the answer is 429."),
	SETTING_INT(live_subscribers, "200", 1, 100000, AT_START,
		    "Streams of /v1/live at a time, of 128 KiB of memory each "
		    "at the most; beyond, the answer is 429.  They are there "
		    "where kafka.topic_live is set."),
	SETTING_INT(live_per_key, "10", 1, 100000, AT_START,
		    "Streams of /v1/live that one key may have at a time."),
	SETTING_INT(live_queue, "256", 1, 100000, AT_START,
		    "Clicks kept for a client of /v1/live that reads slowly; "
		    "beyond, the oldest are dropped and the client receives "
		    "their number."),
	SETTING_DURATION(settle_every, "15s", 100, CLOCK_HOUR, AT_START,
			 "How often hours with new clicks are settled."),
	SETTING_DURATION(settle_timeout, "10m", CLOCK_SECOND, CLOCK_DAY,
			 AT_START,
			 "How long one statement of settling may take: an hour "
			 "or a day of clicks is counted in one."),
	SETTING_DURATION(resettle_every, "1h", 0, 7 * CLOCK_DAY, AT_START,
			 "How often at most a closed day is settled again "
			 "because of late clicks.  After an import or a "
			 "rescoring it is settled again at once."),
	SETTING_DURATION(
		day_grace, "10m", 0, 7 * CLOCK_DAY, AT_START,
		"How long after its end (UTC) a day is first settled."),
	SETTING_INT(raw_days, "0", 0, 36500, AT_START,
		    "How many days rows of clicks are kept after their UTC "
		    "day has ended: then the day is dropped, and what was "
		    "settled of it stays. 0: for ever."),
	SETTING_INT(settled_days, "0", 0, 36500, AT_START,
		    "How many days counts are kept at least, beyond raw_days: "
		    "months that are older as a whole are dropped. 0: for "
		    "ever."),
	SETTING_DURATION(recheck_every, "1h", CLOCK_SECOND, 30 * CLOCK_DAY,
			 AT_START,
			 "How often all of the ingest progress is compared "
			 "with what was settled, rather than what is new."),
	SETTING_DURATION(
		progress_overlap, "10m", 0, 7 * CLOCK_DAY, AT_START,
		"How much of the ingest progress is read again each time: half "
		"of it is how far the clocks of ClickHouse's replicas may "
		"differ, half how long an insert may take."),
	SETTING_STRINGS(
		retired_topics, OPTIONAL_LIKE("[clicks-2025]"), AT_START,
		"Topics that no collector reads any more, after others took "
		"their place: once one of them is silent for an hour, "
		"`complete_until` does not wait for it. For any other it "
		"waits, however long that is silent. The same for all "
		"aggregators."),
	SETTING_DURATION(lease, "30s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "How long an aggregator that fell silent keeps others "
			 "from settling."),
	SETTING_DURATION(clean_every, "10m", CLOCK_SECOND, 7 * CLOCK_DAY,
			 AT_START, "How often superseded rows are deleted."),
	SETTING_DURATION(keep_superseded, "15m", CLOCK_SECOND, 30 * CLOCK_DAY,
			 AT_START,
			 "How long superseded rows stay, for answers being "
			 "computed from them; longer than the longest query."),
	SETTING_DURATION(keep_open, "90s", CLOCK_SECOND, CLOCK_DAY, AT_START,
			 "The same of hours that are not over, which have new "
			 "rows every settle_every."),
	SETTING_DURATION(
		reconcile_every, "10m", 0, CLOCK_DAY, AT_START,
		"How often the hours of the last day are held against what "
		"redirectors counted, for the metrics; 0: never."),
	SETTING_INT(values_max, "10000", 1, 1000000, AT_START,
		    "Values kept of a dimension (links, cities, referrers ...) "
		    "and hour; the others are summed up."),
	{0},
};

static const struct setting_section aggregator_section = {
	.name = "aggregator",
	.help = "Settles clicks into statistics, and serves them and the "
		"dashboard.",
	.settings = settings,
};

#define GROUP(of, field)                                                       \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct aggregator_config, field)            \
	}

const struct setting_group aggregator_groups[] = {
	GROUP(app_log_section, app),
	GROUP(http_section, http),
	GROUP(redis_section, redis),
	GROUP(kafka_section, kafka),
	GROUP(clickhouse_section, clickhouse),
	/* The aggregator looks up codes in Redis only if this section is given.
	 */
	{
		.section = &links_section,
		.offset = offsetof(struct aggregator_config, links),
		.optional = true,
	},
	GROUP(domains_section, domains),
	GROUP(clicks_section, aggregator.clicks),
	GROUP(aggregator_section, aggregator),
};
const size_t aggregator_group_count =
	sizeof(aggregator_groups) / sizeof(aggregator_groups[0]);

int aggregator_key_rate(const struct aggregator_settings *own,
			struct rate_rule *ret, struct error *err)
{
	return rate_rule_read("aggregator.key_rate", own->key_rate,
			      own->key_burst, ret, err);
}

int aggregator_config_validate(const void *config, struct error *err)
{
	const struct aggregator_config *c = config;
	struct rate_rule ignored;

	if (c->links.spaces.count && links_config_validate(&c->links, err) < 0)
		return -1;
	if (domains_config_validate(&c->domains, &c->links, err) < 0)
		return -1;
	if (kafka_check_live(&c->kafka, err) < 0 ||
	    cors_check(&c->aggregator.cors_origins, "aggregator.cors_origins",
		       err) < 0 ||
	    aggregator_key_rate(&c->aggregator, &ignored, err) < 0)
		return -1;
	if (c->aggregator.keep_superseded <= c->clickhouse.query_timeout)
		return error_set(err, ERROR_CONFIG,
				 "aggregator.keep_superseded must be longer "
				 "than clickhouse.query_timeout: a query could "
				 "lose rows while it reads them");
	if (c->aggregator.keep_open <= c->clickhouse.query_timeout)
		return error_set(err, ERROR_CONFIG,
				 "aggregator.keep_open must be longer than "
				 "clickhouse.query_timeout: a query could lose "
				 "rows while it reads them");
	if (c->aggregator.settled_days &&
	    (!c->aggregator.raw_days ||
	     c->aggregator.settled_days <= c->aggregator.raw_days))
		return error_set(err, ERROR_CONFIG,
				 "aggregator.settled_days needs raw_days, and "
				 "must be longer: a month's counts are dropped "
				 "after its clicks");
	if (c->aggregator.raw_days && c->aggregator.raw_days * CLOCK_DAY <
					      c->aggregator.clicks.late_window)
		return error_set(
			err, ERROR_CONFIG,
			"aggregator.raw_days must not be shorter than "
			"clicks.late_window: a day is dropped once it is "
			"sealed, and until then clicks of it are taken");
	return 0;
}
