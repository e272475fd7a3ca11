/* link_view.h - a link as the API shows it. */
#ifndef ALLOCATOR_LINK_LINK_VIEW_H
#define ALLOCATOR_LINK_LINK_VIEW_H

#include <stdint.h>

#include "allocator/link/link_fields.h"
#include "common/buf.h"
#include "schemas/link.pb-c.h"

struct link_view {
	const char *base_url; /* of its domain */
	const char *space;
	const char *code;
	const Shortloop__Link *link;
	int64_t expires; /* ms since 1970, or DURATION_NEVER */
};

/* What the link's short URL starts with. */
const char *link_view_base_url(const struct link_rules *rules,
			       const Shortloop__Link *link);

/* When a link ends that has `left` ms, as of now; DURATION_NEVER stays. */
int64_t link_view_expires(int64_t left);

#define LINK_ETAG_MAX 32

/* The ETag of a link's present version, with its quotes.  Returns `tag`. */
const char *link_view_etag(const Shortloop__Link *link,
			   char tag[LINK_ETAG_MAX]);

/*
 * Appends {"code","short_url","link_id","url","ttl","space","generation",
 * "version","state","created_at","expires_at","owner","campaign","tags",
 * "targets","redirect_status","not_before","max_visits","pass_query",
 * "pass_path","domain","description","account","creator","editor",
 * "changed_at"}: the id is a string, times are RFC 3339, what is not set is
 * null.
 */
void link_view_write(const struct link_view *view, struct buf *out);

#endif
