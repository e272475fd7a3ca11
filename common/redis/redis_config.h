/* redis_config.h - how to reach Redis: section `redis` of the configuration. */
#ifndef COMMON_REDIS_REDIS_CONFIG_H
#define COMMON_REDIS_REDIS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "common/config/setting.h"
#include "common/error.h"

struct redis_config {
	char *address; /* "host:port" or "unix:/path"; several: "a, b" */
	struct setting_strings sentinels; /* "host:port"; none: `address` */
	char *master_name;		 /* the sentinels' name of the master */
	struct setting_strings replicas; /* "host:port"; none: not used */
	bool sentinel_replicas;	 /* use the replicas that the sentinels know
				    instead */
	char *sentinel_username; /* NULL: none */
	char *sentinel_password; /* secret; NULL: none */
	char *username;		 /* NULL: none */
	char *password;		 /* secret; NULL: none */
	int64_t database;
	int64_t connect_timeout; /* ms */
	int64_t command_timeout; /* ms */
	int64_t pending_max;	 /* commands in flight, per event loop */
};
extern const struct setting_section redis_section; /* "redis" */

/* Returns true if replicas are configured. */
bool redis_has_replicas(const struct redis_config *config);

/* Checks that redis.replicas are distinct addresses, or that sentinels know the
 * replicas.  ERROR_CONFIG. */
int redis_replicas_check(const struct redis_config *config, struct error *err);

/* Returns a copy in which no timeout is longer than `ms`: for a thread that has
 * to end within a given time.  Its strings stay those of `config`. */
struct redis_config redis_config_within(const struct redis_config *config,
					int64_t ms);

#endif
