/* aggregator_config.h - the settings of the program. */
#ifndef AGGREGATOR_AGGREGATOR_CONFIG_H
#define AGGREGATOR_AGGREGATOR_CONFIG_H

#include <stdint.h>

#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/keys/rate_limiter.h"
#include "common/redis/redis.h"
#include "linkstore/clicks_config.h"
#include "linkstore/domains_config.h"
#include "linkstore/links_config.h"

/* The most shares_max; lists reach as far, whatever the setting is by now. */
#define SHARES_MOST 10000

/* The `aggregator` section. */
struct aggregator_settings {
	struct clicks_config clicks; /* section `clicks` */

	char *admin;

	/* The API. */
	char *listen;
	int64_t threads; /* event loops */
	int64_t workers; /* threads for queries, a connection each */
	int64_t queue_max;
	int64_t answer_timeout;	   /* ms after the request */
	int64_t key_questions_max; /* requests of a key at the same time */
	int64_t exports_max;
	int64_t key_exports_max;
	int64_t export_workers; /* threads of exports, a connection each */
	/* Most links of an export that does not cover all links. */
	int64_t export_links_max;
	int64_t buckets_max;
	int64_t groups_max;
	int64_t raw_rows_max;
	int64_t owner_rows_max;
	int64_t exact_rows_max;
	int64_t answer_cache;  /* bytes */
	int64_t drain_timeout; /* ms */
	struct setting_strings cors_origins;
	char *web_root;
	char *zoneinfo;
	int64_t watermark_every; /* ms between readings of the reports */
	char *keys_file;	 /* NULL: no key is needed */
	/* Rate of keys without one of their own: "100/s", or "none". */
	char *key_rate;
	int64_t key_burst;
	int64_t shares_max; /* of an account */
	int64_t live_subscribers;
	int64_t live_per_key;
	int64_t live_queue; /* events that a subscriber may be behind */

	/* Settling. */
	int64_t settle_every;	/* ms between passes */
	int64_t settle_timeout; /* ms, for one statement */
	int64_t resettle_every; /* ms at least between settlings of a day */
	int64_t day_grace;	/* ms after its end until a day is settled */
	/* Days until the rows of a day are dropped; 0: never. */
	int64_t raw_days;
	int64_t settled_days;  /* days until its counts are dropped; 0: never */
	int64_t recheck_every; /* ms between checks of all reports */
	int64_t progress_overlap; /* ms read again in each pass */
	/* Topics that no collector reads. */
	struct setting_strings retired_topics;
	int64_t lease;		 /* ms */
	int64_t clean_every;	 /* ms between deletions of superseded rows */
	int64_t keep_superseded; /* ms before a superseded row is deleted */
	int64_t keep_open;	 /* ms, the same for hours that are not over */
	int64_t reconcile_every; /* 0: never */
	int64_t values_max;	 /* for a dimension and hour */
};

struct aggregator_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka; /* only for the live stream */
	struct clickhouse_config clickhouse;
	struct links_config links; /* no spaces: only the archive is queried */
	struct domains_config domains;
	struct aggregator_settings aggregator;
};

extern const struct setting_group aggregator_groups[];
extern const size_t aggregator_group_count;

/* Reads the rate of keys whose line has none; count 0: no limit. */
int aggregator_key_rate(const struct aggregator_settings *own,
			struct rate_rule *ret, struct error *err);

/* Checks that need more than one setting. */
int aggregator_config_validate(const void *config, struct error *err);

#endif
