#include "redirector/redirector_config.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/http/unix_socket.h"
#include "common/network_list.h"
#include "common/uri.h"
#include "linkstore/config_check.h"
#include "linkstore/quarantine.h"
#include "redirector/lookup/breaker.h"
#include "redirector/visit/recorded.h"

static const char *const client_headers[] = {"x-forwarded-for", "forwarded",
					     "x-real-ip", NULL};
static const char *const unknown_hosts_choices[] = {"default", "refuse", NULL};
static const char *const log_formats[] = {"combined", "json", NULL};
static const char *const codecs[] = {"lz4", "zstd", "none", NULL};

/* Loopback, link-local (RFC 3927, 4291), private (RFC 1918, 4193) and shared
 * (RFC 6598). */
#define PRIVATE_NETWORKS                                                       \
	"127.0.0.0/8, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, "             \
	"100.64.0.0/10, 169.254.0.0/16, ::1, fc00::/7, fe80::/10"

/* No rate limit is ever reached at this value. */
#define EVENT_RATE_MAX 10000000

#define SETTING_STRUCT struct redirector_settings
static const struct setting settings_table[] = {
	SETTING_STRING(listen, "0.0.0.0:8080", AT_START,
		       "Where visitors arrive, as host:port; :8080 is every "
		       "address of IPv6 and IPv4"),
	SETTING_PATH(listen_unix,
		     OPTIONAL_LIKE("/run/shortloop/redirector.sock"), AT_START,
		     "A Unix socket where visitors arrive as well, by way of a "
		     "program of this host that terminates TLS"),
	SETTING_STRING(listen_unix_mode, "0660", AT_START,
		       "Mode of that socket's file: who can write to it can "
		       "connect"),
	SETTING_STRING(admin, "127.0.0.1:9080", AT_START,
		       "Where /healthz, /readyz and /metrics are served"),
	SETTING_PATH(handover_socket,
		     OPTIONAL_LIKE("/run/shortloop/redirector.handover"),
		     AT_START,
		     "A Unix socket where a redirector that starts takes over "
		     "from the one that runs with this file; if not set, and "
		     "without a service manager that keeps sockets, the one "
		     "has to end first"),
	SETTING_DURATION(handover_timeout, "10s", 0, CLOCK_HOUR, AT_START,
			 "How long a start that takes over waits until it can "
			 "redirect: beyond, it gives up and the other goes on; "
			 "after a restart by a service manager it serves all "
			 "the same"),
	SETTING_INT(threads, "0", 0, 256, AT_START,
		    "Threads, each with a listener, a cache and a connection "
		    "to Redis of its own; 0: one per processor"),
	SETTING_STRING(
		edge, OPTIONAL_LIKE("edge-1"), AT_START,
		"Name of this redirector in its events; the host's if not set"),
	SETTING_STRINGS(proxy_protocol, OPTIONAL_LIKE("[10.0.0.0/8, unix]"),
			AT_START,
			"Networks of proxies that begin each connection with a "
			"PROXY header (version 1 or 2), which then every "
			"connection from there must; unix are those at "
			"listen_unix"),
	SETTING_STRINGS(trusted_proxies,
			OPTIONAL_LIKE("[10.0.0.0/8, fd00::/8]"), AT_START,
			"Networks whose word on the client's address is taken, "
			"in client_header; unix are the peers at listen_unix"),
	SETTING_ENUM(client_header, "x-forwarded-for", client_headers, AT_START,
		     "The header that trusted proxies set; others are ignored"),
	SETTING_STRING(fallback_url, OPTIONAL_LIKE("https://www.example.org/"),
		       AT_START,
		       "Where / leads, but for domains with one of their own; "
		       "404 if not set"),
	SETTING_BOOL(fallback_paused, "false", AT_START,
		     "Paused links, and those of paused domains, lead to the "
		     "fallback URL, too, where there is one; else visitors get "
		     "a page with 410."),
	SETTING_BOOL(fallback_unknown, "false", AT_START,
		     "Whether codes that have no link lead to the fallback, "
		     "too, instead of a 404"),
	SETTING_BOOL(trim_paths, "true", AT_START,
		     "Whether what no code can have is passed over behind one, "
		     "as the full stop or the bracket behind a link in a text; "
		     "404 if not"),
	SETTING_ENUM(unknown_hosts, "default", unknown_hosts_choices, AT_START,
		     "What visits get whose Host is no host of any domain: the "
		     "links of the default domain, or 404; without domains "
		     "every Host is as good"),
	SETTING_SIZE(cache_size, "64MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for cached links, over all threads"),
	SETTING_CACHE_TTL,
	SETTING_CACHE_NEGATIVE_TTL,
	SETTING_CACHE_STALE,
	SETTING_DURATION(
		space_check_every, "1s", 100, CLOCK_MINUTE, AT_START,
		"How often the space records in Redis, with their cursors, are "
		"read and compared with the configuration"),
	SETTING_DURATION(
		lookup_timeout, "1s", 10, 10 * CLOCK_MINUTE, AT_START,
		"How long a visitor waits at most for a link that is looked up "
		"in Redis, before a 503 or the link as it was"),
	SETTING_INT(lookups_at_first, "16", 1, 1000000, AT_START,
		    "Look-ups that a thread has under way at once when Redis "
		    "is back; others wait for their turn, and the number "
		    "doubles as they succeed; above 1024 there is no bound"),
	SETTING_INT(breaker_failures, "10", 1, 1000000, AT_START,
		    "After so many look-ups in a row that failed or took too "
		    "long, a thread asks Redis for one link at a time only, "
		    "now and then, until one succeeds"),
	SETTING_INT(breaker_failure_share, "30", 0, 100, AT_START,
		    "It does the same when so many per cent of a thread's "
		    "look-ups of the last 10s failed or took too long, of 100 "
		    "at least; 0: however many do"),
	SETTING_DURATION(breaker_wait_max, "2s", BREAKER_WAIT_MIN, CLOCK_MINUTE,
			 AT_START,
			 "The longest time between two of these; the first is "
			 "100ms, and each twice the one before"),
	SETTING_DURATION(replica_timeout, "100ms", 1, CLOCK_MINUTE, AT_START,
			 "How long one of redis.replicas may take for an "
			 "answer before the master is queried; shorter than "
			 "lookup_timeout"),
	SETTING_DURATION(replica_lag_max, "2s", CLOCK_SECOND, CLOCK_HOUR,
			 AT_START,
			 "How far one of redis.replicas may be behind the "
			 "master and still be queried"),
	SETTING_PERMANENT_MAX_AGE,
	SETTING_DURATION(retry_after, "5s", CLOCK_SECOND, CLOCK_HOUR, AT_START,
			 "Retry-After of a 503"),
	SETTING_INT(uncounted_fetches, "20", 0, 1000000, AT_START,
		    "So many previews, prefetches, HEADs and other fetches of "
		    "robots a link with max_visits answers without using up a "
		    "visit, or as many as it has visits, if that is more; "
		    "beyond, they get 429; 0: all do"),
	SETTING_PATH(
		app_page_file, OPTIONAL_LIKE("/etc/shortloop/app.html"),
		RELOADS,
		"The page that opens an app for those whom a link's target "
		"says so, with {{open}}, {{fallback}} and {{browser}} in it; "
		"ours if not set"),
	SETTING_PATH(mini_program_page_file,
		     OPTIONAL_LIKE("/etc/shortloop/mini_program.html"), RELOADS,
		     "The same for mini programs"),
	SETTING_SIZE(max_user_agent, "512B", 0, 64 << 10, AT_START,
		     "User-Agent in an event is cut at this length"),
	SETTING_SIZE(max_referrer, "1KiB", 0, 64 << 10, AT_START,
		     "Referer in an event is cut at this length"),
	SETTING_SIZE(max_accept_language, "128B", 0, 64 << 10, AT_START,
		     "Accept-Language in an event is cut at this length"),
	SETTING_SIZE(max_query, "1KiB", 0, 64 << 10, AT_START,
		     "The query string in an event is cut at this length"),
	SETTING_SIZE(max_cookie, "128B", 1, 4 << 10, AT_START,
		     "The value of a cookie in an event is cut at this length"),
	SETTING_STRINGS(record_cookies, OPTIONAL_LIKE("[consent, ab_group]"),
			AT_START,
			"Names of at most 8 cookies whose values go into "
			"events, and into ClickHouse, where they are personal "
			"data; none if not set"),
	SETTING_BOOL(record_traceparent, "false", AT_START,
		     "Whether the trace-id of the header traceparent (W3C "
		     "Trace Context) goes there, too, where it is personal "
		     "data"),
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
		"on disk for Kafka; if not set, the folder spool in the state "
		"directory that systemd names; without that, or as none, "
		"events that memory does not hold are dropped"),
	SETTING_SIZE(spool_max_bytes, "1GiB", 1 << 20, INT64_C(1) << 44,
		     AT_START,
		     "What the spool takes of the disk at most; what does not "
		     "fit is dropped"),
	SETTING_INT(spool_replay_rate, "20000", 1, 10000000, AT_START,
		    "Events a second that are sent from the spool when Kafka "
		    "is back, beside those of present visits"),
	SETTING_SIZE(spool_journal_bytes, "64MiB", 1 << 20, INT64_C(1) << 36,
		     AT_START,
		     "Room in spool_dir for events on their way, which a kill "
		     "of the process does not cost then; kafka.queue_messages "
		     "times 400 bytes at least"),
	SETTING_INT(event_rate_not_found, "100", 0, EVENT_RATE_MAX, AT_START,
		    "Events a second that all threads together send of 404 "
		    "answers, so that a client that tries codes one by one "
		    "does not fill Kafka; events that are not sent are "
		    "counted; 0: none is sent"),
	SETTING_INT(event_rate_expired, "1000", 0, EVENT_RATE_MAX, AT_START,
		    "The same of 410 answers, which codes that were in use "
		    "once get"),
	SETTING_INT(event_rate_blocked, "1000", 0, EVENT_RATE_MAX, AT_START,
		    "The same of 451 answers"),
	SETTING_STRING(instance, OPTIONAL_LIKE("edge-1:8080"), AT_START,
		       "Name of this place among redirectors, which no two "
		       "have at a time and the next start here has again; host "
		       "and port if not set"),
	SETTING_DURATION(
		counters_every, "1m", 100, 10 * CLOCK_MINUTE, AT_START,
		"How often the counts are written to kafka.topic_counters"),
	SETTING_PATH(access_log, OPTIONAL_LIKE("/var/log/shortloop/access.log"),
		     REOPENS,
		     "A file that gets a line for each answer; none if not "
		     "set"),
	SETTING_ENUM(access_log_format, "combined", log_formats, AT_START,
		     "combined has what other web servers write; json also the "
		     "Host, the language and the milliseconds"),
	SETTING_INT(access_log_sample, "1", 1, 1000000000, AT_START,
		    "One of so many answers is written"),
	SETTING_SIZE(access_log_queue, "16MiB", 64 << 10, INT64_C(4) << 30,
		     AT_START,
		     "Lines that wait for a disk; beyond, they are lost and "
		     "counted"),
	SETTING_PATH(deny_file, OPTIONAL_LIKE("/etc/shortloop/deny.txt"),
		     RELOADS,
		     "Networks whose requests get 403, one a line; # and ; "
		     "start a comment"),
	SETTING_STRING(client_rate, "none", AT_START,
		       "How often the network of a client (an IPv4 address, a "
		       "/64 of IPv6) may send requests to a thread, a second "
		       "(/s), minute "
		       "(/m) or hour (/h), beyond which it gets 429; none: as "
		       "often as it likes"),
	SETTING_INT(client_burst, "1000", 1, RATE_COUNT_MAX, AT_START,
		    "How many requests it may make at once after a rest"),
	SETTING_STRING(unknown_rate, "50/s", AT_START,
		       "The same for codes that are not in the cache and turn "
		       "out to have no link, which is what guessing codes "
		       "brings; beyond it, what is not in the cache is a 429"),
	SETTING_INT(unknown_burst, "1000", 1, RATE_COUNT_MAX, AT_START,
		    "How many such codes it may request at once after a rest"),
	SETTING_STRINGS(
		limit_exempt, PRIVATE_NETWORKS, AT_START,
		"Networks of clients without a limit, as of monitors or of "
		"offices behind one address; by default those that are not "
		"of the Internet, from where balancers come"),
	SETTING_SIZE(limit_table_size, "4MiB", 0, INT64_C(1) << 40, AT_START,
		     "Memory for the request counts of networks, over all "
		     "threads; 16 bytes each"),
	{0},
};

