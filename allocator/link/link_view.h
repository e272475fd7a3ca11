/* link_view.h - the JSON of a link in the API. */
#ifndef ALLOCATOR_LINK_LINK_VIEW_H
#define ALLOCATOR_LINK_LINK_VIEW_H

#include <stdint.h>

#include "allocator/link/link_fields.h"
#include "common/buf.h"
#include "schemas/link.pb-c.h"

struct link_view {
	const char *base_url; /* for the link's domain */
	const char *space;
	const char *code;
	const Shortloop__Link *link;
	int64_t expires; /* ms since 1970, or DURATION_NEVER */
};

/* Returns the start of the link's short URL. */
const char *link_view_base_url(const struct link_rules *rules,
			       const Shortloop__Link *link);

/* Returns when a link ends that has `left` ms from now on; DURATION_NEVER
 * stays. */
int64_t link_view_expires(int64_t left);

#define LINK_ETAG_MAX 32

/* Writes the ETag of the link's present version, with its quotes.  Returns
 * `tag`. */
const char *link_view_etag(const Shortloop__Link *link,
			   char tag[LINK_ETAG_MAX]);

/*
 * Appends {"code","short_url","link_id","url","ttl","space","generation",
 * "version","state","created_at","expires_at","owner","campaign","tags",
 * "targets","redirect_status","not_before","max_visits","pass_query",
 * "pass_path","domain","description","account","creator","editor",
 * "changed_at"}.  The id is a string, times are RFC 3339, a value that is not
 * set is null.
 */
void link_view_write(const struct link_view *view, struct buf *out);

#endif
