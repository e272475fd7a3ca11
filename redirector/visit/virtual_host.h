/*
 * virtual_host.h - the domain that a request's Host header leads to, and which
 * links are shown there.
 *
 * Without configured domains, there is one virtual host for every Host; a link
 * that is bound to a domain is then shown only if Host is that name.  With
 * domains, a link that is bound to none belongs to the default domain: it must
 * not appear under a domain that was added later, which may be another
 * customer's.
 *
 * Made once, then read by every thread.
 */
#ifndef REDIRECTOR_VISIT_VIRTUAL_HOST_H
#define REDIRECTOR_VISIT_VIRTUAL_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "linkstore/domains.h"
#include "linkstore/linkstore.h"
#include "redirector/lookup/link_cache.h"
#include "redirector/pages/app_file.h"
#include "redirector/redirector_config.h"

struct virtual_host {
	const char *name;   /* domain; NULL: none is configured */
	bool is_default;    /* it has the links that name no domain */
	bool is_paused;	    /* its links answer as paused ones do */
	char *fallback_url; /* a URI; NULL: none */
	char *robots_line;  /* "X-Robots-Tag: ...\r\n"; NULL: none */
	uint64_t spaces;    /* one bit per space, by its index */
	struct app_file *app_files[APP_FILE_KINDS]; /* NULL: none */
};

struct virtual_hosts;

/* All arguments must outlive the result. */
struct virtual_hosts *
virtual_hosts_new(const struct domains *domains, const struct linkstore *store,
		  const struct redirector_settings *settings,
		  struct error *err);
void virtual_hosts_free(struct virtual_hosts *hosts); /* NULL accepted */

/* The files that could not be read while others were in use. */
struct app_file_rejections {
	size_t count;
	struct error first; /* why the first was rejected, if any was */
};

/*
 * Reads the files that the domains name.  `before` has the files in use so far,
 * or is NULL.  With it, a file with a mistake is counted in *ret_rejections,
 * and the domain keeps its file of `before`, if it has one.  Without it, such a
 * file makes the call return -1.
 */
int virtual_hosts_read_files(struct virtual_hosts *hosts,
			     const struct virtual_hosts *before,
			     struct app_file_rejections *ret_rejections,
			     struct error *err);

/* True if some Host values get no answer but 404. */
bool virtual_hosts_refuse_some(const struct virtual_hosts *hosts);
/* True if this is one of them. */
bool virtual_hosts_refuse(const struct virtual_hosts *hosts,
			  struct http_slice host);

/* Returns the virtual host for the value of a Host header; the default domain's
 * for a value that is unknown or absent.  Never NULL. */
const struct virtual_host *virtual_hosts_find(const struct virtual_hosts *hosts,
					      struct http_slice host);

/* True if that link may be shown there.  `host` is the value by which the
 * virtual host was found. */
bool virtual_host_shows(const struct virtual_host *virtual_host,
			struct http_slice host, const struct cached_link *link);

#endif
