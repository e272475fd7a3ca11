/*
 * domains.h - the `domains` section: the host names of short links.
 *
 * A link stores a domain's logical name, never a host.  So if a host gets
 * blocked, another replaces it by an edit of this section, and no link changes.
 * The allocator makes short URLs from it; the redirector uses it to decide by
 * the Host header which links it may answer with.
 *
 * Without a configured domain, short URLs start with `domains.base_url`, and
 * the redirector answers under any Host.
 *
 * All threads may read the domains, even during a reload.
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
	const char *host;	  /* the first of its hosts */
	const char *base_url;	  /* "https://sho.rt", no slash at the end */
	const char *fallback_url; /* NULL: the domain has none */
	/* Paths of files; NULL: none. */
	const char *apple_app_site_association, *assetlinks, *robots_txt;
	const char *x_robots_tag; /* a header's value; NULL: none */
	/* The accounts whose keys may make links here
	 * (common/keys/key_access.h). */
	const struct setting_strings *accounts;
	bool is_default; /* also for links that name no domain */
	bool paused;	 /* its links answer as paused ones do */
	size_t index;	 /* in the order of the file, from 0 */
};

struct domains;

/*
 * Opens the domains in use.  `shared` is the text in Redis (shared_domains.h),
 * in the form of a domains.file.  If it is NULL or "", they come from
 * domains.file if one is configured, otherwise from `config` itself.  `config`
 * must be valid; it and `links` must outlive the result.  `links` NULL: the
 * names of spaces are not checked.  ERROR_CONFIG says what is wrong with
 * the text or the file.
 */
struct domains *domains_open(const struct domains_config *config,
			     const struct links_config *links,
			     const char *shared, struct error *err);
void domains_free(struct domains *d); /* NULL accepted */

/*
 * Reads the domains again; on failure the present ones stay.  Only one thread
 * at a time may call it, while others read.  Domains that were handed out
 * before are kept until domains_free, since links that are being made point to
 * them.  This costs some kilobytes for each reading that differs from all
 * before.
 */
int domains_reload(struct domains *d, const char *shared, struct error *err);

size_t domains_count(const struct domains *d);
/* Returns NULL behind the last. */
const struct link_domain *domains_at(const struct domains *d, size_t index);
/* Returns NULL if no domain is configured. */
const struct link_domain *domains_default(const struct domains *d);
/* Returns NULL if no domain has this name. */
const struct link_domain *domains_named(const struct domains *d,
					const char *name);

/* Finds the domain of a Host header, or of any host[:port].  Letter case, port
 * and a dot at the end do not matter.  Returns NULL if the host is in no
 * domain. */
const struct link_domain *domains_by_host(const struct domains *d,
					  const char *host, size_t len);

/* Returns whether links of this space may be made and answered under the
 * domain. */
bool domains_allow(const struct link_domain *domain, const char *space);

/*
 * Returns the start of the short URL of a link, without a slash at the end, for
 * the domain name that the link stores.  "" and names that are no longer
 * configured stand for the default domain.  Without domains it is
 * `domains.base_url`.
 */
const char *domains_base_url(const struct domains *d, const char *name);

#endif
