/* link_world.h - spaces, classes, a domain and a URL policy, to parse links
 * with. */
#ifndef TESTS_UNIT_ALLOCATOR_LINK_WORLD_H
#define TESTS_UNIT_ALLOCATOR_LINK_WORLD_H

#include <stdlib.h>

#include "allocator/link/link_defaults.h"

struct link_world {
	struct linkstore *store;
	struct domains *domains;
	struct url_policy *urls;
	struct link_defaults defaults;
};

/* Spaces s7, s8 and names (aliases), classes 10d and never, domain main. */
static inline int link_world_open(struct link_world *w, struct error *err)
{
	static char ten_days[] = "10d", never[] = "never",
		    *classes[] = {ten_days, never},
		    secret[] = "0123456789abcdef", s7[] = "s7", s8[] = "s8",
		    names[] = "names", sequence[] = "sequence",
		    alias[] = "alias", keep[] = "keep", domain[] = "main",
		    host[] = "sho.rt", *hosts[] = {host}, https[] = "https",
		    allow[] = "allow", myapp[] = "myapp", weixin[] = "weixin",
		    intent[] = "intent", *schemes[] = {myapp, weixin, intent};
	static struct links_key_config key = {.version = 0, .key = secret};
	static struct links_space_config spaces[] = {
		{.name = s7,
		 .number = 1,
		 .length = 7,
		 .strategy = sequence,
		 .look_alikes = keep,
		 .block_size = 1000,
		 .keys = {&key, 1}},
		{.name = s8,
		 .number = 2,
		 .length = 8,
		 .strategy = sequence,
		 .look_alikes = keep,
		 .block_size = 1000,
		 .keys = {&key, 1}},
		{.name = names,
		 .number = 3,
		 .strategy = alias,
		 .look_alikes = keep},
	};
	static const struct links_config links = {
		.ttl_classes = {classes, 2},
		.hold_max = 1000,
		.quarantine = 1000,
		.renew_every = 1000,
		.grant_blocks = 1,
		.spaces = {spaces, 3},
	};
	static struct domain_config domain_config = {
		.name = domain, .hosts = {hosts, 1}, .scheme = https};
	static const struct domains_config domains = {
		.list = {&domain_config, 1}};
	static const struct url_policy_config urls = {.ip_hosts = allow,
						      .schemes = {schemes, 3}};
	static const struct allocator_settings settings = {.node = 0};
	struct link_rules rules;

	w->store = linkstore_new(&links, err);
	if (!w->store)
		return -1;
	w->domains = domains_open(&domains, NULL, NULL, err);
	if (!w->domains)
		return -1;
	w->urls = url_policy_new(&urls, w->domains, NULL, err);
	if (!w->urls)
		return -1;
	rules = (struct link_rules){
		.store = w->store, .domains = w->domains, .urls = w->urls};
	return link_defaults_init(&w->defaults, &settings, &rules, err);
}

static inline void link_world_close(struct link_world *w)
{
	link_defaults_free(&w->defaults);
	url_policy_free(w->urls);
	domains_free(w->domains);
	linkstore_free(w->store);
}

/* Returns the world of a program that needs one until its end. */
static inline const struct link_world *link_world_lasting(void)
{
	static struct link_world world;
	struct error err = {0};

	if (!world.store && link_world_open(&world, &err) < 0)
		abort();
	return &world;
}

#endif
