/* link_patch.h - the request to edit a link, and the edited link. */
#ifndef ALLOCATOR_LINK_LINK_PATCH_H
#define ALLOCATOR_LINK_LINK_PATCH_H

#include "allocator/link/link_fields.h"

struct link_patch {
	json_t *root; /* the fields point into it */
	struct link_fields fields;
};

/*
 * Parses a JSON merge patch (RFC 7386) of url, targets, ttl, state, tags,
 * description, campaign, not_before, max_visits, redirect_status, pass_query
 * and pass_path; null resets a field.  `targets` and `tags` are replaced whole.
 * Returns ERROR_INPUT like link_fields_read, and if no field is given.  End
 * with link_patch_release, also after a failure.  Must not be copied.
 */
int link_patch_parse(struct link_patch *patch, const struct link_rules *rules,
		     struct http_slice text, struct error *err);
/* The same for an object that is parsed already, of which it takes a
 * reference. */
int link_patch_read(struct link_patch *patch, const struct link_rules *rules,
		    json_t *root, struct error *err);
void link_patch_release(struct link_patch *patch);

/* Fills in the edited link, except the values that the store decides (version,
 * class...).  The result points into both.  Returns ERROR_INPUT if the patch
 * and the link do not go together (path_pass.h). */
int link_patch_apply(const struct link_patch *patch,
		     const Shortloop__Link *link, Shortloop__Link *ret_link,
		     struct error *err);

#endif
