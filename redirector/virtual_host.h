/*
 * virtual_host.h - the domain that a request's Host header leads to, and which
 * links are shown there.
 *
 * With no domain configured there is one virtual host for every Host; a link
 * that is bound to a domain is then shown where Host is that very name.
 *
 * Made once, then read by every thread.
 */
#ifndef REDIRECTOR_VIRTUAL_HOST_H
#define REDIRECTOR_VIRTUAL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/domains.h"
#include "linkstore/linkstore.h"
#include "redirector/link_cache.h"
#include "redirector/redirector_config.h"

struct virtual_host {
	const char *name;	  /* of the domain; NULL: none is configured */
	const char *fallback_url; /* NULL: there is none */
	uint64_t spaces;	  /* one bit a space, by its index */
};

struct virtual_hosts;

/* All arguments must outlive the result. */
struct virtual_hosts *
virtual_hosts_new(const struct domains *domains, const struct linkstore *store,
		  const struct redirector_settings *settings,
		  struct error *err);
void virtual_hosts_free(struct virtual_hosts *hosts); /* NULL accepted */

/* Are there Host values that get no answer but 404? */
bool virtual_hosts_refuse_some(const struct virtual_hosts *hosts);
/* Is this one of them? */
bool virtual_hosts_refuse(const struct virtual_hosts *hosts,
			  struct http_slice host);

/* The virtual host of a Host header's value; the default domain's for a value
 * that is unknown or absent.  Never NULL. */
const struct virtual_host *virtual_hosts_find(const struct virtual_hosts *hosts,
					      struct http_slice host);

/* May that link be seen there?  `host` is what the virtual host was found by.
 */
bool virtual_host_shows(const struct virtual_host *virtual_host,
			struct http_slice host, const struct cached_link *link);

#endif
