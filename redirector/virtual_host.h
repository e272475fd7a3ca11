/*
 * virtual_host.h - the domain that a request's Host header leads to, and which
 * links are shown there.
 *
 * With no domain configured there is one virtual host for every Host; a link
 * that is bound to a domain is then shown where Host is that very name.  With
 * domains a link that is bound to none is the default domain's: it must not
 * come up under one that was added after it, which may be somebody else's.
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
#include "redirector/app_file.h"
#include "redirector/link_cache.h"
#include "redirector/redirector_config.h"

struct virtual_host {
	const char *name;   /* of the domain; NULL: none is configured */
	bool is_default;    /* it is the domain of links that name none */
	char *fallback_url; /* as a URI; NULL: there is none */
	char *robots_line;  /* "X-Robots-Tag: ...\r\n"; NULL: none */
	uint64_t spaces;    /* one bit a space, by its index */
	struct app_file *app_files[APP_FILE_KINDS]; /* NULL: none */
};

struct virtual_hosts;

/* All arguments must outlive the result. */
struct virtual_hosts *
virtual_hosts_new(const struct domains *domains, const struct linkstore *store,
		  const struct redirector_settings *settings,
		  struct error *err);
void virtual_hosts_free(struct virtual_hosts *hosts); /* NULL accepted */

/* What became of files that were read while others were in use. */
struct app_file_rejections {
	size_t count;
	struct error first; /* why; where there is one */
};

/*
 * Reads the files that the domains name.  With `before`, which may be NULL,
 * those in use so far: a file with a mistake is put into *ret_rejections, and
 * the domain has the one of `before`, if that had any.  Without: -1.
 */
int virtual_hosts_read_files(struct virtual_hosts *hosts,
			     const struct virtual_hosts *before,
			     struct app_file_rejections *ret_rejections,
			     struct error *err);

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