static const struct setting_section redirector_section = {
	.name = "redirector",
	.help = "The program that answers visits.",
	.settings = settings_table,
};

int redirector_unix_mode(const struct redirector_settings *settings)
{
	const char *text = settings->listen_unix_mode;
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	/* A mode must begin with 0, since a decimal number would be another
	 * mode. */
	return *text == '0' && !*end && mode <= 0777 ? (int)mode : -1;
}

static int validate_path(const char *path, const char *setting,
			 struct error *err)
{
	const char *wrong = path ? unix_socket_path_error(path) : NULL;

	if (wrong)
		return error_set(err, ERROR_CONFIG, "%s: '%.200s' %s", setting,
				 path, wrong);
	return 0;
}

static int validate_unix(const struct redirector_settings *settings,
			 struct error *err)
{
	const char *visitors = settings->listen_unix;
	const char *handover = settings->handover_socket;

	if (validate_path(visitors, "redirector.listen_unix", err) < 0 ||
	    validate_path(handover, "redirector.handover_socket", err) < 0)
		return -1;
	if (visitors && handover && !strcmp(visitors, handover))
		return error_set(err, ERROR_CONFIG,
				 "redirector.handover_socket: '%.200s' is "
				 "listen_unix, too",
				 handover);
	if (redirector_unix_mode(settings) < 0)
		return error_set(
			err, ERROR_CONFIG,
			"redirector.listen_unix_mode: '%.80s' is not a "
			"mode such as 0660",
			settings->listen_unix_mode);
	return 0;
}

