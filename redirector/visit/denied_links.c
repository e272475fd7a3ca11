#include "redirector/visit/denied_links.h"

#include <string.h>

#include "common/url_parts.h"
#include "linkstore/denied_hosts_follower.h"
#include "linkstore/url_blocks.h"

/* --- the hosts of a link -------------------------------------------------- */

static bool has_line(const struct buf *lines, size_t from,
		     const struct host *host)
{
	const char *at, *end;

	if (lines->len == from)
		return false;
	at = lines->data + from;
	end = lines->data + lines->len;
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if ((size_t)(line_end - at) == host->len &&
		    !memcmp(at, host->text, host->len))
			return true;
		at = line_end + 1;
	}
	return false;
}

/* Only web URLs have a host. */
void denied_links_put_hosts(struct buf *out, const Shortloop__Link *link)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls), from = out->len;
	struct url_parts parts;
	struct error ignored;

	for (size_t i = 0; i < count && !out->failed; i++) {
		if (url_parts_read(&parts, urls[i], strlen(urls[i]), &ignored) <
			    0 ||
		    !parts.is_web || has_line(out, from, &parts.host))
			continue;
		buf_append(out, parts.host.text, parts.host.len);
		buf_putc(out, '\n');
	}
}

/* --- evaluation ----------------------------------------------------------- */

static bool is_listed(const struct domain_list *list, const char *text,
		      size_t len)
{
	struct error ignored;
	struct host host;

	return host_parse(text, len, &host, &ignored) == 0 &&
	       domain_list_has(list, &host);
}

static bool leads_to_one(const struct domain_list *list,
			 struct http_slice hosts)
{
	const char *at = hosts.data, *end;

	if (hosts.len == 0)
		return false;
	end = at + hosts.len;
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (is_listed(list, at, (size_t)(line_end - at)))
			return true;
		at = line_end + 1;
	}
	return false;
}

void denied_links_evaluate(struct denied_links *d, struct cached_link *link)
{
	const struct denied_hosts *now = versions_use(&d->hosts);

	if (link->denials == now->revision)
		return;
	link->denials = now->revision;
	link->denied = leads_to_one(now->list, link->hosts);
}

void denied_links_leave(struct denied_links *d)
{
	versions_leave(&d->hosts);
}
