#include "allocator/link/link_urls_check.h"

#include <string.h>

#include "linkstore/url_blocks.h"

int link_urls_check(const Shortloop__Link *link, struct url_policy *policy,
		    struct error *err)
{
	const char *urls[LINK_URLS_MAX];
	size_t count = link_urls(link, urls);
	struct buf normalised = {0};
	struct error why;
	int status = 0;

	for (size_t i = 0; status == 0 && i < count; i++) {
		status = url_policy_check(policy, urls[i], strlen(urls[i]),
					  &normalised, &why);
		if (status < 0)
			error_set(err, ERROR_NOT_OWNER, "%.200s: %s", urls[i],
				  why.text);
	}
	buf_free(&normalised);
	return status;
}