static int validate_peers(const struct setting_strings *networks,
			  const char *setting, struct error *err)
{
	struct network_list *list =
		network_list_new_of_peers(networks, setting, err);

	network_list_free(list);
	return list ? 0 : -1;
}

int redirector_rates(const struct redirector_settings *settings,
		     struct rate_rule *ret_client,
		     struct rate_rule *ret_unknown, struct error *err)
{
	if (rate_rule_read("redirector.client_rate", settings->client_rate,
			   settings->client_burst, ret_client, err) < 0)
		return -1;
	return rate_rule_read("redirector.unknown_rate", settings->unknown_rate,
			      settings->unknown_burst, ret_unknown, err);
}

static int validate_limits(const struct redirector_settings *settings,
			   struct error *err)
{
	struct rate_rule client, unknown;
	struct network_list *exempt;

	if (redirector_rates(settings, &client, &unknown, err) < 0)
		return -1;
	exempt = network_list_new(&settings->limit_exempt,
				  "redirector.limit_exempt", err);
	network_list_free(exempt);
	return exempt ? 0 : -1;
}

/* A look-up may begin at the replica, and has one deadline for both servers. */
static int validate_replicas(const struct redirector_config *c,
			     struct error *err)
{
	char replica[DURATION_TEXT_MAX], lookup[DURATION_TEXT_MAX];
	const struct redirector_settings *s = &c->redirector;

