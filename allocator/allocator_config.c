#include "allocator/allocator_config.h"

#include <stdbool.h>
#include <string.h>

#include "codespace/snowflake.h"
#include "common/clock.h"
#include "common/http/cors.h"
#include "linkstore/config_check.h"
#include "linkstore/domains_config.h"

#define SETTING_STRUCT struct allocator_settings
static const struct setting settings[] = {
	SETTING_STRING(listen, "127.0.0.1:8081", AT_START,
		       "Where the API is served, as host:port."),
	SETTING_STRING(admin, "127.0.0.1:9081", AT_START,
		       "Where /healthz, /readyz and /metrics are served."),
	SETTING_INT(
		threads, "1", 1, 64, AT_START,
		"Threads that serve the API.  Each holds blocks of its own."),
	SETTING_STRINGS(cors_origins,
			OPTIONAL_LIKE("[https://links.example.com]"), AT_START,
			"Origins whose pages may use the API in a browser "
			"(CORS), as scheme://host or scheme://host:port; \"*\" "
			"alone: all."),
	SETTING_PATH(
		keys_file, "/etc/shortloop/api.keys", RELOADS,
		"API keys: name, roles and the key's SHA-256, one a line."),
	SETTING_STRING(
		key_rate, "100/s", AT_START,
		"How often a key may ask whose line in keys_file has no rate=, "
		"a second (/s), minute (/m) or hour (/h); none: as often as it "
		"likes.  Not of keys with the role admin."),
	SETTING_INT(
		key_burst, "1000", 1, RATE_COUNT_MAX, AT_START,
		"How many requests such a key may make at once after a rest."),
	SETTING_INT(redis_reserve, "5", 0, 50, AT_START,
		    "Percent of Redis' maxmemory that new links may not use, "
		    "so that blocking, deleting and renewing go on when it "
		    "fills up: beyond, creates are answered 507.  0: none."),
	SETTING_PATH(audit_file, OPTIONAL_LIKE("/var/log/shortloop/audit.log"),
		     REOPENS,
		     "Where each change to a link is written, one JSON object "
		     "a line."),
	SETTING_SIZE(audit_queue_bytes, "16MiB", 64 << 10, INT64_C(4) << 30,
		     AT_START,
		     "Audit lines that may wait in memory while the file "
		     "cannot be written; beyond, they are lost and counted."),
	SETTING_PATH(
		high_water_file,
		OPTIONAL_LIKE("/var/lib/shortloop/allocator.high-water"),
		AT_START,
		"Where the highest block seen of each space is remembered, so "
		"that a Redis restored from a backup grants none twice even "
		"when every allocator was restarted meanwhile.  Made when it "
		"is not there; the allocators of a host may share it."),
	SETTING_STRINGS(url_schemes, OPTIONAL_LIKE("[weixin, myapp]"), AT_START,
			"Schemes of apps that links may lead to, beside http "
			"and https."),
	SETTING_BOOL(url_credentials, "false", AT_START,
		     "Whether links may lead to URLs with a user and a "
		     "password, which every visitor sees."),
	SETTING_ENUM(url_ip_hosts, "allow", url_ip_hosts_choices, AT_START,
		     "Whether links may lead to hosts that are addresses."),
	SETTING_PATH(url_allow_file,
		     OPTIONAL_LIKE("/etc/shortloop/allow.domains"), RELOADS,
		     "The only domains that links may lead to, one a line: "
		     "example.com, or .example.com with all below it."),
	SETTING_PATH(url_deny_file,
		     OPTIONAL_LIKE("/etc/shortloop/deny.domains"), RELOADS,
		     "Domains that links may not lead to, in the same form; "
		     "also of those allowed."),
	SETTING_STRING(
		default_space, OPTIONAL_LIKE("s7"), AT_START,
		"Space of links that name none; the first one when not set."),
	SETTING_STRING(default_ttl, OPTIONAL_LIKE("365d"), AT_START,
		       "TTL class of links that name none; must be named when "
		       "not set."),
	SETTING_STRINGS(class_spaces, OPTIONAL_LIKE("[10d=s7, never=s8]"),
			AT_START,
			"Space of links that name none, by TTL class; others "
			"go to default_space."),
	SETTING_INT(node, "0", 0, SNOWFLAKE_NODES - 1, AT_START,
		    "The number under which ids are made for spaces of "
		    "strategy hash, snowflake and alias.  Each allocator needs "
		    "its own; one that finds its number in use waits."),
	SETTING_INT(
		waiting_max, "10000", 1, 1000000, AT_START,
		"Creates of a thread that may wait for a block; beyond, 503."),
	SETTING_INT(batches_max, "8", 1, 10000, AT_START,
		    "Batches of a thread at a time; beyond, 503.  Together "
		    "their lines should not be more than waiting_max."),
	SETTING_INT(batches_per_account, "2", 1, 10000, AT_START,
		    "Of these, how many may be of one account; beyond, 429.  "
		    "Less than batches_max, so that accounts whose batches "
		    "wait for their rate leave room for others."),
	SETTING_DURATION(batch_wait_max, "1h", 100, 24 * CLOCK_HOUR, AT_START,
			 "How long a batch may wait in all for the rate of its "
			 "key; then the next line is answered 429 and the "
			 "answer breaks off."),
	SETTING_DURATION(
		batch_time_max, "2h", 100, 7 * CLOCK_DAY, AT_START,
		"How long a batch may last, whatever it waits for: its rate, "
		"the next byte of its client, or that answers are read; then "
		"the next line is answered 408 and the answer breaks off."),
	SETTING_INT(batch_in_flight, "1024", 1, 100000, AT_START,
		    "Lines of a batch that are being created at a time; more "
		    "of them are read once those are done."),
	SETTING_SIZE(batch_bytes, "1MiB", 64 << 10, 1 << 30, AT_START,
		     "Bytes of such lines, and of answers that the client has "
		     "not taken: what a batch may hold in memory of each."),
	SETTING_DURATION(
		space_check_every, "10s", 100, CLOCK_HOUR, AT_START,
		"How often the space records in Redis are compared with the "
		"configuration, and with what was seen of them before."),
	SETTING_DURATION(
		ledger_every, "15s", 100, CLOCK_HOUR, AT_START,
		"How often the ledger of the spaces is read for /v1/spaces and "
		"/metrics; less often when reading takes long."),
	SETTING_DURATION(delivery_timeout, "0s", 0, 24 * CLOCK_DAY, AT_START,
			 "How long a link event waits for Kafka before it is "
			 "given up; 0s: as long as the program runs."),
	SETTING_DURATION(drain_timeout, "10s", 0, CLOCK_HOUR, AT_START,
			 "How long a shutdown may wait for requests, blocks "
			 "handed back and link events."),
	{0},
};

