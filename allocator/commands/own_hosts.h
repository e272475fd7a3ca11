/* own_hosts.h - whether a host to be denied is one of our own, for commands. */
#ifndef ALLOCATOR_COMMANDS_OWN_HOSTS_H
#define ALLOCATOR_COMMANDS_OWN_HOSTS_H

#include "allocator/allocator_config.h"
#include "common/error.h"
#include "common/redis/redis.h"

/* Returns ERROR_USAGE if short links have a host that the text, which is a
 * domain of a list, covers: a host of a domain, in Redis too if they are
 * shared, or that of allocator.base_url. */
int own_hosts_check(const struct allocator_config *config, struct redis *redis,
		    const char *domain, struct error *err);

#endif
