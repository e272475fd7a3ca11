#include "allocator/link/blocked_text.h"

#include <stdio.h>
#include <string.h>

const char *blocked_text(const Shortloop__Link *link, const char *url,
			 const char *account, char text[BLOCKED_TEXT_MAX])
{
	/* The start of a long URL identifies it well enough. */
	if (!url)
		snprintf(text, BLOCKED_TEXT_MAX,
			 "url: the link to it was blocked by a moderator, who "
			 "alone can let it go");
	else
		snprintf(text, BLOCKED_TEXT_MAX,
			 "%s: '%.200s' was blocked by a moderator for the "
			 "account '%s': it can make no links that lead there",
			 strcmp(link->url, url) != 0 ? "targets" : "url", url,
			 account);
	return text;
}
