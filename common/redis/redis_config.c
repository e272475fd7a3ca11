#include "common/redis/redis_config.h"

#include <string.h>

#include "common/clock.h"
#include "common/redis/targets.h"
#include "common/redis/wire.h"

/* Each replica is compared with all before it. */
#define REPLICAS_MAX 1000

#define SETTING_STRUCT struct redis_config
static const struct setting settings[] = {
	SETTING_STRING(address, "127.0.0.1:6379", AT_START,
		       "Where Redis listens: host:port, [v6 address]:port or "
		       "unix:/path.  Of several, separated by commas, the one "
		       "that is the master is used.  Redis 7.0 or later."),
	SETTING_STRINGS(sentinels,
			OPTIONAL_LIKE("[10.0.0.1:26379, 10.0.0.2:26379]"),
			AT_START,
			"Where Redis Sentinels listen, which name the master; "
			"`address` is not used then."),
	SETTING_STRING(master_name, "mymaster", AT_START,
		       "The name that the sentinels have for it."),
	SETTING_STRINGS(replicas,
			OPTIONAL_LIKE("[10.0.0.1:6379, 10.0.0.2:6379]"),
			AT_START,
			"Where read replicas listen, in which redirectors look "
			"links up, each thread in one; what they do not have, "
			"or may have late, is looked up in the master.  Other "
			"programs do not use them."),
	SETTING_BOOL(sentinel_replicas, "false", AT_START,
		     "Whether the sentinels name the read replicas, too, in "
		     "place of `replicas`: those that are up at the time."),
	SETTING_STRING(sentinel_username, OPTIONAL, AT_START,
		       "The ACL user to authenticate to the sentinels as."),
	SETTING_SECRET(sentinel_password, OPTIONAL, AT_START,
		       "The password for the sentinels."),
	SETTING_STRING(username, OPTIONAL, AT_START,
		       "The ACL user to authenticate as."),
	SETTING_SECRET(password, OPTIONAL, AT_START,
		       "The password of that user, or of the server when there "
		       "is no username."),
	SETTING_INT(database, "0", 0, 1 << 20, AT_START,
		    "The number of the logical database."),
	SETTING_DURATION(connect_timeout, "2s", 10, 10 * CLOCK_MINUTE, AT_START,
			 "How long connecting and logging in may take."),
	SETTING_DURATION(command_timeout, "2s", 10, 10 * CLOCK_MINUTE, AT_START,
			 "How long an answer may take.  The connection is made "
			 "anew after one that took longer."),
	SETTING_INT(pending_max, "10000", 1, 10 * 1000 * 1000, AT_START,
		    "Commands that may await their answer on one event loop; "
		    "more are refused."),
	{0},
};

static int check_redis_config(const void *section, struct error *err)
{
	const struct redis_config *config = section;
	struct redis_targets targets;

	if (redis_targets_parse(config, &targets, err) < 0)
		return -1;
	redis_targets_free(&targets);
	return 0;
}

const struct setting_section redis_section = {
	.name = "redis",
	.help = "The Redis that holds links, markers, cursors and pools.",
	.settings = settings,
	.check = check_redis_config,
};

bool redis_has_replicas(const struct redis_config *config)
{
	return config->sentinel_replicas || config->replicas.count > 0;
}

static int check_discovery(const struct redis_config *config, struct error *err)
{
	if (!config->sentinel_replicas)
		return 0;
	if (config->sentinels.count == 0)
		return error_set(err, ERROR_CONFIG,
				 "redis.sentinel_replicas: there are no "
				 "redis.sentinels");
	if (config->replicas.count)
		return error_set(err, ERROR_CONFIG,
				 "redis.sentinel_replicas: redis.replicas are "
				 "named as well");
	return 0;
}

int redis_replicas_check(const struct redis_config *config, struct error *err)
{
	const struct setting_strings *replicas = &config->replicas;
	struct redis_address ignored;

	if (replicas->count > REPLICAS_MAX)
		return error_set(
			err, ERROR_CONFIG,
			"redis.replicas: there are %zu, at most %d are "
			"taken",
			replicas->count, REPLICAS_MAX);
	for (size_t i = 0; i < replicas->count; i++) {
		if (redis_address_parse(replicas->items[i], &ignored, err))
			return error_wrap(err, "redis.replicas");
		for (size_t j = 0; j < i; j++)
			if (!strcmp(replicas->items[i], replicas->items[j]))
				return error_set(err, ERROR_CONFIG,
						 "redis.replicas: %.200s is "
						 "there twice",
						 replicas->items[i]);
	}
	return check_discovery(config, err);
}

static int64_t at_most(int64_t ms, int64_t bound)
{
	return ms < bound ? ms : bound;
}

struct redis_config redis_config_within(const struct redis_config *config,
					int64_t ms)
{
	struct redis_config c = *config;

	c.connect_timeout = at_most(c.connect_timeout, ms);
	c.command_timeout = at_most(c.command_timeout, ms);
	return c;
}
