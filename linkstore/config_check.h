/* config_check.h - what one setting of the `links` section cannot tell */
#ifndef LINKSTORE_CONFIG_CHECK_H
#define LINKSTORE_CONFIG_CHECK_H

#include "linkstore/config.h"

enum link_strategy links_space_strategy(const struct links_space_config *space);

/* Of strategy hash: an enum url_code_method, or -1: what the record says. */
int links_space_hash_codes(const struct links_space_config *space);

/* Characters of its codes; 0 for aliases, which have any. */
unsigned links_space_length(const struct links_space_config *space);

/* Symbols its codes are made of. */
unsigned links_space_base(const struct links_space_config *space);

bool links_config_has_space(const struct links_config *config,
			    const char *name);

/* What one setting cannot tell: classes that parse, names, numbers and lengths
 * that are used once, keys that exist.  Fills err with ERROR_CONFIG. */
int links_config_validate(const struct links_config *config, struct error *err);

#endif
