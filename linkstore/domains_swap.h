/* domains_swap.h - puts a host in the place of one that was blocked. */
#ifndef LINKSTORE_DOMAINS_SWAP_H
#define LINKSTORE_DOMAINS_SWAP_H

#include <stdbool.h>

#include "common/error.h"
#include "linkstore/domains_config.h"

/*
 * Puts `fresh` in front of `old` among the hosts of old's domain, and in its
 * place in base_url, so that short URLs are made with it; `old` goes on leading
 * to links.  *ret_changed: it was not so before.  `config` owns its texts, and
 * is to be validated afterwards.  ERROR_INPUT: `old` is no domain's, or `fresh`
 * another's.
 */
int domains_swap_host(struct domains_config *config, const char *old,
		      const char *fresh, bool *ret_changed, struct error *err);

#endif