	if (redis_replicas_check(&c->redis, err) < 0)
		return -1;
	if (!redis_has_replicas(&c->redis) ||
	    s->replica_timeout < s->lookup_timeout)
		return 0;
	return error_set(err, ERROR_CONFIG,
			 "redirector.replica_timeout (%s) must be shorter than "
			 "redirector.lookup_timeout (%s): a replica that hangs "
			 "would leave no time to query the master",
			 duration_format(s->replica_timeout, replica),
			 duration_format(s->lookup_timeout, lookup));
}

static int validate_settings(const struct redirector_settings *settings,
			     struct error *err)
{
	const char *fallback = settings->fallback_url;

	if (fallback && !uri_is_web(fallback, strlen(fallback)))
		return error_set(err, ERROR_CONFIG,
				 "redirector.fallback_url: '%.200s' is not an "
				 "http or https URL",
				 fallback);
	if (recorded_check(settings, err) < 0 ||
	    validate_unix(settings, err) < 0 ||
	    validate_peers(&settings->proxy_protocol,
			   "redirector.proxy_protocol", err) < 0)
		return -1;
	return validate_peers(&settings->trusted_proxies,
			      "redirector.trusted_proxies", err);
}

#define GROUP(of, member)                                                      \
	{                                                                      \
		.section = &(of),                                              \
		.offset = offsetof(struct redirector_config, member)           \
	}

const struct setting_group redirector_groups[] = {
	GROUP(app_log_section, app),   GROUP(http_section, http),
	GROUP(redis_section, redis),   GROUP(kafka_section, kafka),
	GROUP(links_section, links),   GROUP(domains_section, domains),
	GROUP(robots_section, robots), GROUP(redirector_section, redirector),
};
const size_t redirector_group_count =
	sizeof(redirector_groups) / sizeof(redirector_groups[0]);

int redirector_config_complete(void *config, struct error *err)
{
	struct redirector_settings *s =
		&((struct redirector_config *)config)->redirector;
	/* systemd separates several folders by colons; only this unit has the
	 * last one. */
	const char *dirs = getenv("STATE_DIRECTORY");
	const char *last = dirs ? strrchr(dirs, ':') : NULL;

	if (s->spool_dir && !strcmp(s->spool_dir, "none")) {
		free(s->spool_dir);
		s->spool_dir = NULL;
	} else if (!s->spool_dir && dirs && *dirs &&
		   asprintf(&s->spool_dir, "%s/spool", last ? last + 1 : dirs) <
			   0) {
		s->spool_dir = NULL;
		return error_set_nomem(err);
	}
	return 0;
}

int redirector_config_validate(const void *config, struct error *err)
{
	const struct redirector_config *c = config;

	if (validate_replicas(c, err) < 0 ||
	    links_config_validate(&c->links, err) < 0 ||
	    domains_config_validate(&c->domains, &c->links, err) < 0 ||
	    validate_limits(&c->redirector, err) < 0)
		return -1;
	return validate_settings(&c->redirector, err);
}
