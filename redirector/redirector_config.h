/* redirector_config.h - the settings of the program. */
#ifndef REDIRECTOR_REDIRECTOR_CONFIG_H
#define REDIRECTOR_REDIRECTOR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/app/app.h"
#include "common/config/setting.h"
#include "common/error.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/redis/redis.h"
#include "linkstore/config.h"
#include "linkstore/domains.h"

/* Section `redirector`. */
struct redirector_settings {
	char *listen;
	char *admin;
	int64_t threads; /* 0: one per processor the process may use */
	char *edge;	 /* NULL: the host's name */
	struct setting_strings trusted_proxies;
	char *client_header;
	char *fallback_url;    /* of `/`; NULL: 404 */
	bool fallback_unknown; /* also of codes that have no link */
	char *unknown_hosts;   /* "default", "refuse" */
	/* The cache; sizes over all threads. */
	int64_t cache_size;
	int64_t cache_ttl;
	int64_t cache_negative_ttl;
	int64_t cache_stale;
	int64_t space_check_every;
	/* Answers. */
	int64_t permanent_max_age;
	int64_t retry_after;
	/* Events, in bytes. */
	int64_t max_user_agent;
	int64_t max_referrer;
	int64_t max_accept_language;
	int64_t max_query;
	char *compression;
	int64_t linger;
	int64_t delivery_timeout;
	int64_t drain_timeout;
	char *spool_dir; /* NULL: no spool */
	int64_t spool_max_bytes;
	int64_t spool_replay_rate; /* events a second */
	/* Counters. */
	char *instance; /* NULL: host and port */
	int64_t counters_every;
};

struct redirector_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka;
	struct links_config links;
	struct domains_config domains;
	struct redirector_settings redirector;
};

extern const struct setting_group redirector_groups[];
extern const size_t redirector_group_count;

/* What the tables cannot say: networks, URLs, settings that depend on others.
 * `config` is a struct redirector_config. */
int redirector_config_validate(const void *config, struct error *err);

#endif
