/* domains_in_use.h - the domains that all programs use, for commands. */
#ifndef ALLOCATOR_COMMANDS_DOMAINS_IN_USE_H
#define ALLOCATOR_COMMANDS_DOMAINS_IN_USE_H

#include "allocator/allocator_config.h"
#include "common/error.h"
#include "common/redis/redis.h"

/* Returns their text, for free(): `shared`, which is what Redis has, or else
 * that of the file, or else of the configuration. */
char *domains_in_use_text(const struct allocator_config *config,
			  const char *shared, struct error *err);

/* Returns ERROR_USAGE if `domain`, which is written as on a list of domains,
 * covers a host of our own short links: of a domain, or of
 * domains.base_url. */
int domains_in_use_refuse_own(const struct allocator_config *config,
			      struct redis *redis, const char *domain,
			      struct error *err);

#endif
