#include "redirector/redirector_config.h"

#include <strings.h>

#include "common/clock.h"
#include "linkstore/config_check.h"
#include "linkstore/quarantine.h"
#include "redirector/client_address.h"

static const char *const client_headers[] = {"x-forwarded-for", "forwarded",
					     NULL};
static const char *const unknown_hosts_choices[] = {"default", "refuse", NULL};
static const char *const codecs[] = {"lz4", "zstd", "none", NULL};

#define SETTING_STRUCT struct redirector_settings
static const struct setting settings_table[] = {
	SETTING_STRING(listen, "0.0.0.0:8080", AT_START,
		       "Where visitors arrive, as host:port"),
	SETTING_STRING(admin, "127.0.0.1:9080", AT_START,
		       "Where /healthz, /readyz and /metrics are served"),
	SETTING_INT(threads, "0", 0, 256, AT_START,
		    "Threads, each with a listener, a cache and a connection "
		    "to Redis of its own; 0: one per processor"),
	SETTING_STRING(
		edge, OPTIONAL_LIKE("edge-1"), AT_START,
		"Name of this redirector in its events; the host's if not set"),
	SETTING_STRINGS(trusted_proxies,
			OPTIONAL_LIKE("[10.0.0.0/8, fd00::/8]"), AT_START,
			"Networks whose word on the client's address is taken"),
	SETTING_ENUM(
		client_header, "x-forwarded-for", client_headers, AT_START,
		"The header that trusted proxies set; the other is ignored"),
	SETTING_STRING(fallback_url, OPTIONAL_LIKE("https://www.example.org/"),
		       AT_START,
		       "Where / leads, but for domains with one of their own; "
		       "404 if not set"),
	SETTING_BOOL(fallback_unknown, "false", AT_START,
		     "Whether codes that have no link lead to the fallback, "
		     "too, instead of a 404"),
	SETTING_ENUM(unknown_hosts, "default", unknown_hosts_choices, AT_START,
		     "What visits get whose Host is no host of any domain: the "
		     "links of the default domain, or 404; without domains "
		     "every Host is as good"),
	SETTING_SIZE(cache_size, "64MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for cached links, over all threads"),
	SETTING_CACHE_TTL,
	SETTING_CACHE_NEGATIVE_TTL,
	SETTING_CACHE_STALE,
	SETTING_RENAMED(cursor_every, "space_check_every"),
	SETTING_DURATION(
		space_check_every, "1s", 100, CLOCK_MINUTE, AT_START,
		"How often the space records in Redis, with their cursors, are "
		"read and compared with the configuration"),
	SETTING_PERMANENT_MAX_AGE,
	SETTING_DURATION(retry_after, "5s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "Retry-After of a 503"),
	SETTING_SIZE(max_user_agent, "512B", 0, 64 << 10, AT_START,
		     "User-Agent in an event is cut at this length"),
	SETTING_SIZE(max_referrer, "1KiB", 0, 64 << 10, AT_START,
		     "Referer in an event is cut at this length"),
	SETTING_SIZE(max_accept_language, "128B", 0, 64 << 10, AT_START,
		     "Accept-Language in an event is cut at this length"),
	SETTING_SIZE(max_query, "1KiB", 0, 64 << 10, AT_START,
		     "The query string in an event is cut at this length"),
	SETTING_ENUM(compression, "lz4", codecs, AT_START,
		     "Compression of events on their way to Kafka"),
	SETTING_DURATION(linger, "50ms", 0, 10 * CLOCK_SECOND, AT_START,
			 "How long events are gathered before they are sent"),
	SETTING_DURATION(
		delivery_timeout, "1h", CLOCK_SECOND, 7 * CLOCK_DAY, AT_START,
		"How long an event waits in memory for Kafka before it is "
		"spooled, or dropped"),
	SETTING_DURATION(drain_timeout, "10s", 0, CLOCK_HOUR, AT_START,
			 "At SIGTERM: how long to finish requests, and then to "
			 "deliver events"),
	SETTING_PATH(
		spool_dir, OPTIONAL_LIKE("/var/lib/shortloop/spool"), AT_START,
		"Folder, of this redirector alone, where click events wait "
		"on disk for Kafka; if not set, those that memory does "
		"not hold are dropped"),
	SETTING_SIZE(spool_max_bytes, "1GiB", 1 << 20, INT64_C(1) << 44,
		     AT_START,
		     "What the spool takes of the disk at most; what does not "
		     "fit is dropped"),
	SETTING_INT(spool_replay_rate, "20000", 1, 10000000, AT_START,
		    "Events a second that are sent from the spool when Kafka "
		    "is back, beside those of present visits"),
	SETTING_STRING(instance, OPTIONAL_LIKE("edge-1:8080"), AT_START,
		       "Name of this place among redirectors, which no two "
		       "have at a time and the next start here has again; host "
		       "and port if not set"),
	SETTING_DURATION(counters_every, "1m", 100, 10 * CLOCK_MINUTE, AT_START,
			 "How often what was counted is told to "
			 "kafka.topic_counters"),
	{0},
};

static const struct setting_section redirector_section = {
	"redirector", "The program that answers visits.", settings_table};

static bool is_web_url(const char *url)
{
	for (const char *p = url; *p; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			return false;
	}
	return (!strncasecmp(url, "http://", 7) && url[7]) ||
	       (!strncasecmp(url, "https://", 8) && url[8]);
}

static int validate_settings(const struct redirector_settings *settings,
			     struct error *err)
{
	struct proxy_list *proxies;

	if (settings->fallback_url && !is_web_url(settings->fallback_url))
		return error_set(err, ERROR_CONFIG,
				 "redirector.fallback_url: '%.200s' is not an "
				 "http or https URL",
				 settings->fallback_url);
	proxies = proxy_list_new(&settings->trusted_proxies, err);
	if (!proxies)
		return -1;
	proxy_list_free(proxies);
	return 0;
}

#define GROUP(of, member)                                                      \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct redirector_config, member)           \
	}

const struct setting_group redirector_groups[] = {
	GROUP(app_log_section, app),	       GROUP(http_section, http),
	GROUP(redis_section, redis),	       GROUP(kafka_section, kafka),
	GROUP(links_section, links),	       GROUP(domains_section, domains),
	GROUP(redirector_section, redirector),
};
const size_t redirector_group_count =
	sizeof(redirector_groups) / sizeof(redirector_groups[0]);

int redirector_config_validate(const void *config, struct error *err)
{
	const struct redirector_config *c = config;

	if (links_config_validate(&c->links, err) < 0 ||
	    domains_config_validate(&c->domains, &c->links, err) < 0)
		return -1;
	return validate_settings(&c->redirector, err);
}
