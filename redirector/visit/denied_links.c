#include "redirector/visit/denied_links.h"

#include <string.h>

#include "linkstore/denied_hosts_follower.h"
#include "linkstore/visit/link_hosts.h"

void denied_links_put_hosts(struct buf *out, const Shortloop__Link *link)
{
	struct host hosts[LINK_URLS_MAX];
	size_t count = link_hosts(link, hosts);

	for (size_t i = 0; i < count; i++) {
		buf_append(out, hosts[i].text, hosts[i].len);
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
