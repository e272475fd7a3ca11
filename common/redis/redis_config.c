#include "common/redis/redis_config.h"

#include <stddef.h>

#define OFFSET(field) offsetof(struct redis_config, field)

static const struct setting settings[] = {
	{.key = "address",
	 .type = SETTING_STRING,
	 .offset = OFFSET(address),
	 .fallback = "127.0.0.1:6379",
	 .help = "Where Redis listens: host:port, [v6 address]:port or "
		 "unix:/path.  Of several, separated by commas, the one that "
		 "is the master is used.  Redis 7.0 or later."},
	{.key = "sentinels",
	 .type = SETTING_STRINGS,
	 .offset = OFFSET(sentinels),
	 .optional = true,
	 .example = "[10.0.0.1:26379, 10.0.0.2:26379]",
	 .help = "Where Redis Sentinels listen, which are asked for the "
		 "master; "
		 "`address` does not count then."},
	{.key = "master_name",
	 .type = SETTING_STRING,
	 .offset = OFFSET(master_name),
	 .fallback = "mymaster",
	 .help = "The name that the sentinels have for it."},
	{.key = "sentinel_username",
	 .type = SETTING_STRING,
	 .offset = OFFSET(sentinel_username),
	 .optional = true,
	 .help = "The ACL user to authenticate to the sentinels as."},
	{.key = "sentinel_password",
	 .type = SETTING_SECRET,
	 .offset = OFFSET(sentinel_password),
	 .optional = true,
	 .help = "The password for the sentinels."},
	{.key = "username",
	 .type = SETTING_STRING,
	 .offset = OFFSET(username),
	 .optional = true,
	 .help = "The ACL user to authenticate as."},
	{.key = "password",
	 .type = SETTING_SECRET,
	 .offset = OFFSET(password),
	 .optional = true,
	 .help = "The password of that user, or of the server when there is "
		 "no username."},
	{.key = "database",
	 .type = SETTING_INT,
	 .offset = OFFSET(database),
	 .fallback = "0",
	 .max = 1 << 20,
	 .help = "The number of the logical database."},
	{.key = "connect_timeout",
	 .type = SETTING_DURATION,
	 .offset = OFFSET(connect_timeout),
	 .fallback = "2s",
	 .min = 10,
	 .max = 600 * 1000,
	 .help = "How long connecting and logging in may take."},
	{.key = "command_timeout",
	 .type = SETTING_DURATION,
	 .offset = OFFSET(command_timeout),
	 .fallback = "2s",
	 .min = 10,
	 .max = 600 * 1000,
	 .help = "How long an answer may take.  The connection is made anew "
		 "after one that took longer."},
	{.key = "pending_max",
	 .type = SETTING_INT,
	 .offset = OFFSET(pending_max),
	 .fallback = "10000",
	 .min = 1,
	 .max = 10 * 1000 * 1000,
	 .help = "Commands that may await their answer on one event loop; "
		 "more are refused."},
	{0},
};

const struct setting_section redis_section = {
	.name = "redis",
	.help = "The Redis that holds links, markers, cursors and pools.",
	.settings = settings,
};
