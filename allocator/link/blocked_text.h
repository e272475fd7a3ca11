/* blocked_text.h - the refusal of a link because the link itself, or a URL that
 * it leads to, is blocked. */
#ifndef ALLOCATOR_LINK_BLOCKED_TEXT_H
#define ALLOCATOR_LINK_BLOCKED_TEXT_H

#include "schemas/link.pb-c.h"

#define BLOCKED_TEXT_MAX 512

/* `url`: the blocked one of the link's URLs; NULL: the link exists already and
 * is blocked.  Returns `text`. */
const char *blocked_text(const Shortloop__Link *link, const char *url,
			 const char *account, char text[BLOCKED_TEXT_MAX]);

#endif
