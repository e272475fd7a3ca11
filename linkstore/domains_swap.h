/* domains_swap.h - replaces a host that was blocked by another. */
#ifndef LINKSTORE_DOMAINS_SWAP_H
#define LINKSTORE_DOMAINS_SWAP_H

#include <stdbool.h>

#include "common/error.h"
#include "linkstore/domains_config.h"

/*
 * Puts `fresh` in front of `old` among the hosts of old's domain, and replaces
 * `old` in base_url, so that short URLs use `fresh`; `old` still leads to
 * links.  *ret_changed: something changed.  `config` owns its texts; validate
 * it afterwards.  ERROR_INPUT: `old` is in no domain, or `fresh` is in another.
 */
int domains_swap_host(struct domains_config *config, const char *old,
		      const char *fresh, bool *ret_changed, struct error *err);

#endif
