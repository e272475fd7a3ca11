/* place_domains.h - domains of some accounts, to choose places of links among.
 */
#ifndef TESTS_UNIT_ALLOCATOR_PLACE_DOMAINS_H
#define TESTS_UNIT_ALLOCATOR_PLACE_DOMAINS_H

#include <stdio.h>

#include "linkstore/domains.h"

/* The first `count` of: main, promo for acme and shop, bank for no account,
 * common for all.  `chosen` is the default.  Returns NULL after a failure. */
static inline struct domains *
place_domains_open(const char *chosen, size_t count, struct error *err)
{
	static char main_name[] = "main", promo[] = "promo", bank[] = "bank",
		    common[] = "common",
		    hosts[4][16] = {"a.example", "b.example", "c.example",
				    "d.example"},
		    acme[] = "acme", shop[] = "shop", star[] = "*",
		    https[] = "https", default_name[16],
		    *of_promo[] = {acme, shop}, *of_all[] = {star},
		    *h[4] = {hosts[0], hosts[1], hosts[2], hosts[3]};
	static struct domain_config list[] = {
		{.name = main_name, .hosts = {&h[0], 1}, .scheme = https},
		{.name = promo,
		 .hosts = {&h[1], 1},
		 .scheme = https,
		 .accounts = {of_promo, 2}},
		{.name = bank, .hosts = {&h[2], 1}, .scheme = https},
		{.name = common,
		 .hosts = {&h[3], 1},
		 .scheme = https,
		 .accounts = {of_all, 1}},
	};
	static struct domains_config config = {.default_domain = default_name};

	config.list = (struct setting_list){list, count};
	snprintf(default_name, sizeof(default_name), "%s", chosen);
	return domains_open(&config, NULL, NULL, err);
}

#endif
