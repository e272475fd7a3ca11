/* allocator_config.h - every setting the allocator reads. */
#ifndef ALLOCATOR_ALLOCATOR_CONFIG_H
#define ALLOCATOR_ALLOCATOR_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/policy/url_policy.h"
#include "common/app/app.h"
#include "common/clickhouse/clickhouse.h"
#include "common/config/setting.h"
#include "common/http/http_server.h"
#include "common/kafka/kafka.h"
#include "common/keys/rate_limiter.h"
#include "common/redis/redis.h"
#include "linkstore/domains.h"
#include "linkstore/links_config.h"

/* The `allocator` section. */
struct allocator_settings {
	char *listen;
	char *admin;
	int64_t threads;
	struct setting_strings cors_origins;
	char *keys_file;
	char *key_rate; /* default rate: "100/s", or "none" */
	int64_t key_burst;
	int64_t redis_reserve; /* percent of Redis' maxmemory */
	char *audit_file;      /* NULL: no audit */
	int64_t audit_queue_bytes;
	char *high_water_file; /* NULL: kept in memory only */
	struct setting_strings url_schemes;
	bool url_credentials;
	char *url_ip_hosts;
	char *url_allow_file;
	char *url_deny_file;
	char *default_space;		     /* NULL: the first configured */
	char *default_ttl;		     /* NULL: required in requests */
	struct setting_strings class_spaces; /* "10d=s7" */
	int64_t node;	     /* node number of ids without a block */
	int64_t waiting_max; /* creates waiting for a block, per thread */
	int64_t batches_max; /* per thread */
	int64_t batches_per_account; /* per thread */
	int64_t batch_wait_max;	     /* ms, waiting for the key's rate */
	int64_t batch_time_max;	     /* ms, for a whole batch */
	int64_t batch_in_flight;     /* lines per batch */
	int64_t batch_bytes;	     /* for lines, and for answers */
	int64_t space_check_every;   /* ms */
	int64_t ledger_every;	     /* ms */
	int64_t delivery_timeout;    /* ms; 0: no timeout */
	int64_t drain_timeout;	     /* ms */
};

struct allocator_config {
	struct app_config app;
	struct http_config http;
	struct redis_config redis;
	struct kafka_config kafka;
	struct clickhouse_config clickhouse; /* the archive */
	struct links_config links;
	struct domains_config domains;
	struct allocator_settings allocator;
};

extern const struct setting_group allocator_groups[];
extern const size_t allocator_group_count;

/* The settings url_..., which say where links may lead.  The result borrows the
 * texts of `own`. */
struct url_policy_config
allocator_url_policy(const struct allocator_settings *own);

/* The rate of keys whose line has none.  Count 0: these keys have no limit. */
int key_rate_read(const struct allocator_settings *own, struct rate_rule *ret,
		  struct error *err);

/* For app_spec: runs the checks that need more than one setting. */
int allocator_config_validate(const void *config, struct error *err);

#endif
