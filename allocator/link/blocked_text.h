/* blocked_text.h - what is said of a link that may not be, since it was, or
 * what it leads to is, blocked. */
#ifndef ALLOCATOR_LINK_BLOCKED_TEXT_H
#define ALLOCATOR_LINK_BLOCKED_TEXT_H

#include "schemas/link.pb-c.h"

#define BLOCKED_TEXT_MAX 512

/* `url`: which of those of the link it is; NULL: the very link is there, and
 * blocked.  Returns `text`. */
const char *blocked_text(const Shortloop__Link *link, const char *url,
			 const char *account, char text[BLOCKED_TEXT_MAX]);

#endif