static const struct setting_section allocator_section = {
	.name = "allocator",
	.help = "The allocator: creates links.",
	.settings = settings,
};

#define GROUP(module, member)                                                  \
	{                                                                      \
		.section = &module##_section,                                  \
		.offset = offsetof(struct allocator_config, member)            \
	}

const struct setting_group allocator_groups[] = {
	GROUP(app_log, app),	       GROUP(http, http),
	GROUP(redis, redis),	       GROUP(kafka, kafka),
	GROUP(clickhouse, clickhouse), GROUP(links, links),
	GROUP(domains, domains),       GROUP(allocator, allocator),
};
const size_t allocator_group_count =
	sizeof(allocator_groups) / sizeof(allocator_groups[0]);

static bool has_class(const struct links_config *links, const char *name,
		      size_t len)
{
	const struct setting_strings *classes = &links->ttl_classes;

	for (size_t i = 0; i < classes->count; i++) {
		if (strlen(classes->items[i]) == len &&
		    !memcmp(classes->items[i], name, len))
			return true;
	}
	return false;
}

static int check_default_space(const struct allocator_config *config,
			       struct error *err)
{
	const char *name = config->allocator.default_space;

	if (!name || links_config_has_space(&config->links, name))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "allocator.default_space: '%s' is not one of "
			 "links.spaces",
			 name);
}

static int check_default_ttl(const struct allocator_config *config,
			     struct error *err)
{
	const char *name = config->allocator.default_ttl;

	if (!name || has_class(&config->links, name, strlen(name)))
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "allocator.default_ttl: '%s' is not one of "
			 "links.ttl_classes",
			 name);
}

static int check_class_spaces(const struct allocator_config *config,
			      struct error *err)
{
	const struct setting_strings *pairs = &config->allocator.class_spaces;
	const char *pair, *equals;

	for (size_t i = 0; i < pairs->count; i++) {
		pair = pairs->items[i];
		equals = strchr(pair, '=');
		if (!equals ||
		    !has_class(&config->links, pair, (size_t)(equals - pair)))
			return error_set(err, ERROR_CONFIG,
					 "allocator.class_spaces: '%s': "
					 "expected one of links.ttl_classes, "
					 "'=' and a space",
					 pair);
		if (!links_config_has_space(&config->links, equals + 1))
			return error_set(err, ERROR_CONFIG,
					 "allocator.class_spaces: '%s': '%s' "
					 "is not one of links.spaces",
					 pair, equals + 1);
	}
	return 0;
}

struct url_policy_config
allocator_url_policy(const struct allocator_settings *own)
{
	return (struct url_policy_config){
		.schemes = own->url_schemes,
		.credentials = own->url_credentials,
		.ip_hosts = own->url_ip_hosts,
		.allow_file = own->url_allow_file,
		.deny_file = own->url_deny_file,
	};
}

int key_rate_read(const struct allocator_settings *own, struct rate_rule *ret,
		  struct error *err)
{
	return rate_rule_read("allocator.key_rate", own->key_rate,
			      own->key_burst, ret, err);
}

int allocator_config_validate(const void *config, struct error *err)
{
	const struct allocator_config *c = config;
	const struct url_policy_config urls =
		allocator_url_policy(&c->allocator);
	struct rate_rule ignored;

	if (key_rate_read(&c->allocator, &ignored, err) < 0 ||
	    cors_check(&c->allocator.cors_origins, "allocator.cors_origins",
		       err) < 0)
		return -1;
	if (links_config_validate(&c->links, err) < 0 ||
	    domains_config_validate(&c->domains, &c->links, err) < 0 ||
	    check_default_space(c, err) < 0 || check_default_ttl(c, err) < 0 ||
	    check_class_spaces(c, err) < 0)
		return -1;
	return url_policy_config_check(&urls, err);
}
