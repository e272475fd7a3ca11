/* redirector_config.h - the settings of the program. */
#ifndef REDIRECTOR_REDIRECTOR_CONFIG_H
#define REDIRECTOR_REDIRECTOR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/agent/robots_config.h"
#include "common/app/app.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/keys/rate_limiter.h"
#include "common/redis/redis.h"
#include "linkstore/domains.h"
#include "linkstore/links_config.h"

/* Section `redirector`. */
struct redirector_settings {
	char *listen;
	char *listen_unix;	/* NULL: none */
	char *listen_unix_mode; /* redirector_unix_mode() reads it */
	char *admin;
	char *handover_socket; /* NULL: none */
	int64_t handover_timeout;
	int64_t threads; /* 0: one per processor the process may use */
	char *edge;	 /* NULL: the host's name */
	struct setting_strings proxy_protocol;
	struct setting_strings trusted_proxies;
	char *client_header;   /* request_info_style() reads it */
	char *fallback_url;    /* for `/`; NULL: 404 */
	bool fallback_unknown; /* also for codes that have no link */
	bool fallback_paused;  /* also for paused links */
	bool trim_paths;       /* path_code_in_text() */
	char *unknown_hosts;   /* "default", "refuse" */
	/* The cache; sizes over all threads. */
	int64_t cache_size;
	int64_t cache_ttl;
	int64_t cache_negative_ttl;
	int64_t cache_stale;
	int64_t space_check_every;
	/* Look-ups in Redis. */
	int64_t lookup_timeout;
	int64_t lookups_at_first; /* under way after an outage, per thread */
	int64_t breaker_failures;
	int64_t breaker_failure_share; /* per cent */
	int64_t breaker_wait_max;
	int64_t replica_timeout;
	int64_t replica_lag_max;
	/* Answers. */
	int64_t permanent_max_age;
	int64_t retry_after;
	int64_t uncounted_fetches;    /* minimum, for links with max_visits */
	char *app_page_file;	      /* NULL: the built-in page */
	char *mini_program_page_file; /* NULL: the built-in page */
	/* Events, in bytes. */
	int64_t max_user_agent;
	int64_t max_referrer;
	int64_t max_accept_language;
	int64_t max_query;
	int64_t max_cookie;
	struct setting_strings record_cookies; /* names */
	bool record_traceparent;
	char *compression;
	int64_t linger;
	int64_t delivery_timeout;
	int64_t drain_timeout;
	char *spool_dir; /* NULL: no spool */
	int64_t spool_max_bytes;
	int64_t spool_replay_rate; /* events a second */
	int64_t spool_journal_bytes;
	/* Maximum of events a second for answers that lead nowhere. */
	int64_t event_rate_not_found;
	int64_t event_rate_expired;
	int64_t event_rate_blocked;
	/* Counters. */
	char *instance; /* NULL: host and port */
	int64_t counters_every;
	/* The access log. */
	char *access_log;	 /* NULL: none */
	char *access_log_format; /* "combined", "json" */
	int64_t access_log_sample;
	int64_t access_log_queue;
	char *deny_file; /* NULL: no client is denied */
	/* Limits; redirector_rates() reads the rates. */
	char *client_rate;
	int64_t client_burst;
	char *unknown_rate;
	int64_t unknown_burst;
	struct setting_strings limit_exempt;
	int64_t limit_table_size; /* over all threads */
};

struct redirector_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka;
	struct links_config links;
	struct domains_config domains;
	struct robots_config robots;
	struct redirector_settings redirector;
};

extern const struct setting_group redirector_groups[];
extern const size_t redirector_group_count;

/* Returns the mode of the socket's file.  -1: the setting is no mode. */
int redirector_unix_mode(const struct redirector_settings *settings);

/* Returns the rates of requests and of codes without a link; count 0: no
 * limit. */
int redirector_rates(const struct redirector_settings *settings,
		     struct rate_rule *ret_client,
		     struct rate_rule *ret_unknown, struct error *err);

/* Sets spool_dir if systemd runs the program and the setting is missing: the
 * folder spool in the last folder of $STATE_DIRECTORY.  The value "none"
 * becomes NULL.  `config` is a struct redirector_config. */
int redirector_config_complete(void *config, struct error *err);

/* Checks rules that the tables cannot express: networks, URLs, settings that
 * depend on others.  `config` is a struct redirector_config. */
int redirector_config_validate(const void *config, struct error *err);

#endif
