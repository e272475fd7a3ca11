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
	char *master_name;		  /* by which they know it */
	struct setting_strings replicas;  /* "host:port"; none: not asked */
	bool sentinel_replicas;	 /* those that the sentinels know, instead */
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

/* Are there to be replicas? */
bool redis_has_replicas(const struct redis_config *config);

/* Are redis.replicas addresses, each of them there once, or else known from
 * sentinels?  ERROR_CONFIG. */
int redis_replicas_check(const struct redis_config *config, struct error *err);

/* The same, with no step of it longer than `ms`: for a thread that is to end
 * within a while.  Its texts stay those of `config`. */
struct redis_config redis_config_within(const struct redis_config *config,
					int64_t ms);

#endif
