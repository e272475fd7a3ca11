/* collector_config.h - section `collector` of the configuration. */
#ifndef COLLECTOR_COLLECTOR_CONFIG_H
#define COLLECTOR_COLLECTOR_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/agent/robots_config.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/config/setting.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "linkstore/clicks_config.h"
#include "linkstore/domains_config.h"

struct collector_settings {
	struct clicks_config clicks; /* section `clicks` */
	struct robots_config robots; /* section `robots` */

	char *admin;
	char *name; /* NULL: the host's name */
	char *group;
	char *offset_reset;
	int64_t epoch;

	int64_t batch_rows;
	int64_t batch_bytes;
	int64_t batch_age; /* ms */
	int64_t inserts_in_flight;
	int64_t report_every; /* ms */
	int64_t parts_per_second;
	int64_t memory;
	int64_t retry_backoff_max; /* ms */
	int64_t drain_timeout;	   /* ms */
	int64_t unreadable_after;  /* ms; 0: never automatically */
	int64_t max_lag;	   /* ms */
	int64_t live_max_age;	   /* ms */

	char *ua_rules;
	char *verdict_rules;
	char *source_list;
	int64_t scan_window; /* ms */
	int64_t scan_codes;
	int64_t scan_not_found;
	int64_t scan_memory;
	struct setting_strings geo_files;
	char *geo_language;
	char *visitor_identity;
	char *visitor_secret; /* NULL: none */
	char *store_ip;
	bool stored_ip_only;
	int64_t ua_cache;
	int64_t geo_cache;
	int64_t max_text;
};
/* Returns the secret for visitors' identities; NULL: SHA-1 is enough. */
const char *collector_visitor_secret(const struct collector_settings *settings);
extern const struct setting_section collector_section; /* "collector" */

/* The collector's part of the configuration file. */
struct collector_config {
	struct app_config app;
	struct http_config http;
	struct kafka_config kafka;
	struct clickhouse_config clickhouse;
	struct domains_config domains; /* for imports */
	struct collector_settings collector;
};

extern const struct setting_group collector_groups[];
extern const size_t collector_group_count;

/* Returns the part of `memory` that is reserved from the start. */
int64_t collector_caches(const struct collector_settings *settings);

/* Checks rules between settings, for app_spec. */
int collector_config_validate(const void *config, struct error *err);

#endif
