/* config_check.h - checks of the `links` section that need more than one
 * setting */
#ifndef LINKSTORE_CONFIG_CHECK_H
#define LINKSTORE_CONFIG_CHECK_H

#include "linkstore/links_config.h"

enum link_strategy links_space_strategy(const struct links_space_config *space);

/* For strategy hash: returns an enum url_code_method, or -1: the record
 * decides. */
int links_space_hash_codes(const struct links_space_config *space);

/* Returns the length of the space's codes; 0 for aliases, which have any
 * length. */
unsigned links_space_length(const struct links_space_config *space);

/* Returns the number of symbols that codes may consist of. */
unsigned links_space_base(const struct links_space_config *space);

bool links_config_has_space(const struct links_config *config,
			    const char *name);

/* Runs the checks that need more than one setting: classes that parse,
 * names, numbers and lengths that are used once, keys that exist.  Sets
 * ERROR_CONFIG. */
int links_config_validate(const struct links_config *config, struct error *err);

#endif
