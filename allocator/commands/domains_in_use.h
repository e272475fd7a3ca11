/* domains_in_use.h - the domains that all programs use, for commands. */
#ifndef ALLOCATOR_COMMANDS_DOMAINS_IN_USE_H
#define ALLOCATOR_COMMANDS_DOMAINS_IN_USE_H

#include "allocator/allocator_config.h"
#include "common/error.h"

/* Returns their text, for free(): `shared`, which is what Redis has, or else
 * that of the file, or else of the configuration. */
char *domains_in_use_text(const struct allocator_config *config,
			  const char *shared, struct error *err);

#endif
