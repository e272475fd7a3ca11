#include "allocator/allocator_config.h"

#include <stdbool.h>
#include <string.h>

#include "codespace/snowflake.h"
#include "common/clock.h"
#include "linkstore/config_check.h"
#include "linkstore/domains_config.h"

#define AT(field) offsetof(struct allocator_settings, field)
static const struct setting settings[] = {
	{.key = "listen",
	 .type = SETTING_STRING,
	 .offset = AT(listen),
	 .fallback = "127.0.0.1:8081",
	 .help = "Where the API is served, as host:port."},
	{.key = "admin",
	 .type = SETTING_STRING,
	 .offset = AT(admin),
	 .fallback = "127.0.0.1:9081",
	 .help = "Where /healthz, /readyz and /metrics are served."},
	{.key = "threads",
	 .type = SETTING_INT,
	 .offset = AT(threads),
	 .fallback = "1",
	 .min = 1,
	 .max = 64,
	 .help = "Threads that serve the API.  Each holds blocks of its own."},
	{.key = "base_url",
	 .type = SETTING_STRING,
	 .offset = AT(base_url),
	 .fallback = "http://localhost:8080",
	 .help = "What a short URL starts with, before the slash and the code, "
		 "when no domains are configured.",
	 .example = "https://sho.rt"},
	{.key = "keys_file",
	 .type = SETTING_PATH,
	 .offset = AT(keys_file),
	 .fallback = "/etc/shortloop/api.keys",
	 .help = "API keys: name, roles and the key's SHA-256, one a line.  "
		 "Read again on SIGHUP."},
	{.key = "key_rate",
	 .type = SETTING_STRING,
	 .offset = AT(key_rate),
	 .fallback = "100/s",
	 .help = "How often a key may ask whose line in keys_file has no "
		 "rate=, "
		 "a second (/s), minute (/m) or hour (/h); none: as often as "
		 "it "
		 "likes.  Not of keys with the role admin."},
	{.key = "key_burst",
	 .type = SETTING_INT,
	 .offset = AT(key_burst),
	 .fallback = "1000",
	 .min = 1,
	 .max = RATE_COUNT_MAX,
	 .help = "How many requests such a key may make at once after a rest."},
	{.key = "redis_reserve",
	 .type = SETTING_INT,
	 .offset = AT(redis_reserve),
	 .fallback = "5",
	 .min = 0,
	 .max = 50,
	 .help = "Percent of Redis' maxmemory that new links may not use, so "
		 "that blocking, deleting and renewing go on when it fills up: "
		 "beyond, creates are answered 507.  0: none."},
	{.key = "audit_file",
	 .type = SETTING_PATH,
	 .offset = AT(audit_file),
	 .optional = true,
	 .help = "Where each change to a link is written, one JSON object a "
		 "line.  Opened again on SIGHUP.",
	 .example = "/var/log/shortloop/audit.log"},
	{.key = "audit_queue_bytes",
	 .type = SETTING_SIZE,
	 .offset = AT(audit_queue_bytes),
	 .fallback = "16MiB",
	 .min = 64 << 10,
	 .max = INT64_C(4) << 30,
	 .help = "Audit lines that may wait in memory while the file cannot "
		 "be written; beyond, they are lost and counted."},
	{.key = "seen_file",
	 .type = SETTING_PATH,
	 .offset = AT(seen_file),
	 .optional = true,
	 .help = "Where the highest block seen of each space is remembered, so "
		 "that a Redis restored from a backup grants none twice even "
		 "when every allocator was restarted meanwhile.  Made when it "
		 "is not there; the allocators of a host may share it.",
	 .example = "/var/lib/shortloop/allocator.seen"},
	{.key = "url_schemes",
	 .type = SETTING_STRINGS,
	 .offset = AT(url_schemes),
	 .optional = true,
	 .help = "Schemes of apps that links may lead to, beside http and "
		 "https.",
	 .example = "[weixin, myapp]"},
	{.key = "url_credentials",
	 .type = SETTING_BOOL,
	 .offset = AT(url_credentials),
	 .fallback = "false",
	 .help = "Whether links may lead to URLs with a user and a password, "
		 "which every visitor sees."},
	{.key = "url_ip_hosts",
	 .type = SETTING_ENUM,
	 .offset = AT(url_ip_hosts),
	 .fallback = "allow",
	 .choices = url_ip_hosts_choices,
	 .help = "Whether links may lead to hosts that are addresses."},
	{.key = "url_allow_file",
	 .type = SETTING_PATH,
	 .offset = AT(url_allow_file),
	 .optional = true,
	 .help = "The only domains that links may lead to, one a line: "
		 "example.com, or .example.com with all below it.  Read again "
		 "on SIGHUP.",
	 .example = "/etc/shortloop/allow.domains"},
	{.key = "url_deny_file",
	 .type = SETTING_PATH,
	 .offset = AT(url_deny_file),
	 .optional = true,
	 .help = "Domains that links may not lead to, in the same form; also "
		 "of those allowed.  Read again on SIGHUP.",
	 .example = "/etc/shortloop/deny.domains"},
	{.key = "default_space",
	 .type = SETTING_STRING,
	 .offset = AT(default_space),
	 .optional = true,
	 .help = "Space of links that name none; the first one when not set.",
	 .example = "s7"},
	{.key = "default_ttl",
	 .type = SETTING_STRING,
	 .offset = AT(default_ttl),
	 .optional = true,
	 .help = "TTL class of links that name none; must be named when not "
		 "set.",
	 .example = "365d"},
	{.key = "class_spaces",
	 .type = SETTING_STRINGS,
	 .offset = AT(class_spaces),
	 .optional = true,
	 .help = "Space of links that name none, by TTL class; others go to "
		 "default_space.",
	 .example = "[10d=s7, never=s8]"},
	{.key = "node",
	 .type = SETTING_INT,
	 .offset = AT(node),
	 .fallback = "0",
	 .min = 0,
	 .max = SNOWFLAKE_NODES - 1,
	 .help = "The number under which ids are made for spaces of strategy "
		 "hash, snowflake and alias.  Each allocator needs its own; "
		 "one "
		 "that finds its number in use waits."},
	{.key = "waiting_max",
	 .type = SETTING_INT,
	 .offset = AT(waiting_max),
	 .fallback = "10000",
	 .min = 1,
	 .max = 1000000,
	 .help = "Creates of a thread that may wait for a block; beyond, 503."},
	{.key = "batches_max",
	 .type = SETTING_INT,
	 .offset = AT(batches_max),
	 .fallback = "8",
	 .min = 1,
	 .max = 10000,
	 .help = "Batches of a thread at a time; beyond, 503.  Together their "
		 "lines should not be more than waiting_max."},
	{.key = "batches_per_account",
	 .type = SETTING_INT,
	 .offset = AT(batches_per_account),
	 .fallback = "2",
	 .min = 1,
	 .max = 10000,
	 .help = "Of these, how many may be of one account; beyond, 429.  Less "
		 "than batches_max, so that accounts whose batches wait for "
		 "their rate leave room for others."},
	{.key = "batch_wait_max",
	 .type = SETTING_DURATION,
	 .offset = AT(batch_wait_max),
	 .fallback = "1h",
	 .min = 100,
	 .max = 24 * CLOCK_HOUR,
	 .help = "How long a batch may wait in all for the rate of its key; "
		 "then the next line is answered 429 and the answer breaks "
		 "off."},
	{.key = "batch_time_max",
	 .type = SETTING_DURATION,
	 .offset = AT(batch_time_max),
	 .fallback = "2h",
	 .min = 100,
	 .max = 7 * CLOCK_DAY,
	 .help = "How long a batch may last, whatever it waits for: its rate, "
		 "the next byte of its client, or that answers are read; then "
		 "the next line is answered 408 and the answer breaks off."},
	{.key = "batch_in_flight",
	 .type = SETTING_INT,
	 .offset = AT(batch_in_flight),
	 .fallback = "1024",
	 .min = 1,
	 .max = 100000,
	 .help = "Lines of a batch that are being created at a time; more of "
		 "them are read once those are done."},
	{.key = "batch_bytes",
	 .type = SETTING_SIZE,
	 .offset = AT(batch_bytes),
	 .fallback = "1MiB",
	 .min = 64 << 10,
	 .max = 1 << 30,
	 .help = "Bytes of such lines, and of answers that the client has not "
		 "taken: what a batch may hold in memory of each."},
	{.key = "space_check_every",
	 .type = SETTING_DURATION,
	 .offset = AT(space_check_every),
	 .fallback = "10s",
	 .min = 100,
	 .max = CLOCK_HOUR,
	 .help = "How often the space records in Redis are compared with the "
		 "configuration, and with what was seen of them before."},
	{.key = "ledger_every",
	 .type = SETTING_DURATION,
	 .offset = AT(ledger_every),
	 .fallback = "15s",
	 .min = 100,
	 .max = CLOCK_HOUR,
	 .help = "How often the ledger of the spaces is read for /v1/spaces "
		 "and /metrics; less often when reading takes long."},
	{.key = "event_timeout",
	 .type = SETTING_DURATION,
	 .offset = AT(event_timeout),
	 .fallback = "0s",
	 .max = 24 * CLOCK_DAY,
	 .help = "How long a link event waits for Kafka before it is given up; "
		 "0s: as long as the program runs."},
	{.key = "drain_timeout",
	 .type = SETTING_DURATION,
	 .offset = AT(drain_timeout),
	 .fallback = "10s",
	 .max = CLOCK_HOUR,
	 .help = "How long a shutdown may wait for requests, blocks handed "
		 "back and link events."},
	{.key = NULL},
};
#undef AT

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

