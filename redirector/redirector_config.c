#include "redirector/redirector_config.h"

#include <strings.h>

#include "common/clock.h"
#include "linkstore/config_check.h"
#include "linkstore/quarantine.h"
#include "redirector/client_address.h"

#define FIELD(member) .offset = offsetof(struct redirector_settings, member)

static const char *const client_headers[] = {"x-forwarded-for", "forwarded",
					     NULL};
static const char *const unknown_hosts_choices[] = {"default", "refuse", NULL};
static const char *const codecs[] = {"lz4", "zstd", "none", NULL};

static const struct setting settings_table[] = {
	{.key = "listen",
	 .type = SETTING_STRING,
	 FIELD(listen),
	 .fallback = "0.0.0.0:8080",
	 .help = "Where visitors arrive, as host:port"},
	{.key = "admin",
	 .type = SETTING_STRING,
	 FIELD(admin),
	 .fallback = "127.0.0.1:9080",
	 .help = "Where /healthz, /readyz and /metrics are served"},
	{.key = "threads",
	 .type = SETTING_INT,
	 FIELD(threads),
	 .fallback = "0",
	 .max = 256,
	 .help = "Threads, each with a listener, a cache and a connection to "
		 "Redis of its own; 0: one per processor"},
	{.key = "edge",
	 .type = SETTING_STRING,
	 FIELD(edge),
	 .optional = true,
	 .example = "edge-1",
	 .help = "Name of this redirector in its events; the host's if not "
		 "set"},
	{.key = "trusted_proxies",
	 .type = SETTING_STRINGS,
	 FIELD(trusted_proxies),
	 .optional = true,
	 .example = "[10.0.0.0/8, fd00::/8]",
	 .help = "Networks whose word on the client's address is taken"},
	{.key = "client_header",
	 .type = SETTING_ENUM,
	 FIELD(client_header),
	 .fallback = "x-forwarded-for",
	 .choices = client_headers,
	 .help = "The header that trusted proxies set; the other is ignored"},
	{.key = "fallback_url",
	 .type = SETTING_STRING,
	 FIELD(fallback_url),
	 .optional = true,
	 .example = "https://www.example.org/",
	 .help = "Where / leads, but for domains with one of their own; 404 if "
		 "not set"},
	{.key = "fallback_unknown",
	 .type = SETTING_BOOL,
	 FIELD(fallback_unknown),
	 .fallback = "false",
	 .help = "Whether codes that have no link lead to the fallback, too, "
		 "instead of a 404"},
	{.key = "unknown_hosts",
	 .type = SETTING_ENUM,
	 FIELD(unknown_hosts),
	 .fallback = "default",
	 .choices = unknown_hosts_choices,
	 .help = "What visits get whose Host is no host of any domain: the "
		 "links of the default domain, or 404; without domains every "
		 "Host is as good"},
	{.key = "cache_size",
	 .type = SETTING_SIZE,
	 FIELD(cache_size),
	 .fallback = "64MiB",
	 .max = INT64_C(1) << 40,
	 .help = "Memory for cached links, over all threads"},
	SETTING_CACHE_TTL(offsetof(struct redirector_settings, cache_ttl)),
	SETTING_CACHE_NEGATIVE_TTL(
		offsetof(struct redirector_settings, cache_negative_ttl)),
	SETTING_CACHE_STALE(offsetof(struct redirector_settings, cache_stale)),
	{.key = "cursor_every",
	 .type = SETTING_DURATION,
	 FIELD(cursor_every),
	 .fallback = "1s",
	 .min = 100,
	 .max = CLOCK_MINUTE,
	 .help = "How often the spaces' cursors are read from Redis"},
	SETTING_PERMANENT_MAX_AGE(
		offsetof(struct redirector_settings, permanent_max_age)),
	{.key = "retry_after",
	 .type = SETTING_DURATION,
	 FIELD(retry_after),
	 .fallback = "5s",
	 .min = CLOCK_SECOND,
	 .max = CLOCK_HOUR,
	 .help = "Retry-After of a 503"},
	{.key = "max_user_agent",
	 .type = SETTING_SIZE,
	 FIELD(max_user_agent),
	 .fallback = "512B",
	 .max = 64 << 10,
	 .help = "User-Agent in an event is cut at this length"},
	{.key = "max_referrer",
	 .type = SETTING_SIZE,
	 FIELD(max_referrer),
	 .fallback = "1KiB",
	 .max = 64 << 10,
	 .help = "Referer in an event is cut at this length"},
	{.key = "max_accept_language",
	 .type = SETTING_SIZE,
	 FIELD(max_accept_language),
	 .fallback = "128B",
	 .max = 64 << 10,
	 .help = "Accept-Language in an event is cut at this length"},
	{.key = "max_query",
	 .type = SETTING_SIZE,
	 FIELD(max_query),
	 .fallback = "1KiB",
	 .max = 64 << 10,
	 .help = "The query string in an event is cut at this length"},
	{.key = "compression",
	 .type = SETTING_ENUM,
	 FIELD(compression),
	 .fallback = "lz4",
	 .choices = codecs,
	 .help = "Compression of events on their way to Kafka"},
	{.key = "linger",
	 .type = SETTING_DURATION,
	 FIELD(linger),
	 .fallback = "50ms",
	 .max = 10 * CLOCK_SECOND,
	 .help = "How long events are gathered before they are sent"},
	{.key = "delivery_timeout",
	 .type = SETTING_DURATION,
	 FIELD(delivery_timeout),
	 .fallback = "1h",
	 .min = CLOCK_SECOND,
	 .max = 7 * CLOCK_DAY,
	 .help = "How long an event waits for Kafka before it is dropped"},
	{.key = "drain_timeout",
	 .type = SETTING_DURATION,
	 FIELD(drain_timeout),
	 .fallback = "10s",
	 .max = CLOCK_HOUR,
	 .help = "At SIGTERM: how long to finish requests, and then to deliver "
		 "events"},
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
