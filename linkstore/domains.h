/*
 * domains.h - the `domains` section: under which names short links are reached.
 *
 * A link stores a domain's logical name, never a host.  So a host that gets
 * blocked is swapped for another by editing this section: no link is touched.
 * The allocator makes short URLs from it, the redirector finds out by the Host
 * header which links it may answer with.
 *
 * With no domain configured there is one unnamed place: short URLs start with
 * `allocator.base_url`, and the redirector answers under any Host.
 *
 * Read by every thread, also while they are read again.
 */
#ifndef LINKSTORE_DOMAINS_H
#define LINKSTORE_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/config/setting.h"
#include "common/error.h"
#include "common/host.h"
#include "linkstore/domains_config.h"

struct link_domain {
	const char *name;
	const char *base_url;	  /* "https://sho.rt", without a slash behind */
	const char *fallback_url; /* NULL: none of its own */
	/* Paths of files; NULL: none. */
	const char *apple_app_site_association, *assetlinks, *robots_txt;
	const char *x_robots_tag; /* a header's value; NULL: none */
	/* Whose keys may make links here (common/keys/key_access.h). */
	const struct setting_strings *accounts;
	bool is_default; /* links that name no domain are of this one */
	size_t index;	 /* in the order of the file, from 0 */
};

struct domains;

/*
 * The domains as they are now: those of `shared`, a text as a domains.file has
 * it that Redis had (shared_domains.h); where it is NULL or "", those of
 * domains.file, where one is named, or of `config` itself.  `config` must be
 * valid, and both must outlive the result; `links` may be NULL where there is
 * no text nor file.  ERROR_CONFIG says what is wrong with those.
 */
struct domains *domains_open(const struct domains_config *config,
			     const struct links_config *links,
			     const char *shared, struct error *err);
void domains_free(struct domains *d); /* NULL accepted */

/*
 * The same again; on failure the present domains stay.  From one thread at a
 * time, while others read.  What was handed out before is kept until
 * domains_free, as links that are being made point to it: some kilobytes for
 * each reading that says something else than all before.
 */
int domains_reload(struct domains *d, const char *shared, struct error *err);

size_t domains_count(const struct domains *d);
/* NULL: past the last. */
const struct link_domain *domains_at(const struct domains *d, size_t index);
/* NULL when none is configured. */
const struct link_domain *domains_default(const struct domains *d);
/* NULL when there is none of that name. */
const struct link_domain *domains_named(const struct domains *d,
					const char *name);

/* By a Host header, or any host[:port]: letter case, port and a dot at the end
 * do not matter.  NULL when it is nobody's. */
const struct link_domain *domains_by_host(const struct domains *d,
					  const char *host, size_t len);

/* May links of the space of that name be made and answered under the domain? */
bool domains_allow(const struct link_domain *domain, const char *space);

/*
 * What the short URL of a link starts with, without a slash behind: by the name
 * that it stores.  "" and names that are no longer configured are the default
 * domain's; NULL when none is configured.
 */
const char *domains_base_url(const struct domains *d, const char *name);

#endif