static int check_base_url(const char *url, struct error *err)
{
	struct host host;

	return base_url_check(url, &host, err) < 0
		       ? error_wrap(err, "allocator.base_url")
		       : 0;
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
	struct error why = {0};

	*ret = (struct rate_rule){.count = 0};
	if (!strcmp(own->key_rate, "none"))
		return 0;
	if (rate_rule_parse(own->key_rate, ret, &why) < 0)
		return error_set(err, ERROR_CONFIG,
				 "allocator.key_rate: '%.40s': %.200s, or none",
				 own->key_rate, why.text);
	ret->burst = (uint64_t)own->key_burst;
	return 0;
}

int allocator_config_validate(const void *config, struct error *err)
{
	const struct allocator_config *c = config;
	const struct url_policy_config urls =
		allocator_url_policy(&c->allocator);
	struct rate_rule ignored;

	if (key_rate_read(&c->allocator, &ignored, err) < 0)
		return -1;
	if (links_config_validate(&c->links, err) < 0 ||
	    domains_config_validate(&c->domains, &c->links, err) < 0 ||
	    check_default_space(c, err) < 0 || check_default_ttl(c, err) < 0 ||
	    check_class_spaces(c, err) < 0)
		return -1;
	if (url_policy_config_check(&urls, err) < 0)
		return -1;
	return check_base_url(c->allocator.base_url, err);
}
